#include "procedures/session/catalog_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "procedures/binder/conversion.h"
#include "procedures/binder/schema_binder.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/session/program_edit.h"

namespace mneme {

namespace {

using syntax::Definition;
using syntax::DefinitionKind;

namespace sqlstate_of_catalog {
constexpr const char* kDuplicateTable = "42P07";
constexpr const char* kDuplicateProcedure = "42723";
constexpr const char* kOtherParameters = "42P13";
constexpr const char* kNeededByOthers = "2BP01";
}  // namespace sqlstate_of_catalog

DefinitionKind kind_of(const Definition& definition) {
  if (definition.table) return DefinitionKind::kTable;
  return definition.index ? DefinitionKind::kIndex : DefinitionKind::kProcedure;
}

struct Refusal {
  StatementResult failure;
};

template <typename... Args>
[[noreturn]] void refuse_change(const char* sqlstate, fmt::format_string<Args...> text, Args&&... args) {
  throw Refusal{StatementResult::failure(sqlstate, fmt::format(text, std::forward<Args>(args)...))};
}

const IndexDefinition* find_index(const Catalog& catalog, std::string_view name) {
  const auto found = std::ranges::find(catalog.indexes(), name, &IndexDefinition::name);
  return found == catalog.indexes().end() ? nullptr : &*found;
}

class Change : private ProgramEdit {
 public:
  Change(const Program& program, const syntax::Command& command) : ProgramEdit(program), command_(command) {}

  // Returns nullptr where there is nothing to change.
  std::unique_ptr<Program> make() {
    if (command_.kind == syntax::Command::Kind::kCreate) return create(*command_.definition);
    if (command_.kind == syntax::Command::Kind::kDrop) return drop_all();
    if (command_.kind == syntax::Command::Kind::kAlter) return alter(*command_.definition);
    return truncate();
  }
  const std::string& notice() const { return notice_; }

 private:
  std::unique_ptr<Program> truncate() {
    const Catalog& catalog = program_.catalog;
    std::vector<TableId> emptied;
    for (const syntax::Name& name : command_.names) {
      const TableDefinition* table = catalog.find_table(name.text);
      if (table == nullptr)
        refuse_change(sqlstate::kUndefinedTable, "relation \"{}\" does not exist", name.text);
      if (std::ranges::find(emptied, table->id) == emptied.end()) emptied.push_back(table->id);
    }
    for (size_t i = 0; i < emptied.size(); ++i) {  // grows
      for (const TableDefinition& other : catalog.tables()) {
        const bool refers = std::ranges::find(other.foreign_keys, emptied[i], &ForeignKey::referenced) !=
                            other.foreign_keys.end();
        if (!refers || std::ranges::find(emptied, other.id) != emptied.end()) continue;
        if (!command_.cascades) {
          refuse_change(sqlstate::kNotSupported,
                        "cannot truncate a table referenced in a foreign key constraint: table \"{}\" "
                        "references \"{}\"; truncate both at the same time, or use TRUNCATE ... CASCADE",
                        other.name, catalog.table(emptied[i]).name);
        }
        notify(fmt::format("truncate cascades to table \"{}\"", other.name));
        emptied.push_back(other.id);
      }
    }
    auto program = std::make_unique<Program>(program_);
    for (const TableId table : emptied) program->catalog.empty(table);
    return program;
  }

  void notify(std::string line) {
    if (!notice_.empty()) notice_ += "\n";
    notice_ += line;
  }

