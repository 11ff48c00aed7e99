// Schema edit: the program that a statement which changes the schema leaves, made of the one before.
//
// Errors      throws Refusal, with PostgreSQL's SQLSTATEs.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "engine/schema/qualified_name.h"
#include "procedures/ir/source_error.h"
#include "procedures/session/catalog_change.h"
#include "procedures/session/program_edit.h"

namespace mneme {

namespace sqlstate_of_catalog {
inline constexpr const char* kDuplicateTable = "42P07";
inline constexpr const char* kDuplicateProcedure = "42723";
inline constexpr const char* kOtherParameters = "42P13";
inline constexpr const char* kNeededByOthers = "2BP01";
}  // namespace sqlstate_of_catalog

inline constexpr const char* kUndefinedSchema = "3F000";

struct Refusal {
  StatementResult failure;
};

template <typename... Args>
[[noreturn]] void refuse_change(const char* sqlstate, fmt::format_string<Args...> text, Args&&... args) {
  throw Refusal{StatementResult::failure(sqlstate, fmt::format(text, std::forward<Args>(args)...))};
}

// ALTER SEQUENCE of this name, with no options yet.
inline syntax::Sequence altered_sequence(const syntax::Name& name) {
  syntax::Sequence sequence;
  sequence.name = name;
  sequence.alters = true;
  return sequence;
}

class SchemaEdit : private ProgramEdit {
 public:
  SchemaEdit(const Program& program, const syntax::Command& command)
      : ProgramEdit(program), command_(command) {}

  // Returns nullptr where there is nothing to change.
  std::unique_ptr<Program> make();
  const std::string& notice() const { return notice_; }

 private:
  std::unique_ptr<Program> truncate();

  std::unique_ptr<Program> comment();
  // Refuses what is not there, or not of the kind that is written.
  Comment checked_comment(const syntax::Comment& written) const;
  void check_commented_relation(const syntax::Comment& written) const;
  // What was said of an object goes on being said of it under its new name, and is gone with it.
  static void rename_comments(const Program& before, const syntax::Alteration& alteration, Program& after);
  static void drop_lost_comments(Program& program);

  void notify(std::string line);

  std::unique_ptr<Program> alter_all();
  std::unique_ptr<Program> alter(const syntax::Definition& made);
  void check_kind(const std::string& name, const TableDefinition* table, const IndexDefinition* index) const;
  // Makes the action a part of the source.
  std::unique_ptr<Program> append(const syntax::Definition& made, const TableDefinition& table);
  std::unique_ptr<Program> run_text(const Program& program, const std::string& text);
  // Takes what the column is part of with it.
  std::unique_ptr<Program> add_identity(const syntax::Alteration& alteration, const TableDefinition& table);
  std::unique_ptr<Program> drop_column(const syntax::Definition& made, const TableDefinition& table);
  std::unique_ptr<Program> drop_constraint(const syntax::Definition& made, const TableDefinition& table);
  // `drop` takes the index out, once no foreign key refers to it. The table's own foreign keys keep an index.
  std::unique_ptr<Program> without_index(const IndexDefinition& index, bool cascades,
                                         FunctionRef<std::unique_ptr<Program>(const Program& present)> drop);
  // A foreign key that has found its rows by an index which is gone gets one of its own: it is added again.
  std::unique_ptr<Program> with_keys_indexed(std::unique_ptr<Program> program, const std::string& of) const;
  static Pieces::iterator find_foreign_key(Pieces& pieces, const TableDefinition& table,
                                           const std::string& name);
  std::string foreign_key_text(const std::string& of, const std::string& name) const;
  std::unique_ptr<Program> rename_foreign_key(const syntax::Alteration& alteration,
                                              const TableDefinition& table);
  std::unique_ptr<Program> rename_index(const IndexDefinition& index, const syntax::Alteration& alteration);
  // The index's definition under another name.
  static syntax::Definition renamed_index(const syntax::Definition& index, const std::string& name);
  std::unique_ptr<Program> alter_sequence(const syntax::Definition& made);
  std::unique_ptr<Program> create_sequence(const Program& present, syntax::Sequence sequence) const;
  std::unique_ptr<Program> drop_sequence(const std::string& name);
  std::unique_ptr<Program> create_view(const syntax::Definition& made);
  std::unique_ptr<Program> without_view(const std::string& name) const;
  std::unique_ptr<Program> drop_view(const std::string& name);
  std::unique_ptr<Program> with_views_as_they_were(std::unique_ptr<Program> next);

