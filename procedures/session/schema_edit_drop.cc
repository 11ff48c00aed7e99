// DROP, of tables with what depends on them.
#include <algorithm>

#include "base/ascii.h"
#include "procedures/binder/schema_binder.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/session/schema_edit.h"

namespace mneme {

using syntax::DefinitionKind;

std::unique_ptr<Program> SchemaEdit::drop_all() {
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
    if (lacks_schema(name)) continue;
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
    if (command_.dropped == DefinitionKind::kProcedure) {
      const auto written = std::ranges::find(command_.names, name, &syntax::Name::text);
      one.parameter_types = {command_.parameter_types[static_cast<size_t>(written - command_.names.begin())]};
    }
    SchemaEdit change(present, one);
    program = change.drop(name);
    if (!change.notice().empty()) notify(change.notice());
  }
  return program;
}

bool SchemaEdit::exists(const Program& program, const std::string& name) const {
  switch (command_.dropped) {
    case DefinitionKind::kSchema:
      return name == kPublicSchema || is_system_schema(name) || program.has_schema(name);
    case DefinitionKind::kTable:
      return program.catalog.has_relation(name) || program.find_view(name) != nullptr;
    case DefinitionKind::kSequence:
      return program.catalog.find_table(name) != nullptr;
    case DefinitionKind::kIndex:
      return program.catalog.find_index(name) != nullptr;
    case DefinitionKind::kView:
      return program.find_view(name) != nullptr || program.catalog.has_relation(name);
    case DefinitionKind::kType:
      return program.catalog.find_enum(name).has_value();
    case DefinitionKind::kProcedure:
      break;
  }
  return program.find_procedure(name) != nullptr;
}

std::string_view SchemaEdit::word_of(DefinitionKind kind) {
  switch (kind) {
    case DefinitionKind::kSchema:
      return "schema";
    case DefinitionKind::kTable:
      return "table";
    case DefinitionKind::kIndex:
      return "index";
    case DefinitionKind::kSequence:
      return "sequence";
    case DefinitionKind::kView:
      return "view";
    case DefinitionKind::kType:
      return "type";
    case DefinitionKind::kProcedure:
      break;
  }
  return "procedure";
}

std::unique_ptr<Program> SchemaEdit::drop(const std::string& name) {
  switch (command_.dropped) {
    case DefinitionKind::kSchema:
      return drop_schema(name);
    case DefinitionKind::kTable:
      return drop_table(name);
    case DefinitionKind::kIndex:
      return drop_index(name);
    case DefinitionKind::kSequence:
      return drop_sequence(name);
    case DefinitionKind::kView:
      return drop_view(name);
    case DefinitionKind::kType:
      return drop_enum(name);
    case DefinitionKind::kProcedure:
      break;
  }
  return drop_routine(name);
}

std::unique_ptr<Program> SchemaEdit::drop_table(const std::string& name) {
  const TableDefinition* table = program_.catalog.find_table(name);
  if (table == nullptr) {
    if (program_.find_view(name) != nullptr || program_.catalog.find_index(name) != nullptr)
      refuse_change(sqlstate::kWrongObject, "\"{}\" is not a table", name);
    refuse_change(sqlstate::kUndefinedTable, "table \"{}\" does not exist", name);
  }
  if (is_sequence(*table)) refuse_change(sqlstate::kWrongObject, "\"{}\" is not a table", name);
  if (const auto without = without_references(*table)) {
    SchemaEdit rest(*without, command_);
    std::unique_ptr<Program> program = rest.drop_table(name);
    if (!rest.notice().empty()) notify(rest.notice());
    return program;
  }
  // A procedure that only looks at the table for its foreign keys does without it.
  std::vector<char> users = users_of(table->id);
  add_mentions(name, users);
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
  for (const std::string& sequence : sequences) {
    SchemaEdit rest(*program, command_);
    program = rest.drop_sequence(sequence);
    if (!rest.notice().empty()) notify(rest.notice());
  }
  return program;
}

std::unique_ptr<Program> SchemaEdit::without_references(const TableDefinition& table) {
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
      const SchemaEdit next(program ? *program : program_, command_);
      program = next.drop_foreign_key(other.name, key.name);
    }
  }
  if (dropped.size() == 1) notify("drop cascades to " + dropped[0]);
  if (dropped.size() > 1) notify(fmt::format("drop cascades to {} other objects", dropped.size()));
  return program;
}

bool SchemaEdit::refers_to(const TableDefinition& table, TableId other) {
  return std::ranges::find(table.foreign_keys, other, &ForeignKey::referenced) != table.foreign_keys.end();
}