  std::unique_ptr<Program> alter(const Definition& made) {
    const TableDefinition* table = program_.catalog.find_table(made.alteration->table.text);
    if (table == nullptr && made.alteration->if_exists) {
      notice_ = fmt::format("relation \"{}\" does not exist, skipping", made.alteration->table.text);
      return nullptr;
    }
    if (table == nullptr) {
      refuse_change(sqlstate::kUndefinedTable, "relation \"{}\" does not exist", made.alteration->table.text);
    }
    if (const auto& added = made.alteration->added;
        added && added->if_not_exists && table->find_column(added->columns[0].name.text)) {
      notice_ = fmt::format("column \"{}\" of relation \"{}\" already exists, skipping",
                            added->columns[0].name.text, table->name);
      return nullptr;
    }
    if (made.alteration->if_column_exists && !table->find_column(made.alteration->dropped.text)) {
      notice_ = fmt::format("column \"{}\" of relation \"{}\" does not exist, skipping",
                            made.alteration->dropped.text, table->name);
      return nullptr;
    }
    std::vector<char> users = users_of(table->id);
    if (made.alteration->foreign_key) {
      // What changes rows that are referred to looks at those that refer to them from here on.
      const std::string& referenced = made.alteration->foreign_key->table.text;
      if (const TableDefinition* other = program_.catalog.find_table(referenced)) add_users(other->id, users);
    }
    Catalog catalog = program_.catalog;
    try {
      bind_alteration(*parse(made.text).front().alteration, catalog);
    } catch (const SourceError& error) {
      refuse_uncompiled(error);
    }
    SourceText source = program_.source;
    source.add(made);
    Pieces pieces = pieces_of(source);
    if (made.alteration->primary_key) {
      // It lists the rows from here on.
      const std::vector<IndexId> indexes = catalog.table(table->id).indexes;
      const auto list =
          std::ranges::find_if(indexes, [&](IndexId index) { return catalog.index(index).columns.empty(); });
      if (list != indexes.end()) {
        pieces.erase(find(pieces, Kind::kIndex, catalog.index(*list).name));
        catalog = catalog.without(*list);
      }
    }
    return changed(std::move(catalog), std::move(pieces), users);
  }

  std::unique_ptr<Program> create(const Definition& given) {
    if (given.if_not_exists() && is_relation(given.name().text)) {
      notice_ = fmt::format("relation \"{}\" already exists, skipping", given.name().text);
      return nullptr;
    }
    const Definition& made = given.index && given.index->name.empty() ? named(given) : given;
    if (made.procedure) {
      const ir::Procedure* former = program_.find_procedure(made.procedure->name.text);
      std::unique_ptr<Program> program = former == nullptr ? with_one_more(made) : replace(*former, made);
      const ir::Procedure& present = *program->find_procedure(made.procedure->name.text);
      if (present.is_logged_by_rows() && present.by_chance.find("EXCEPTION") != std::string::npos) {
        notify(fmt::format("calls of {} are logged by the rows that they change: {}", present.name,
                           present.by_chance));
      }
      return program;
    }
    check_relation(made);
    if (made.table) return create_table(made);
    // A procedure may reach its rows by the index.
    const std::vector<char> users = users_of(program_.catalog.find_table(made.index->table.text)->id);
    if (std::ranges::find(users, 1) == users.end()) return with_one_more(made);
    Catalog catalog = program_.catalog;
    try {
      bind_index(*parse(made.text).front().index, catalog);
    } catch (const SourceError& error) {
      refuse_uncompiled(error);
    }
    SourceText source = program_.source;
    source.add(made);
    return changed(std::move(catalog), pieces_of(source), users);
  }

  // So that a table without a primary key can be read as a whole, an index lists its rows. A file's tables
  // have none that it doesn't ask for: what is only inserted into does without.
  std::unique_ptr<Program> create_table(const Definition& made) {
    const syntax::Table& table = *made.table;
    std::unique_ptr<Program> program;
    for (const syntax::ColumnDefinition& column : table.columns) {
      if (!column.is_serial) continue;
      const std::string sequence = syntax::sequence_name(table.name.text, column.name.text);
      if (program_.catalog.find_table(sequence) != nullptr)
        refuse_change(sqlstate_of_catalog::kDuplicateTable, "relation \"{}\" already exists", sequence);
      program = with_definition(
          program ? *program : program_,
          fmt::format(
              "CREATE TABLE {} (last_value BIGINT NOT NULL, log_cnt BIGINT NOT NULL, is_called BOOLEAN "
              "NOT NULL, PRIMARY KEY (log_cnt))",
              sequence));
    }
    if (program) {
      try {
        program = with_definition(*program, text_of(made));
      } catch (const SourceError& error) {
        refuse_uncompiled(error);
      }
    } else {
      program = with_one_more(made);
    }
    if (!table.primary_key) program = with_list_of_rows(*program, table);
    for (const std::string& key : made.foreign_keys)
      program = Change(*program, command_).alter(parse(key).front());
    return program;
  }

