// Program: what a .sql file means: a catalog and its procedures, bound and typed.
//
//     Result<std::unique_ptr<Program>> program = compile(text, "tpcc.sql");
//
// Errors      one sentence: file:line:column, the construct, and what is accepted instead. The first error
//             ends it.
// Threads     constant once made; any thread may read it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/shared_list.h"
#include "engine/schema/catalog.h"
#include "engine/schema/qualified_name.h"
#include "procedures/ir/ir.h"

namespace mneme {

namespace syntax {
enum class CommentOf : uint8_t;
struct Definition;
struct Procedure;
}  // namespace syntax

// A procedure with what only its program needs to know of it.
struct BoundProcedure {
  ir::Procedure procedure;
  // what text constants point into
  std::shared_ptr<std::deque<std::string>> strings = std::make_shared<std::deque<std::string>>();
  std::vector<IndexId> ordered;  // the indexes that it reads in order
  std::string meaning;           // the procedure, printed
  // Keeps the procedure as it was written, which routines that call it bind anew.
  std::shared_ptr<const syntax::Procedure> definition;
  std::vector<std::string> called;  // the routines whose bodies it has in the places of its calls, by name
};

// A program's procedures, by id. Programs that follow from each other share them.
class Procedures {
 public:
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = ir::Procedure;
    using difference_type = std::ptrdiff_t;
    using pointer = const ir::Procedure*;
    using reference = const ir::Procedure&;

    Iterator() = default;
    explicit Iterator(SharedList<BoundProcedure>::Iterator at) : at_(at) {}
    reference operator*() const { return at_->procedure; }
    pointer operator->() const { return &at_->procedure; }
    reference operator[](difference_type n) const { return at_[n].procedure; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this + -1); }
    Iterator& operator+=(difference_type n) {
      at_ += n;
      return *this;
    }
    Iterator& operator-=(difference_type n) { return *this += -n; }
    friend Iterator operator+(Iterator a, difference_type n) { return a += n; }
    friend Iterator operator+(difference_type n, Iterator a) { return a += n; }
    friend Iterator operator-(Iterator a, difference_type n) { return a -= n; }
    friend difference_type operator-(Iterator a, Iterator b) { return a.at_ - b.at_; }
    friend auto operator<=>(Iterator a, Iterator b) = default;

   private:
    SharedList<BoundProcedure>::Iterator at_;
  };

  size_t size() const { return bound_.size(); }
  bool empty() const { return bound_.empty(); }
  const ir::Procedure& operator[](size_t id) const { return bound_[id].procedure; }
  const BoundProcedure& bound(size_t id) const { return bound_[id]; }
  const std::shared_ptr<const BoundProcedure>& shared(size_t id) const { return bound_.shared(id); }
  Iterator begin() const { return Iterator(bound_.begin()); }
  Iterator end() const { return Iterator(bound_.end()); }
  void push_back(std::shared_ptr<const BoundProcedure> procedure) { bound_.push_back(std::move(procedure)); }

 private:
  SharedList<BoundProcedure> bound_;
};

// A part of a program's source.
struct SourcePiece {
  enum class Kind { kFile, kTable, kIndex, kAlteration, kView, kProcedure, kType, kSchema };

  Kind kind = Kind::kFile;
  // kTable, kType, kSchema: the name that the table or type has now, whatever its definition says. kFile: as
  // a user wrote it, with definitions of any kind.
  std::string name;
  std::string table;  // kIndex, kAlteration: whose, by its present name
  std::string text;
  size_t lines = 0;  // ends of lines
};

// SQL text in pieces, which the programs that follow from each other share.
class SourceText {
 public:
  void add_file(std::string text);
  void add(const syntax::Definition& definition);
  void add(std::shared_ptr<const SourcePiece> piece);
  std::string text() const;
  size_t lines() const { return lines_; }
  const SharedList<SourcePiece>& pieces() const { return pieces_; }
  // Each definition is a piece of its own: another one may be added, or one be taken out.
  bool is_in_definitions() const;

 private:
  // A table has another name from here on; "": it is gone.
  void rename(const std::string& former, const std::string& name);
  void move_indexes(const std::string& table);

  SharedList<SourcePiece> pieces_;
  size_t lines_ = 0;
};

// A query that a session's FROM may name.
struct View {
  std::string name;
  std::vector<std::string> columns;
  std::string text;  // the query, as written

  bool operator==(const View&) const = default;
};

// What COMMENT ON has said of an object. `of` is the kind that the object has.
struct Comment {
  syntax::CommentOf of{};
  std::string object;  // of a column or a constraint: its table
  std::string part;    // the column or the constraint
  std::string text;

  bool is_of_same(const Comment& other) const {
    return of == other.of && object == other.object && part == other.part;
  }
};

struct Program {
  Catalog catalog;
  Procedures procedures;
  SharedList<View> views;
  std::vector<std::string> schemas;  // but public, in the order in which they were made
  SharedList<Comment> comments;      // one of an object at most
  SourceText source;                 // without the comments, unless it is a file's

  // The whole source, as kept in the data directory.
  std::string text() const;
  // Whether there is what the comment is of.
  bool has_commented(const Comment& comment) const;
  // An empty text takes the object's comment away.
  void set_comment(const Comment& comment);

  const ir::Procedure* find_procedure(std::string_view name) const;
  const syntax::Procedure* find_routine(std::string_view name) const;
  const View* find_view(std::string_view name) const;
  bool has_schema(std::string_view name) const { return std::ranges::find(schemas, name) != schemas.end(); }
  const ir::Procedure& procedure(ProcedureId id) const { return procedures[id.value]; }
  // Returns the hash that each file of a log carries: it covers all that replay depends on. Walks the whole
  // program.
  uint64_t hash() const;
};

Result<std::unique_ptr<Program>> compile(std::string_view source, std::string_view file_name);

// The same, but throws the SourceError.
std::unique_ptr<Program> compile_source(std::string_view source);

// Finds a routine by its name; nullptr where there is none.
using FindRoutine = std::function<const syntax::Procedure*(const std::string&)>;

// Binds a procedure by itself, in a catalog, among these routines. `lines_before`: of the source before its
// definition. Throws the SourceError, with lines that count from the definition's first.
std::shared_ptr<BoundProcedure> bind_one(const Catalog& catalog, std::string_view definition,
                                         size_t lines_before, ProcedureId id, const FindRoutine& find);

// The program that has one more definition, which is the last of its kind, and in whose light no other
// definition changes its meaning: a table; a procedure; an index of a table that no procedure uses. It takes
// the time for that definition, and not for all of them. `program` is in definitions. Throws the SourceError,
// with lines that count from the definition's first.
std::unique_ptr<Program> with_definition(const Program& program, std::string_view definition);

}  // namespace mneme
