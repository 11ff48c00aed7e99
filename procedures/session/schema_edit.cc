#include "procedures/session/schema_edit.h"

#include <algorithm>
#include <map>

#include "procedures/binder/schema_binder.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"

namespace mneme {

using syntax::Definition;

std::unique_ptr<Program> SchemaEdit::make() {
  if (command_.kind == syntax::Command::Kind::kCreate) return create(*command_.definition);
  if (command_.kind == syntax::Command::Kind::kTruncate) return truncate();
  if (command_.kind == syntax::Command::Kind::kComment) return comment();
  std::unique_ptr<Program> program = command_.kind == syntax::Command::Kind::kDrop ? drop_all() : alter_all();
  if (program == nullptr) return nullptr;
  program = with_views_as_they_were(std::move(program));
  drop_lost_comments(*program);
  return program;
}

std::unique_ptr<Program> SchemaEdit::truncate() {
  const Catalog& catalog = program_.catalog;
  std::vector<TableId> emptied;
  for (const syntax::Name& name : command_.names) {
    const TableDefinition* table = catalog.find_table(name.text);
    if (table == nullptr && program_.find_view(name.text) == nullptr)
      refuse_change(sqlstate::kUndefinedTable, "relation \"{}\" does not exist", name.text);
    if (table == nullptr || is_sequence(*table))
      refuse_change(sqlstate::kWrongObject, "\"{}\" is not a table", name.text);
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
  if (!command_.restarts) return program;
  for (const TableId table : emptied) {
    for (const std::string& sequence : sequences_of(catalog.table(table))) {
      syntax::Definition restart;
      restart.sequence = altered_sequence({sequence, {}});
      restart.sequence->restarts = true;
      program = SchemaEdit(*program, command_).alter_sequence(restart);
    }
  }
  return program;
}

void SchemaEdit::notify(std::string line) {
  if (!notice_.empty()) notice_ += "\n";
  notice_ += line;
}

std::unique_ptr<Program> SchemaEdit::create(const Definition& given) {
  if (given.schema_change) return change_schema(given);
  // An index lies where its table does.
  if (!given.index) check_schema(given.name().text);
  if (given.enum_change) return change_enum(given);
  const bool is_there =
      program_.catalog.has_relation(given.name().text) || program_.find_view(given.name().text) != nullptr;
  if (given.if_not_exists() && is_there) {
    notice_ = fmt::format("relation \"{}\" already exists, skipping", given.name().text);
    return nullptr;
  }
  if (given.table && given.table->query) {
    refuse_change(sqlstate::kNotSupported,
                  "CREATE TABLE AS is a session's statement, and no change of the schema by itself");
  }
  if (given.table && !given.table->like.empty()) return create_like(given);
  const Definition& made = given.index && given.index->name.empty() ? named(given) : given;
  if (made.procedure) return create_routine(made);
  if (made.view) return create_view(made);
  check_relation(made);
  if (made.table) return create_table(made);
  if (made.sequence) return create_sequence(program_, *made.sequence);
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

std::unique_ptr<Program> SchemaEdit::create_table(const Definition& made) {
  const syntax::Table& table = *made.table;
  std::unique_ptr<Program> program;
  for (const syntax::ColumnDefinition& column : table.columns) {
    if (!column.is_serial) continue;
    syntax::Sequence sequence = column.sequence_options.value_or(syntax::Sequence());
    sequence.name = {syntax::sequence_name(table.name.text, column.name.text), column.name.where};
    if (program_.catalog.has_relation(sequence.name.text))
      refuse_change(sqlstate_of_catalog::kDuplicateTable, "relation \"{}\" already exists",
                    sequence.name.text);
    if (!sequence.type && column.type.base != "bigint")
      sequence.type = column.type.base == "smallint" ? TypeKind::kSmallInt : TypeKind::kInt;
    program = create_sequence(program ? *program : program_, std::move(sequence));
  }
  program = with_table(program ? *program : program_, made);
  if (!table.primary_key) program = with_list_of_rows(*program, table.name.text);
  for (const std::string& key : made.foreign_keys) program = run_text(*program, key);
  return program;
}

std::unique_ptr<Program> SchemaEdit::with_table(const Program& present, const Definition& made) const {
  try {
    std::unique_ptr<Program> next = with_definition(present, text_of(made));
    const std::string text = with_names_of_keys(text_of(made), *next);
    return text == text_of(made) ? std::move(next) : with_definition(present, text);
  } catch (const SourceError& error) {
    refuse_uncompiled(error);
  }
}

std::string SchemaEdit::with_names_of_keys(const std::string& text, const Program& next) {
  const Definition parsed = std::move(parse(text).front());
  const syntax::Table& table = *parsed.table;
  std::vector<const syntax::UniqueConstraint*> keys;
  if (table.primary_key) keys.push_back(&*table.primary_key);
  for (const syntax::UniqueConstraint& unique : table.unique) keys.push_back(&unique);
  const TableDefinition& made = *next.catalog.find_table(table.name.text);
  std::map<size_t, std::string> names;
  for (size_t i = 0; i < keys.size(); ++i) {
    std::string usual = table.name.text;
    for (const syntax::Name& column : keys[i]->columns) usual += "_" + column.text;
    usual = i == 0 && table.primary_key ? table.name.text + "_pkey" : usual + "_key";
    const std::string& name = next.catalog.index(made.indexes[i]).name;
    if (!keys[i]->name.empty() || name == usual) continue;
    size_t line = 0;
    for (uint32_t n = 1; n < keys[i]->where.line; ++n) line = text.find('\n', line) + 1;
    names[line + keys[i]->where.column - 1] = "CONSTRAINT " + written_name(bare_name(name)) + " ";
  }
  std::string named = text;
  for (auto name = names.rbegin(); name != names.rend(); ++name) named.insert(name->first, name->second);
  return named;
}

std::unique_ptr<Program> SchemaEdit::create_sequence(const Program& present,
                                                     syntax::Sequence sequence) const {
  syntax::Sequence owner = altered_sequence(sequence.name);
  owner.is_owned = std::exchange(sequence.is_owned, false) && !sequence.owner.empty();
  owner.owner = sequence.owner;
  owner.owner_column = sequence.owner_column;
  try {
    std::unique_ptr<Program> program = with_definition(present, print_sequence(sequence));
    return owner.is_owned ? with_definition(*program, print_sequence(owner)) : std::move(program);
  } catch (const SourceError& error) {
    refuse_uncompiled(error);
  }
}

std::unique_ptr<Program> SchemaEdit::with_list_of_rows(const Program& made, const std::string& table) const {
  std::string list = table + "_rows";
  for (int number = 1; made.catalog.has_relation(list); ++number)
    list = fmt::format("{}_rows{}", table, number);
  return with_definition(
      made, fmt::format("CREATE INDEX {} ON {} ()", written_name(bare_name(list)), written_name(table)));
}

const Definition& SchemaEdit::named(const Definition& given) {
  named_ = renamed_index(given, index_name(*given.index, program_.catalog));
  return *named_;
}

Definition SchemaEdit::renamed_index(const Definition& given, const std::string& name) {
  const syntax::Index& index = *given.index;
  std::string text = fmt::format("CREATE {}INDEX {} ON {} (", index.unique ? "UNIQUE " : "",
                                 written_name(bare_name(name)), written_name(index.table.text));
  for (size_t i = 0; i < index.columns.size(); ++i)
    text += (i == 0 ? "" : ", ") + written_name(index.columns[i].text);
  text += ")";
  if (index.condition) text += " WHERE " + index.condition_text;
  return std::move(parse(text).front());
}

std::unique_ptr<Program> SchemaEdit::with_one_more(const Definition& made) const {
  try {
    return with_definition(program_, text_of(made));
  } catch (const SourceError& error) {
    refuse_uncompiled(error);
  }
}

const std::string& SchemaEdit::text_of(const Definition& made) {
  return made.foreign_keys.empty() ? made.text : made.text_without_foreign_keys;
}

void SchemaEdit::check_relation(const Definition& made) const {
  const std::string& name = made.name().text;
  if (program_.catalog.has_relation(name) || program_.find_view(name) != nullptr) {
    refuse_change(sqlstate_of_catalog::kDuplicateTable, "relation \"{}\" already exists", name);
  }
  if (!made.index && program_.catalog.find_enum(name))
    refuse_change(sqlstate::kDuplicateObject, "type \"{}\" already exists", name);
  if (made.index && program_.catalog.find_table(made.index->table.text) == nullptr) {
    refuse_change(sqlstate::kUndefinedTable, "relation \"{}\" does not exist", made.index->table.text);
  }
}

std::unique_ptr<Program> SchemaEdit::changed(Catalog catalog, Pieces pieces, const std::vector<char>& binds,
                                             std::optional<ProcedureId> gone) const {
  try {
    std::unique_ptr<Program> program =
        ProgramEdit::changed(std::move(catalog), std::move(pieces), binds, gone);
    program->views = program_.views;
    program->schemas = program_.schemas;
    program->comments = program_.comments;
    return program;
  } catch (const SourceError& error) {
    refuse_uncompiled(error);
  }
}

void SchemaEdit::refuse_uncompiled(const SourceError& error) const {
  if (command_.kind == syntax::Command::Kind::kDrop) {
    refuse_change(sqlstate_of_catalog::kNeededByOthers,
                  "cannot drop {} because other objects depend on it: without it, {}",
                  command_.names.front().text, error.message);
  }
  using AlterationKind = syntax::Alteration::Kind;
  const bool alters = command_.kind == syntax::Command::Kind::kAlter;
  const bool changes_names =
      alters && (command_.definition->enum_change ||
                 (command_.definition->alteration &&
                  command_.definition->alteration->kind >= AlterationKind::kDropColumn));
  if (changes_names) {
    refuse_change(sqlstate_of_catalog::kNeededByOthers,
                  "cannot alter {} because a procedure depends on it: with this change, {}; drop the "
                  "procedure first",
                  command_.definition->name().text, error.message);
  }
  throw Refusal{failure_of(error)};
}

}  // namespace mneme