  std::unique_ptr<Program> with_list_of_rows(const Program& made, const syntax::Table& table) const {
    const std::string list = table.name.text + "_rows";
    if (made.catalog.find_table(list) != nullptr || find_index(made.catalog, list) != nullptr)
      refuse_change(sqlstate_of_catalog::kDuplicateTable, "relation \"{}\" already exists", list);
    return with_definition(made, fmt::format("CREATE INDEX {} ON {} ()", list, table.name.text));
  }

  // An index keeps the name that it was given first, whatever others come and go.
  const Definition& named(const Definition& given) {
    const syntax::Index& index = *given.index;
    const Catalog& catalog = program_.catalog;
    std::string text = fmt::format("CREATE {}INDEX {} ON {} (", index.unique ? "UNIQUE " : "",
                                   index_name(index, catalog), index.table.text);
    for (const syntax::Name& column : index.columns)
      text += (column.text == index.columns.front().text ? "" : ", ") + column.text;
    named_ = std::move(parse(text + ")").front());
    return *named_;
  }

  bool is_relation(const std::string& name) const {
    return program_.catalog.find_table(name) != nullptr || find_index(program_.catalog, name) != nullptr;
  }

  // The change adds a definition that leaves the meaning of all others as it is. Their number then costs
  // nothing.
  std::unique_ptr<Program> with_one_more(const Definition& made) const {
    try {
      return with_definition(program_, text_of(made));
    } catch (const SourceError& error) {
      refuse_uncompiled(error);
    }
  }

  static const std::string& text_of(const Definition& made) {
    return made.foreign_keys.empty() ? made.text : made.text_without_foreign_keys;
  }

  void check_relation(const Definition& made) const {
    const std::string& name = made.name().text;
    if (is_relation(name)) {
      refuse_change(sqlstate_of_catalog::kDuplicateTable, "relation \"{}\" already exists", name);
    }
    if (made.index && program_.catalog.find_table(made.index->table.text) == nullptr) {
      refuse_change(sqlstate::kUndefinedTable, "relation \"{}\" does not exist", made.index->table.text);
    }
  }

  std::unique_ptr<Program> replace(const ir::Procedure& former, const Definition& made) {
    if (!made.procedure->replaces) {
      refuse_change(sqlstate_of_catalog::kDuplicateProcedure, "{} \"{}\" already exists",
                    former.is_function ? "function" : "procedure", former.name);
    }
    if (former.is_function != made.procedure->is_function) {
      refuse_change(sqlstate::kWrongObject, "cannot change routine kind: \"{}\" is a {}", former.name,
                    former.is_function ? "function" : "procedure");
    }
    SourceText one;
    one.add(made);
    Pieces pieces = pieces_of(program_.source);
    *find(pieces, Kind::kProcedure, former.name) = one.pieces().shared(0);
    std::vector<char> binds = callers_of(former.name);
    binds[former.id.value] = 1;
    std::unique_ptr<Program> program = changed(program_.catalog, std::move(pieces), binds);
    check_parameters(*program);
    return program;
  }

  // One after the other, each from the program that the one before has left; of tables, those first that no
  // other one refers to.
  std::unique_ptr<Program> drop_all() {
    std::unique_ptr<Program> program;
    std::vector<std::string> names;
    for (const syntax::Name& name : command_.names) names.push_back(name.text);
    while (!names.empty()) {
      const Program& present = program ? *program : program_;
      const auto next = std::ranges::find_if(names, [&](const std::string& name) {
        const TableDefinition* table = present.catalog.find_table(name);
        return command_.dropped != DefinitionKind::kTable || table == nullptr ||
               std::ranges::none_of(names, [&](const std::string& other) {
                 const TableDefinition* user = present.catalog.find_table(other);
                 return user != nullptr && user != table && refers_to(*user, table->id);
               });
      });
      const std::string name = next == names.end() ? names.front() : *next;
      names.erase(next == names.end() ? names.begin() : next);
      if (command_.if_exists && !exists(present, name)) {
        notify(command_.dropped == DefinitionKind::kProcedure
                   ? fmt::format("{} {}() does not exist, skipping", routine_word(), name)
                   : fmt::format("{} \"{}\" does not exist, skipping", word_of(command_.dropped), name));
        continue;
      }
      if (command_.names.size() == 1) return drop(name);
      syntax::Command one;
      one.kind = syntax::Command::Kind::kDrop;
      one.dropped = command_.dropped;
      one.cascades = command_.cascades;
      one.names = {{name, {}}};
      one.routine = command_.routine;
      const auto written = std::ranges::find(command_.names, name, &syntax::Name::text);
      one.parameter_types = {command_.parameter_types[static_cast<size_t>(written - command_.names.begin())]};
      Change change(present, one);
      program = change.drop(name);
      if (!change.notice().empty()) notify(change.notice());
    }
    return program;
  }

