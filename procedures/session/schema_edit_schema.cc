// CREATE SCHEMA and DROP SCHEMA, and what statements say of schemas that there are not.
#include <algorithm>

#include "procedures/parser/written_names.h"
#include "procedures/session/schema_edit.h"

namespace mneme {

namespace {

using syntax::DefinitionKind;

// The objects of a schema, in an order in which they can be dropped.
struct Inhabitant {
  DefinitionKind kind;
  std::string name;
  std::string shown;  // as PostgreSQL's notices have it
};

bool is_owned(const Program& program, const std::string& sequence) {
  return std::ranges::any_of(program.catalog.tables(), [&](const TableDefinition& table) {
    return std::ranges::find(table.columns, sequence, &Column::sequence) != table.columns.end();
  });
}

std::vector<Inhabitant> inhabitants_of(const Program& program, std::string_view schema) {
  std::vector<Inhabitant> all;
  const auto add = [&](DefinitionKind kind, std::string_view word, const std::string& name) {
    if (schema_of(name) == schema)
      all.push_back({kind, name, fmt::format("{} {}", word, written_name(name))});
  };
  for (const View& view : program.views) add(DefinitionKind::kView, "view", view.name);
  for (const ir::Procedure& routine : program.procedures)
    add(DefinitionKind::kProcedure, routine.is_function ? "function" : "procedure", routine.name);
  for (const TableDefinition& table : program.catalog.tables()) {
    if (!is_sequence(table)) add(DefinitionKind::kTable, "table", table.name);
  }
  for (const TableDefinition& table : program.catalog.tables()) {
    if (is_sequence(table) && !is_owned(program, table.name))
      add(DefinitionKind::kSequence, "sequence", table.name);
  }
  for (const Type& type : program.catalog.enums())
    add(DefinitionKind::kType, "type", enum_definition(type).name);
  return all;
}

}  // namespace

void SchemaEdit::check_schema(std::string_view object) const {
  const std::string_view schema = schema_of(object);
  if (schema == kPublicSchema || program_.has_schema(schema)) return;
  if (is_system_schema(schema))
    refuse_change("42501", "permission denied to create \"{}.{}\"", schema, bare_name(object));
  if (schema == kNowhere) refuse_change(kUndefinedSchema, "no schema has been selected to create in");
  refuse_change(kUndefinedSchema, "schema \"{}\" does not exist", schema);
}

bool SchemaEdit::lacks_schema(std::string_view object) {
  const std::string_view schema = schema_of(object);
  if (schema == kPublicSchema || schema == kNowhere || is_system_schema(schema) ||
      program_.has_schema(schema))
    return false;
  if (!command_.if_exists) refuse_change(kUndefinedSchema, "schema \"{}\" does not exist", schema);
  notify(fmt::format("schema \"{}\" does not exist, skipping", schema));
  return true;
}

// The sequences that a table owns go to its new schema before it; nullptr: there is none to go.
std::unique_ptr<Program> SchemaEdit::with_sequences_moved(const TableDefinition& table,
                                                          std::string_view schema) {
  if (is_sequence(table)) {
    if (command_.altered == DefinitionKind::kSequence && is_owned(program_, table.name))
      refuse_change(sqlstate::kNotSupported, "cannot move an owned sequence into another schema");
    return nullptr;
  }
  std::unique_ptr<Program> program;
  for (const std::string& sequence : sequences_of(table)) {
    if (schema_of(sequence) == schema) continue;
    program = run_text(
        program ? *program : program_,
        fmt::format("ALTER SEQUENCE {} SET SCHEMA {}", written_name(sequence), written_name(schema)));
  }
  return program;
}

std::unique_ptr<Program> SchemaEdit::change_schema(const syntax::Definition& made) {
  const syntax::SchemaChange& change = *made.schema_change;
  const std::string& name = change.name.text;
  const bool is_there = name == kPublicSchema || is_system_schema(name) || program_.has_schema(name);
  if (is_there && change.if_not_exists) {
    notify(fmt::format("schema \"{}\" already exists, skipping", name));
    return nullptr;
  }
  if (is_there) refuse_change("42P06", "schema \"{}\" already exists", name);
  syntax::Definition plain = made;
  plain.text = "CREATE SCHEMA " + written_name(name);
  return with_one_more(plain);
}

std::unique_ptr<Program> SchemaEdit::drop_schema(const std::string& name) {
  if (name == kPublicSchema) {
    refuse_change(sqlstate::kNotSupported,
                  "the schema public stays; drop what is in it, or leave it out of search_path");
  }
  if (is_system_schema(name)) {
    refuse_change(sqlstate_of_catalog::kNeededByOthers,
                  "cannot drop schema {} because it is required by the database system", name);
  }
  if (!program_.has_schema(name)) refuse_change(kUndefinedSchema, "schema \"{}\" does not exist", name);
  const std::vector<Inhabitant> all = inhabitants_of(program_, name);
  if (!all.empty() && !command_.cascades) {
    StatementResult failure = StatementResult::failure(
        sqlstate_of_catalog::kNeededByOthers,
        fmt::format("cannot drop schema {} because other objects depend on it", name));
    for (const Inhabitant& each : all) {
      failure.detail +=
          fmt::format("{}{} depends on schema {}", failure.detail.empty() ? "" : "\n", each.shown, name);
    }
    failure.hint = "Use DROP ... CASCADE to drop the dependent objects too.";
    throw Refusal{std::move(failure)};
  }
  if (all.size() == 1) notify("drop cascades to " + all[0].shown);
  if (all.size() > 1) notify(fmt::format("drop cascades to {} other objects", all.size()));
  std::unique_ptr<Program> program = std::make_unique<Program>(program_);
  for (const Inhabitant& each : all) {
    // It may have gone with another one.
    syntax::Command one;
    one.kind = syntax::Command::Kind::kDrop;
    one.dropped = each.kind;
    one.if_exists = one.cascades = true;
    one.routine = syntax::RoutineKind::kAny;
    one.names = {{each.name, {}}};
    std::unique_ptr<Program> next = SchemaEdit(*program, one).make();
    if (next != nullptr) program = std::move(next);
  }
  return SchemaEdit(*program, command_).without_schema(name);
}

std::unique_ptr<Program> SchemaEdit::without_schema(const std::string& name) const {
  Pieces pieces = pieces_of(program_.source);
  const auto its_own = find(pieces, Kind::kSchema, name);
  // A table that lies elsewhere now, or a sequence or a type that is gone, may have a piece that needs it.
  const bool is_needed = std::ranges::any_of(pieces, [&](const auto& piece) {
    return piece != *its_own && piece->kind != Kind::kProcedure && mentions(piece->text, name);
  });
  if (is_needed) {
    SourcePiece gone = **its_own;
    gone.name.clear();
    *its_own = std::make_shared<const SourcePiece>(std::move(gone));
    SourceText source;
    for (auto& piece : pieces) source.add(std::move(piece));
    syntax::Definition dropped;
    dropped.schema_change = {.name = {}, .drops = true};
    dropped.text = "DROP SCHEMA " + written_name(name);
    source.add(dropped);
    pieces = pieces_of(source);
  } else {
    pieces.erase(its_own);
  }
  std::unique_ptr<Program> program =
      changed(program_.catalog, std::move(pieces), std::vector<char>(program_.procedures.size()));
  std::erase(program->schemas, name);
  return program;
}

}  // namespace mneme
