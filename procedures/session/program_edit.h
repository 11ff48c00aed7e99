// ProgramEdit: a program whose source is in pieces, one a definition, and the programs that follow from it
// when pieces come or go. catalog_change.cc decides what a statement changes, and what it refuses.
//
// Invariants  tables, indexes and alterations come before procedures. A foreign key is an alteration of its
//             own, so that it may go with the table that it refers to.
// Cost        a program that was read from a file is compiled once more, to be in pieces. changed() binds the
//             procedures that it is told to; it shares the others, or copies them where numbers or lines
//             change.
// Errors      changed() throws the SourceError of a procedure that can't be bound anew.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "procedures/binder/program.h"

namespace mneme {

class ProgramEdit {
 protected:
  using Kind = SourcePiece::Kind;
  using Pieces = std::vector<std::shared_ptr<const SourcePiece>>;

  explicit ProgramEdit(const Program& program);

  // Returns, by procedure, whether it uses the table.
  std::vector<char> users_of(TableId table) const;
  // Returns, by procedure, whether it has the body of this one in the place of a call.
  std::vector<char> callers_of(const std::string& name) const;
  // Adds the users of a table to those of others.
  void add_users(TableId table, std::vector<char>& users) const;

  // Adds the procedures whose text has the word in it, as one that declares a variable of a column's type.
  void add_mentions(const std::string& word, std::vector<char>& users) const;
  // Returns whether the text has the word in it, in small or capital letters.
  static bool mentions(std::string_view text, std::string_view word);

  static Pieces pieces_of(const SourceText& source);
  static Pieces::iterator find(Pieces& pieces, Kind kind, const std::string& name);

  // Returns the program of these pieces and this catalog, without the procedure that is gone. `binds`: by
  // procedure, whether it is to be bound anew; all others mean what they did.
  std::unique_ptr<Program> changed(Catalog catalog, Pieces pieces, const std::vector<char>& binds,
                                   std::optional<ProcedureId> gone) const;

 private:
  std::vector<size_t> lines_before_procedures() const;
  // The piece of the source that defines the procedure.
  size_t piece_of(size_t procedure) const;

  const std::unique_ptr<Program> rewritten_;

 protected:
  const Program& program_;
};

}  // namespace mneme