  bool exists(const Program& program, const std::string& name) const {
    switch (command_.dropped) {
      case DefinitionKind::kTable:
        return program.catalog.find_table(name) != nullptr;
      case DefinitionKind::kIndex:
        return find_index(program.catalog, name) != nullptr;
      case DefinitionKind::kProcedure:
        break;
    }
    return program.find_procedure(name) != nullptr;
  }

  static std::string_view word_of(DefinitionKind kind) {
    return kind == DefinitionKind::kTable ? "table" : kind == DefinitionKind::kIndex ? "index" : "procedure";
  }

  std::unique_ptr<Program> drop(const std::string& name) {
    switch (command_.dropped) {
      case DefinitionKind::kTable:
        return drop_table(name);
      case DefinitionKind::kIndex:
        return drop_index(name);
      case DefinitionKind::kProcedure:
        break;
    }
    const ir::Procedure* procedure = program_.find_procedure(name);
    if (procedure == nullptr) {
      refuse_change(sqlstate::kUndefinedFunction, "could not find a {} named \"{}\"", routine_word(), name);
    }
    if (command_.routine != syntax::RoutineKind::kAny &&
        procedure->is_function != (command_.routine == syntax::RoutineKind::kFunction)) {
      const bool names_types = !command_.parameter_types.empty() && command_.parameter_types[0];
      refuse_change(names_types ? sqlstate::kWrongObject : sqlstate::kUndefinedFunction, "{} is not a {}",
                    name, routine_word());
    }
    if (!has_written_parameters(*procedure)) {
      refuse_change(sqlstate::kUndefinedFunction, "{} {} with these parameters does not exist",
                    routine_word(), name);
    }
    const std::vector<char> callers = callers_of(name);
    if (const auto caller = std::ranges::find(callers, 1); caller != callers.end()) {
      refuse_change(sqlstate::kNotSupported,
                    "cannot drop {} {}, as {} calls it, and has its statements: drop or replace that first",
                    routine_word(), name,
                    program_.procedures[static_cast<size_t>(caller - callers.begin())].name);
    }
    Pieces pieces = pieces_of(program_.source);
    pieces.erase(find(pieces, Kind::kProcedure, name));
    return changed(program_.catalog, std::move(pieces), std::vector<char>(program_.procedures.size()),
                   procedure->id);
  }

  std::string_view routine_word() const {
    switch (command_.routine) {
      case syntax::RoutineKind::kFunction:
        return "function";
      case syntax::RoutineKind::kProcedure:
        return "procedure";
      case syntax::RoutineKind::kAny:
        break;
    }
    return "routine";
  }

  // Whether the types behind the only name that DROP writes, if any, are those of the parameters.
  bool has_written_parameters(const ir::Procedure& procedure) const {
    if (command_.parameter_types.empty() || !command_.parameter_types[0]) return true;
    const std::vector<syntax::TypeName>& written = *command_.parameter_types[0];
    std::vector<Type> taken;
    std::vector<Type> all;
    for (const ir::Parameter& parameter : procedure.parameters) {
      const bool is_result = procedure.has_result && &parameter == &procedure.parameters.back();
      const Type& type = procedure.variables[parameter.variable.value].type;
      if (!parameter.out) taken.push_back(type);
      if (!is_result) all.push_back(type);
    }
    const auto same = [](const syntax::TypeName& name, const Type& type) {
      syntax::TypeName plain = name;
      if (plain.base == "numeric" || plain.base == "decimal") plain.modifiers = {1};
      const Type other = read_plain_type(plain);
      return other.kind == type.kind && other.is_array == type.is_array && other.is_text == type.is_text;
    };
    try {
      return std::ranges::equal(written, taken, same) || std::ranges::equal(written, all, same);
    } catch (const SourceError& error) {
      throw Refusal{failure_of(error)};
    }
  }