  std::unique_ptr<Program> create(const syntax::Definition& given);

  // Fails where the object's schema is none that something can be made in.
  void check_schema(std::string_view object) const;
  // Whether what the statement drops lies in a schema that there is not, and the statement lets it.
  bool lacks_schema(std::string_view object);
  std::unique_ptr<Program> with_sequences_moved(const TableDefinition& table, std::string_view schema);
  std::unique_ptr<Program> change_schema(const syntax::Definition& made);
  // With all that lies in it, where the statement says CASCADE.
  std::unique_ptr<Program> drop_schema(const std::string& name);
  std::unique_ptr<Program> without_schema(const std::string& name) const;

  std::unique_ptr<Program> change_enum(const syntax::Definition& made);
  // Fails if a procedure or a view names the type. `what` is what is done to it.
  void refuse_stored_arrays(const Type& type) const;
  void refuse_users(const std::string& type, std::string_view what) const;
  // The program without the columns of the type; nullptr: there are none.
  std::unique_ptr<Program> without_columns_of(const Type& type);
  std::unique_ptr<Program> drop_enum(const std::string& name);

  // A table with LIKE: the source has the columns and constraints in the places of the tables that it names.
  std::unique_ptr<Program> create_like(const syntax::Definition& given);

  // So that a table without a primary key can be read as a whole, an index lists its rows. A file's tables
  // have none that it doesn't ask for: what is only inserted into does without.
  std::unique_ptr<Program> create_table(const syntax::Definition& made);

  std::unique_ptr<Program> with_list_of_rows(const Program& made, const std::string& table) const;

  // An index keeps the name that it was given first, whatever others come and go.
  const syntax::Definition& named(const syntax::Definition& given);

  // The change adds a definition that leaves the meaning of all others as it is. Their number then costs
  // nothing.
  std::unique_ptr<Program> with_one_more(const syntax::Definition& made) const;

  static const std::string& text_of(const syntax::Definition& made);
  // Returns the table's definition with the names that its keys have got in `next`, where these are others
  // than they would get alone: they keep them, whatever other tables come and go.
  static std::string with_names_of_keys(const std::string& text, const Program& next);
  // Adds the table, in its pieces of the source.
  std::unique_ptr<Program> with_table(const Program& present, const syntax::Definition& made) const;

  void check_relation(const syntax::Definition& made) const;

  std::unique_ptr<Program> create_routine(const syntax::Definition& made);
  std::unique_ptr<Program> replace(const ir::Procedure& former, const syntax::Definition& made);
  std::unique_ptr<Program> rename_routine(const syntax::Alteration& alteration) const;
  std::unique_ptr<Program> drop_routine(const std::string& name) const;
  // The routine that the statement names, of the kind and with the parameters that it says.
  const ir::Procedure& named_routine(const std::string& name) const;
  std::string_view routine_word() const;
  // Whether the types behind the only name that DROP writes, if any, are those of the parameters.
  bool has_written_parameters(const ir::Procedure& procedure) const;

  // One after the other, each from the program that the one before has left; of tables, those first that no
  // other one refers to.
  std::unique_ptr<Program> drop_all();

  bool exists(const Program& program, const std::string& name) const;

  static std::string_view word_of(syntax::DefinitionKind kind);

  std::unique_ptr<Program> drop(const std::string& name);

  std::unique_ptr<Program> drop_table(const std::string& name);

  // The program without the foreign keys of other tables that refer to this one; nullptr: there are none.
  std::unique_ptr<Program> without_references(const TableDefinition& table);

  static bool refers_to(const TableDefinition& table, TableId other);

  // Takes the key's index with it, if it was made for the key.
  std::unique_ptr<Program> drop_foreign_key(const std::string& of, const std::string& name) const;

  // The sequences that the table's SERIAL columns draw from: they are the table's own.
  std::vector<std::string> sequences_of(const TableDefinition& table) const;

  std::unique_ptr<Program> drop_index(const std::string& name);

  std::unique_ptr<Program> changed(Catalog catalog, Pieces pieces, const std::vector<char>& binds,
                                   std::optional<ProcedureId> gone = {}) const;

  [[noreturn]] void refuse_uncompiled(const SourceError& error) const;

  // Callers, and what is written in a log before, know the procedure by them.
  void check_parameters(const Program& changed) const;

  const syntax::Command& command_;
  std::optional<syntax::Definition> named_;
  std::string notice_;
};

}  // namespace mneme