std::unique_ptr<Program> SchemaEdit::drop_foreign_key(const std::string& of, const std::string& name) const {
  const TableDefinition& table = *program_.catalog.find_table(of);
  const ForeignKey& key = *std::ranges::find(table.foreign_keys, name, &ForeignKey::name);
  std::vector<char> users = users_of(table.id);
  add_users(key.referenced, users);
  Pieces pieces = pieces_of(program_.source);
  pieces.erase(find_foreign_key(pieces, table, name));
  Catalog catalog = program_.catalog;
  catalog.drop_foreign_key(table.id, key.name);
  if (const IndexDefinition* index = catalog.find_index(beside(of, key.name + "_idx"));
      index != nullptr && index->origin == IndexOrigin::kForeignKey && index->table == table.id)
    catalog = catalog.without(index->id);
  return with_keys_indexed(changed(std::move(catalog), std::move(pieces), users), of);
}

std::vector<std::string> SchemaEdit::sequences_of(const TableDefinition& table) const {
  std::vector<std::string> sequences;
  for (const Column& column : table.columns) {
    if (!column.sequence.empty()) sequences.push_back(column.sequence);
  }
  return sequences;
}

std::unique_ptr<Program> SchemaEdit::drop_sequence(const std::string& name) {
  const TableDefinition* table = program_.catalog.find_table(name);
  if (table == nullptr) refuse_change(sqlstate::kUndefinedTable, "sequence \"{}\" does not exist", name);
  if (!is_sequence(*table)) refuse_change(sqlstate::kWrongObject, "\"{}\" is not a sequence", name);
  for (const TableDefinition& other : program_.catalog.tables()) {
    for (const Column& column : other.columns) {
      if (drawn_sequence(column.initial) != name) continue;
      if (!command_.cascades) {
        refuse_change(sqlstate_of_catalog::kNeededByOthers,
                      "cannot drop sequence {} because other objects depend on it: default value for column "
                      "{} of table {} depends on it; use DROP ... CASCADE to drop it too",
                      name, column.name, other.name);
      }
      notify(
          fmt::format("drop cascades to default value for column {} of table {}", column.name, other.name));
      const std::unique_ptr<Program> without =
          run_text(program_, fmt::format("ALTER TABLE {} ALTER COLUMN {} DROP DEFAULT",
                                         written_name(other.name), written_name(column.name)));
      SchemaEdit rest(*without, command_);
      std::unique_ptr<Program> program = rest.drop_sequence(name);
      if (!rest.notice().empty()) notify(rest.notice());
      return program;
    }
  }
  Catalog catalog = program_.catalog;
  mneme::drop_sequence(name, catalog);
  Pieces pieces = pieces_of(program_.source);
  const auto is_its_own = [&](const auto& piece) {
    return piece->table == name || (piece->kind == Kind::kTable && piece->name == name);
  };
  // A table may have had a DEFAULT that draws from it. Its definition then goes on to need the sequence.
  const auto may_need_it = [&](const auto& piece) {
    return piece->kind != Kind::kProcedure && !is_its_own(piece) &&
           (mentions(piece->text, name) || mentions(piece->text, "serial") ||
            mentions(piece->text, "bigserial") || mentions(piece->text, "smallserial") ||
            mentions(piece->text, "identity"));
  };
  if (std::ranges::any_of(pieces, may_need_it)) {
    // Its owner may be gone.
    std::erase_if(pieces,
                  [&](const auto& piece) { return piece->table == name && mentions(piece->text, "owned"); });
    SourceText source;
    for (auto& piece : pieces) source.add(std::move(piece));
    syntax::Definition dropped;
    dropped.dropped_sequence = {name, {}};
    dropped.text = "DROP SEQUENCE " + written_name(name);
    source.add(dropped);
    pieces = pieces_of(source);
  } else {
    std::erase_if(pieces, is_its_own);
  }
  std::vector<char> users(program_.procedures.size());
  add_mentions(name, users);
  return changed(std::move(catalog), std::move(pieces), users);
}

std::unique_ptr<Program> SchemaEdit::drop_index(const std::string& name) {
  const IndexDefinition* index = program_.catalog.find_index(name);
  if (index == nullptr) refuse_change(sqlstate::kUndefinedObject, "index \"{}\" does not exist", name);
  if (index->origin != IndexOrigin::kIndex) {
    refuse_change(sqlstate_of_catalog::kNeededByOthers,
                  "cannot drop index {} because constraint {} on table {} requires it", name, name,
                  program_.catalog.table(index->table).name);
  }
  return without_index(*index, command_.cascades, [&](const Program& present) {
    const SchemaEdit edit(present, command_);
    const IndexDefinition& its = *present.catalog.find_index(name);
    Pieces pieces = pieces_of(present.source);
    pieces.erase(find(pieces, Kind::kIndex, name));
    return edit.changed(present.catalog.without(its.id), std::move(pieces), edit.users_of(its.table));
  });
}

}  // namespace mneme