  std::unique_ptr<Program> drop_table(const std::string& name) {
    const TableDefinition* table = program_.catalog.find_table(name);
    if (table == nullptr) {
      refuse_change(sqlstate::kUndefinedTable, "table \"{}\" does not exist", name);
    }
    for (const TableDefinition& owner : program_.catalog.tables()) {
      const auto sequences = sequences_of(owner);
      if (std::ranges::find(sequences, name) == sequences.end()) continue;
      refuse_change(sqlstate_of_catalog::kNeededByOthers,
                    "cannot drop sequence {} because other objects depend on it: table {} draws from it",
                    name, owner.name);
    }
    if (const auto without = without_references(*table)) {
      Change rest(*without, command_);
      std::unique_ptr<Program> program = rest.drop_table(name);
      if (!rest.notice().empty()) notify(rest.notice());
      return program;
    }
    // A procedure that only looks at the table for its foreign keys does without it.
    const std::vector<char> users = users_of(table->id);
    if (const auto user = std::ranges::find(users, 1); user != users.end() && table->foreign_keys.empty()) {
      refuse_change(sqlstate_of_catalog::kNeededByOthers,
                    "cannot drop table {} because other objects depend on it: procedure {} uses it", name,
                    program_.procedures[static_cast<size_t>(user - users.begin())].name);
    }
    Pieces pieces = pieces_of(program_.source);
    pieces.erase(find(pieces, Kind::kTable, name));
    std::erase_if(pieces,
                  [&](const auto& piece) { return piece->kind != Kind::kProcedure && piece->table == name; });
    const std::vector<std::string> sequences = sequences_of(*table);
    std::unique_ptr<Program> program = changed(program_.catalog.without(table->id), std::move(pieces), users);
    for (const std::string& sequence : sequences) program = Change(*program, command_).drop_table(sequence);
    return program;
  }

  // The program without the foreign keys of other tables that refer to this one; nullptr: there are none.
  std::unique_ptr<Program> without_references(const TableDefinition& table) {
    std::unique_ptr<Program> program;
    std::vector<std::string> dropped;
    for (const TableDefinition& other : program_.catalog.tables()) {
      for (const ForeignKey& key : other.foreign_keys) {
        if (key.referenced != table.id || other.id == table.id) continue;
        if (!command_.cascades) {
          refuse_change(sqlstate_of_catalog::kNeededByOthers,
                        "cannot drop table {} because other objects depend on it: constraint {} on table {} "
                        "depends on it; use DROP ... CASCADE to drop it too",
                        table.name, key.name, other.name);
        }
        dropped.push_back(fmt::format("constraint {} on table {}", key.name, other.name));
        const Change next(program ? *program : program_, command_);
        program = next.drop_foreign_key(other.name, key.name);
      }
    }
    if (dropped.size() == 1) notify("drop cascades to " + dropped[0]);
    if (dropped.size() > 1) notify(fmt::format("drop cascades to {} other objects", dropped.size()));
    return program;
  }

  static bool refers_to(const TableDefinition& table, TableId other) {
    return std::ranges::find(table.foreign_keys, other, &ForeignKey::referenced) != table.foreign_keys.end();
  }

  // Takes the key's index with it, if it was made for the key.
  std::unique_ptr<Program> drop_foreign_key(const std::string& of, const std::string& name) const {
    const TableDefinition& table = *program_.catalog.find_table(of);
    const ForeignKey& key = *std::ranges::find(table.foreign_keys, name, &ForeignKey::name);
    std::vector<char> users = users_of(table.id);
    add_users(key.referenced, users);
    Pieces pieces = pieces_of(program_.source);
    auto nth = &key - table.foreign_keys.data();
    const auto piece = std::ranges::find_if(pieces, [&](const auto& each) {
      return each->kind == Kind::kAlteration && each->table == table.name &&
             parse(each->text).front().alteration->foreign_key && nth-- == 0;
    });
    CHECK(piece != pieces.end());
    pieces.erase(piece);
    Catalog catalog = program_.catalog;
    catalog.drop_foreign_key(table.id, key.name);
    if (const IndexDefinition* index = find_index(catalog, key.name + "_idx");
        index != nullptr && find(pieces, Kind::kIndex, index->name) == pieces.end())
      catalog = catalog.without(index->id);
    return changed(std::move(catalog), std::move(pieces), users);
  }

  // The sequences that the table's SERIAL columns draw from: they are the table's own.
  std::vector<std::string> sequences_of(const TableDefinition& table) const {
    std::vector<std::string> sequences;
    for (const Column& column : table.columns) {
      const std::string sequence = syntax::sequence_name(table.name, column.name);
      if (column.initial == "nextval('" + sequence + "')") sequences.push_back(sequence);
    }
    return sequences;
  }

