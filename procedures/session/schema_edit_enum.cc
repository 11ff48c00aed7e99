// Types of a database's own: CREATE TYPE ... AS ENUM, ALTER TYPE and DROP TYPE. What a type was made by, and
// each change of it, is a piece of the source, in its order.
#include <algorithm>

#include "engine/schema/array_form.h"
#include "engine/schema/enum_types.h"
#include "procedures/binder/schema_binder.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/session/schema_edit.h"
#include "procedures/typing/enum_binder.h"

namespace mneme {

using EnumKind = syntax::EnumChange::Kind;

std::unique_ptr<Program> SchemaEdit::change_enum(const syntax::Definition& made) {
  const syntax::EnumChange& change = *made.enum_change;
  const std::optional<Type> type = program_.catalog.find_enum(change.name.text);
  if (change.kind == EnumKind::kCreate) {
    if (program_.find_view(change.name.text) != nullptr)
      refuse_change(sqlstate::kDuplicateObject, "type \"{}\" already exists", change.name.text);
    return with_one_more(made);
  }
  if (change.kind == EnumKind::kAddValue && change.if_not_exists && type &&
      find_label(*type, change.labels[0]) != nullptr) {
    notify(fmt::format("enum label \"{}\" already exists, skipping", change.labels[0]));
    return nullptr;
  }
  if (change.kind == EnumKind::kRename) {
    if (program_.find_view(change.new_name.text) != nullptr)
      refuse_change(sqlstate::kDuplicateObject, "type \"{}\" already exists", change.new_name.text);
    check_schema(change.new_name.text);
    refuse_users(change.name.text, "rename");
  }
  if (change.kind == EnumKind::kRenameValue && type) refuse_stored_arrays(*type);
  Catalog catalog = program_.catalog;
  try {
    bind_enum(change, catalog);
  } catch (const SourceError& error) {
    throw Refusal{failure_of(error)};
  }
  SourceText source = program_.source;
  source.add(made);
  // A procedure has the type's former definition in it.
  return changed(std::move(catalog), pieces_of(source), std::vector<char>(program_.procedures.size(), 1));
}

// An array's text has its labels in it.
void SchemaEdit::refuse_stored_arrays(const Type& type) const {
  for (const TableDefinition& table : program_.catalog.tables()) {
    for (const Column& column : table.columns) {
      if (!is_array_form(column.type) || !is_of_enum(column.type, type)) continue;
      refuse_change(sqlstate::kNotSupported,
                    "a label of type {} is not renamed while column {} of table {} holds arrays of it; add "
                    "another label, and change the rows",
                    to_string(type), column.name, table.name);
    }
  }
}

void SchemaEdit::refuse_users(const std::string& type, std::string_view what) const {
  std::vector<char> users(program_.procedures.size());
  add_mentions(type, users);
  if (const auto user = std::ranges::find(users, 1); user != users.end()) {
    refuse_change(sqlstate_of_catalog::kNeededByOthers,
                  "cannot {} type {} because other objects depend on it: procedure {} uses it", what, type,
                  program_.procedures[static_cast<size_t>(user - users.begin())].name);
  }
  for (const View& view : program_.views) {
    if (!mentions(view.text, type)) continue;
    refuse_change(sqlstate_of_catalog::kNeededByOthers,
                  "cannot {} type {} because other objects depend on it: view {} uses it", what, type,
                  view.name);
  }
}

std::unique_ptr<Program> SchemaEdit::without_columns_of(const Type& type) {
  std::unique_ptr<Program> program;
  std::vector<std::string> dropped;
  for (const TableDefinition& table : program_.catalog.tables()) {
    for (const Column& column : table.columns) {
      if (!is_of_enum(column.type, type)) continue;
      const std::string object = fmt::format("column {} of table {}", column.name, table.name);
      if (!command_.cascades) {
        refuse_change(
            sqlstate_of_catalog::kNeededByOthers,
            "cannot drop type {} because other objects depend on it: {} depends on it; use DROP ... "
            "CASCADE to drop it too",
            to_string(type), object);
      }
      const Program& present = program ? *program : program_;
      // What the column takes with it is part of it, and nothing is said of that.
      program = SchemaEdit(present, command_)
                    .run_text(present, fmt::format("ALTER TABLE {} DROP COLUMN {} CASCADE",
                                                   written_name(table.name), written_name(column.name)));
      dropped.push_back(object);
    }
  }
  if (dropped.size() == 1) notify("drop cascades to " + dropped[0]);
  if (dropped.size() > 1) notify(fmt::format("drop cascades to {} other objects", dropped.size()));
  return program;
}

std::unique_ptr<Program> SchemaEdit::drop_enum(const std::string& name) {
  const std::optional<Type> type = program_.catalog.find_enum(name);
  if (!type) refuse_change(sqlstate::kUndefinedObject, "type \"{}\" does not exist", name);
  if (const std::unique_ptr<Program> without = without_columns_of(*type)) {
    SchemaEdit rest(*without, command_);
    return rest.drop_enum(name);
  }
  refuse_users(name, "drop");
  for (const TableDefinition& table : program_.catalog.tables()) {
    for (const CheckConstraint& check : table.checks) {
      if (!mentions(check.condition, name)) continue;
      refuse_change(
          sqlstate_of_catalog::kNeededByOthers,
          "cannot drop type {} because other objects depend on it: constraint {} on table {} depends "
          "on it",
          to_string(*type), check.name, table.name);
    }
  }
  Catalog catalog = program_.catalog;
  catalog.drop_enum(*type);
  Pieces pieces = pieces_of(program_.source);
  const auto is_its_own = [&](const auto& piece) {
    return piece->kind == Kind::kType && piece->name == name;
  };
  // A table may have had a column of it, under the name that it has or had. Its definition then goes on to
  // need the type.
  const auto is_renamed = [&](const auto& piece) {
    return is_its_own(piece) && parse(piece->text).front().enum_change->kind == EnumKind::kRename;
  };
  const auto may_need_it = [&](const auto& piece) {
    return piece->kind != Kind::kProcedure && !is_its_own(piece) && mentions(piece->text, name);
  };
  if (std::ranges::any_of(pieces, is_renamed) || std::ranges::any_of(pieces, may_need_it)) {
    SourceText source;
    for (auto& piece : pieces) source.add(std::move(piece));
    syntax::Definition dropped;
    dropped.enum_change = {.kind = EnumKind::kDrop, .name = {name, {}}};
    dropped.text = "DROP TYPE " + written_name(name);
    source.add(dropped);
    pieces = pieces_of(source);
    // Another type of this name is no business of these pieces.
    for (auto& piece : pieces) {
      if (!is_its_own(piece)) continue;
      SourcePiece gone = *piece;
      gone.name.clear();
      piece = std::make_shared<const SourcePiece>(std::move(gone));
    }
  } else {
    std::erase_if(pieces, is_its_own);
  }
  return changed(std::move(catalog), std::move(pieces), std::vector<char>(program_.procedures.size()));
}

}  // namespace mneme