  std::unique_ptr<Program> drop_index(const std::string& name) {
    const IndexDefinition* index = find_index(program_.catalog, name);
    if (index == nullptr) {
      refuse_change(sqlstate::kUndefinedObject, "index \"{}\" does not exist", name);
    }
    Pieces pieces = pieces_of(program_.source);
    const auto found = find(pieces, Kind::kIndex, name);
    if (found == pieces.end()) {
      refuse_change(sqlstate_of_catalog::kNeededByOthers,
                    "cannot drop index {} because constraint {} on table {} requires it", name, name,
                    program_.catalog.table(index->table).name);
    }
    pieces.erase(found);
    return changed(program_.catalog.without(index->id), std::move(pieces), users_of(index->table));
  }

  std::unique_ptr<Program> changed(Catalog catalog, Pieces pieces, const std::vector<char>& binds,
                                   std::optional<ProcedureId> gone = {}) const {
    try {
      return ProgramEdit::changed(std::move(catalog), std::move(pieces), binds, gone);
    } catch (const SourceError& error) {
      refuse_uncompiled(error);
    }
  }

  [[noreturn]] void refuse_uncompiled(const SourceError& error) const {
    if (command_.kind == syntax::Command::Kind::kDrop) {
      refuse_change(sqlstate_of_catalog::kNeededByOthers,
                    "cannot drop {} because other objects depend on it: without it, {}",
                    command_.names.front().text, error.message);
    }
    throw Refusal{failure_of(error)};
  }

  // Callers, and what is written in a log before, know the procedure by them.
  void check_parameters(const Program& changed) const {
    const std::string& name = command_.definition->procedure->name.text;
    const ir::Procedure& before = *program_.find_procedure(name);
    const ir::Procedure& after = *changed.find_procedure(name);
    const auto same = [&](size_t i) {
      const ir::Variable& a = before.variables[before.parameters[i].variable.value];
      const ir::Variable& b = after.variables[after.parameters[i].variable.value];
      return a.name == b.name && a.type == b.type &&
             before.parameters[i].inout == after.parameters[i].inout &&
             before.parameters[i].out == after.parameters[i].out;
    };
    bool all_same = before.parameters.size() == after.parameters.size();
    for (size_t i = 0; all_same && i < before.parameters.size(); ++i) all_same = same(i);
    if (all_same) return;
    refuse_change(sqlstate_of_catalog::kOtherParameters,
                  "cannot change the parameters or the result of existing {} {}: use DROP {} {} first",
                  before.is_function ? "function" : "procedure", name,
                  before.is_function ? "FUNCTION" : "PROCEDURE", name);
  }

  const syntax::Command& command_;
  std::optional<Definition> named_;
  std::string notice_;
};

}  // namespace

ChangedProgram changed_program(const Program& program, const syntax::Command& command) {
  CHECK(command.changes_schema());
  ChangedProgram changed;
  try {
    Change change(program, command);
    changed.program = change.make();
    changed.told.tag = tag_of_change(command);
    changed.told.notice = change.notice();
  } catch (const Refusal& refusal) {
    changed.told = refusal.failure;
  }
  return changed;
}

std::string tag_of_change(const syntax::Command& command) {
  if (command.kind == syntax::Command::Kind::kTruncate) return "TRUNCATE TABLE";
  if (command.kind == syntax::Command::Kind::kAlter) return "ALTER TABLE";
  const bool creates = command.kind == syntax::Command::Kind::kCreate;
  const bool is_function = creates
                               ? command.definition->procedure && command.definition->procedure->is_function
                               : command.routine == syntax::RoutineKind::kFunction;
  std::string tag = creates ? "CREATE " : "DROP ";
  switch (creates ? kind_of(*command.definition) : command.dropped) {
    case DefinitionKind::kTable:
      return tag + "TABLE";
    case DefinitionKind::kIndex:
      return tag + "INDEX";
    case DefinitionKind::kProcedure:
      if (!creates && command.routine == syntax::RoutineKind::kAny) return tag + "ROUTINE";
      return tag + (is_function ? "FUNCTION" : "PROCEDURE");
  }
  return tag;
}

}  // namespace mneme
