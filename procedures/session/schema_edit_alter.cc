// ALTER TABLE, ALTER INDEX and ALTER SEQUENCE. Each action makes a program of its own, from which the next
// one starts. An action is appended to the source, whose pieces so are the history of their table. The pieces
// of a foreign key or an index are taken out again instead: the table that a key refers to may be dropped.
#include <algorithm>

#include "procedures/binder/schema_binder.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/session/schema_edit.h"

namespace mneme {

namespace {

using syntax::Definition;
using AlterationKind = syntax::Alteration::Kind;

bool adds_constraint(const syntax::Alteration& alteration) {
  return alteration.kind == AlterationKind::kAddPrimaryKey || alteration.kind == AlterationKind::kAddUnique ||
         alteration.kind == AlterationKind::kAddCheck || alteration.kind == AlterationKind::kAddForeignKey;
}

bool restarts_alone(syntax::Sequence sequence) {
  const bool restarts = std::exchange(sequence.restarts, false);
  return restarts && print_sequence(sequence) == print_sequence(altered_sequence(sequence.name));
}

// Returns the name of the constraint that the table has and had not before.
std::string added_constraint(const syntax::Alteration& alteration, const TableDefinition& table,
                             const Catalog& catalog) {
  if (alteration.kind == AlterationKind::kAddCheck) return table.checks.back().name;
  if (alteration.kind == AlterationKind::kAddForeignKey) return table.foreign_keys.back().name;
  if (alteration.kind == AlterationKind::kAddPrimaryKey) return catalog.index(*table.primary_key).name;
  return catalog.index(table.indexes.back()).name;
}

}  // namespace

std::unique_ptr<Program> SchemaEdit::alter_all() {
  if (command_.altered == syntax::DefinitionKind::kProcedure)
    return rename_routine(*command_.definition->alteration);
  if (command_.definition->enum_change) return change_enum(*command_.definition);
  std::unique_ptr<Program> program;
  const auto run = [&](const Definition& definition) {
    SchemaEdit edit(program ? *program : program_, command_);
    std::unique_ptr<Program> next =
        definition.sequence ? edit.alter_sequence(definition) : edit.alter(definition);
    if (!edit.notice().empty()) notify(edit.notice());
    if (!next) return;
    if (definition.alteration) rename_comments(program ? *program : program_, *definition.alteration, *next);
    drop_lost_comments(*next);
    program = std::move(next);
  };
  run(*command_.definition);
  for (const Definition& further : command_.further) run(further);
  return program;
}

std::unique_ptr<Program> SchemaEdit::alter(const Definition& made) {
  const syntax::Alteration& alteration = *made.alteration;
  const std::string& name = alteration.table.text;
  const TableDefinition* table = program_.catalog.find_table(name);
  const IndexDefinition* index = program_.catalog.find_index(name);
  if (alteration.kind == AlterationKind::kRenameTo) check_kind(name, table, index);
  const bool exists = table != nullptr || (index != nullptr && alteration.kind == AlterationKind::kRenameTo);
  if (!exists && alteration.if_exists) {
    notify(fmt::format("relation \"{}\" does not exist, skipping", name));
    return nullptr;
  }
  if (!exists && program_.find_view(name) != nullptr)
    refuse_change(sqlstate::kNotSupported, "ALTER is not supported of views; write CREATE OR REPLACE VIEW");
  if (!exists) refuse_change(sqlstate::kUndefinedTable, "relation \"{}\" does not exist", name);
  if (alteration.kind == AlterationKind::kRenameTo &&
      program_.find_view(alteration.new_name.text) != nullptr) {
    refuse_change(sqlstate_of_catalog::kDuplicateTable, "relation \"{}\" already exists",
                  alteration.new_name.text);
  }
  if (table == nullptr) return rename_index(*index, alteration);
  const std::string& new_name = alteration.new_name.text;
  if (alteration.kind == AlterationKind::kRenameTo && schema_of(name) != schema_of(new_name)) {
    check_schema(new_name);
    if (std::unique_ptr<Program> moved = with_sequences_moved(*table, schema_of(new_name)))
      return SchemaEdit(*moved, command_).alter(made);
  }
  if (is_sequence(*table) && alteration.kind != AlterationKind::kRenameTo)
    refuse_change(sqlstate::kWrongObject, "\"{}\" is not a table", name);
  switch (alteration.kind) {
    case AlterationKind::kAddColumn:
      if (const syntax::Table& added = alteration.added;
          added.if_not_exists && table->find_column(added.columns[0].name.text)) {
        notify(fmt::format("column \"{}\" of relation \"{}\" already exists, skipping",
                           added.columns[0].name.text, name));
        return nullptr;
      }
      break;
    case AlterationKind::kDropColumn:
      return drop_column(made, *table);
    case AlterationKind::kAddIdentity:
      return add_identity(alteration, *table);
    case AlterationKind::kDropConstraint:
      return drop_constraint(made, *table);
    case AlterationKind::kRenameConstraint:
      if (std::ranges::find(table->foreign_keys, alteration.changed.text, &ForeignKey::name) !=
          table->foreign_keys.end())
        return rename_foreign_key(alteration, *table);
      break;
    default:
      break;
  }
  return append(made, *table);
}

// Returns normally where the kind of what has this name is the one that the statement is for.
void SchemaEdit::check_kind(const std::string& name, const TableDefinition* table,
                            const IndexDefinition* index) const {
  if (command_.altered == syntax::DefinitionKind::kSequence && (index != nullptr || table != nullptr) &&
      (table == nullptr || !is_sequence(*table)))
    refuse_change(sqlstate::kWrongObject, "\"{}\" is not a sequence", name);
  if (command_.altered == syntax::DefinitionKind::kIndex && table != nullptr)
    refuse_change(sqlstate::kWrongObject, "\"{}\" is not an index", name);
}

std::unique_ptr<Program> SchemaEdit::append(const Definition& made, const TableDefinition& table) {
  const syntax::Alteration& alteration = *made.alteration;
  const TableId id = table.id;
  std::vector<char> users = users_of(id);
  if (!adds_constraint(alteration)) add_mentions(table.name, users);
  if (alteration.kind == AlterationKind::kAddForeignKey) {
    // What changes rows that are referred to looks at those that refer to them from here on.
    const std::string& referenced = alteration.foreign_key.table.text;
    if (const TableDefinition* other = program_.catalog.find_table(referenced)) add_users(other->id, users);
  }
  Catalog catalog = program_.catalog;
  try {
    bind_alteration(alteration, catalog);
  } catch (const SourceError& error) {
    throw Refusal{failure_of(error)};
  }
  if (alteration.kind == AlterationKind::kAddForeignKey) {
    const TableDefinition& changed = catalog.table(id);
    const ForeignKey& key = changed.foreign_keys.back();
    if (key.deferred)
      notify(fmt::format("constraint \"{}\" is checked by each statement: none is deferred here", key.name));
    const IndexDefinition& last = catalog.index(changed.indexes.back());
    if (last.origin == IndexOrigin::kForeignKey && last.columns == key.columns &&
        bare_name(last.name) != key.name + "_idx" && program_.catalog.find_index(last.name) == nullptr) {
      // Its index would have another name once that of another table is gone: it is one of its own then.
      std::string columns;
      for (const ColumnId column : key.columns)
        columns += (columns.empty() ? "" : ", ") + written_name(changed.column(column).name);
      const std::unique_ptr<Program> indexed =
          SchemaEdit(program_, command_)
              .create(parse(fmt::format("CREATE INDEX {} ON {} ({})", written_name(bare_name(last.name)),
                                        written_name(table.name), columns))
                          .front());
      return SchemaEdit(*indexed, command_).append(made, *indexed->catalog.find_table(table.name));
    }
  }
  SourceText source = program_.source;
  if (adds_constraint(alteration)) {
    // A constraint keeps the name that it was given first, whatever others come and go.
    source.add(
        parse(fmt::format("ALTER TABLE {} ADD CONSTRAINT {} {}", written_name(table.name),
                          written_name(bare_name(added_constraint(alteration, catalog.table(id), catalog))),
                          alteration.constraint_text))
            .front());
  } else {
    source.add(made);
  }
  Pieces pieces = pieces_of(source);
  if (alteration.kind == AlterationKind::kAddPrimaryKey) {
    // It lists the rows from here on.
    const std::vector<IndexId> indexes = catalog.table(id).indexes;
    const auto list =
        std::ranges::find_if(indexes, [&](IndexId index) { return catalog.index(index).columns.empty(); });
    if (list != indexes.end()) {
      pieces.erase(find(pieces, Kind::kIndex, catalog.index(*list).name));
      catalog = catalog.without(*list);
    }
  }
  return changed(std::move(catalog), std::move(pieces), users);
}

std::unique_ptr<Program> SchemaEdit::run_text(const Program& program, const std::string& text) {
  SchemaEdit edit(program, command_);
  std::unique_ptr<Program> next = edit.alter(parse(text).front());
  if (!edit.notice().empty()) notify(edit.notice());
  return next;
}

// The column gets a sequence of its own, and draws its DEFAULT from it.
std::unique_ptr<Program> SchemaEdit::add_identity(const syntax::Alteration& alteration,
                                                  const TableDefinition& table) {
  constexpr const char* kWrongState = "55000";
  const std::optional<ColumnId> found = table.find_column(alteration.changed.text);
  if (!found) {
    refuse_change(sqlstate::kUndefinedColumn, "column \"{}\" of relation \"{}\" does not exist",
                  alteration.changed.text, table.name);
  }
  const Column& column = table.column(*found);
  if (!column.type.is_integer())
    refuse_change(sqlstate::kInvalidParameter, "identity column type must be smallint, integer, or bigint");
  if (column.nullable) {
    refuse_change(kWrongState,
                  "column \"{}\" of relation \"{}\" must be declared NOT NULL before identity can be added",
                  column.name, table.name);
  }
  if (column.identity != Identity::kNone) {
    refuse_change(kWrongState, "column \"{}\" of relation \"{}\" is already an identity column", column.name,
                  table.name);
  }
  if (!column.initial.empty() || column.is_generated()) {
    refuse_change(kWrongState, "column \"{}\" of relation \"{}\" already has a default value", column.name,
                  table.name);
  }
  syntax::Sequence sequence = *alteration.sequence;
  if (sequence.name.empty()) sequence.name.text = syntax::sequence_name(table.name, column.name);
  const std::string name = sequence.name.text;
  if (program_.catalog.has_relation(name))
    refuse_change(sqlstate_of_catalog::kDuplicateTable, "relation \"{}\" already exists", name);
  if (!sequence.type && column.type.kind != TypeKind::kBigInt) sequence.type = column.type.kind;
  sequence.is_owned = true;
  sequence.owner.text = table.name;
  sequence.owner_column.text = column.name;
  const std::string altered =
      fmt::format("ALTER TABLE {} ALTER COLUMN {} ", written_name(table.name), written_name(column.name));
  std::unique_ptr<Program> program = create_sequence(program_, std::move(sequence));
  program = run_text(*program, altered + "SET DEFAULT " + written_draw(name));
  const bool is_always = alteration.identity == Identity::kAlways;
  const Definition made = std::move(
      parse(altered + fmt::format("ADD GENERATED {} AS IDENTITY", is_always ? "ALWAYS" : "BY DEFAULT"))
          .front());
  return SchemaEdit(*program, command_).append(made, *program->catalog.find_table(table.name));
}

std::unique_ptr<Program> SchemaEdit::drop_column(const Definition& made, const TableDefinition& table) {
  const std::string& name = made.alteration->changed.text;
  const std::optional<ColumnId> column = table.find_column(name);
  if (!column && made.alteration->if_changed_exists) {
    notify(fmt::format("column \"{}\" of relation \"{}\" does not exist, skipping", name, table.name));
    return nullptr;
  }
  if (!column || table.columns.size() == 1) return append(made, table);
  const auto has_it = [&](const std::vector<ColumnId>& columns) {
    return std::ranges::find(columns, *column) != columns.end();
  };
  std::vector<std::string> constraints;
  std::vector<std::string> indexes;
  for (const ForeignKey& key : table.foreign_keys) {
    if (has_it(key.columns)) constraints.push_back(key.name);
  }
  for (const CheckConstraint& check : table.checks) {
    if (has_it(check.columns)) constraints.push_back(check.name);
  }
  for (const IndexId id : table.indexes) {
    const IndexDefinition& index = program_.catalog.index(id);
    if (!has_it(index.columns) && !has_it(columns_of_predicate(index, program_.catalog))) continue;
    if (index.origin == IndexOrigin::kConstraint) constraints.emplace_back(bare_name(index.name));
    if (index.origin == IndexOrigin::kIndex) indexes.push_back(index.name);
  }
  std::unique_ptr<Program> program;
  for (const Column& each : table.columns) {
    if (!names_column(each.generated, name)) continue;
    if (!made.alteration->cascades) {
      StatementResult failure = StatementResult::failure(
          sqlstate_of_catalog::kNeededByOthers,
          fmt::format("cannot drop column {} of table {} because other objects depend on it", name,
                      table.name));
      failure.detail = fmt::format("column {0} of table {1} depends on column {2} of table {1}", each.name,
                                   table.name, name);
      failure.hint = "Use DROP ... CASCADE to drop the dependent objects too.";
      throw Refusal{std::move(failure)};
    }
    program = run_text(program ? *program : program_,
                       fmt::format("ALTER TABLE {} DROP COLUMN {} CASCADE", written_name(table.name),
                                   written_name(each.name)));
  }
  if (program) {
    // Its indexes and constraints have other numbers now.
    return SchemaEdit(*program, command_).drop_column(made, *program->catalog.find_table(table.name));
  }
  for (const std::string& constraint : constraints) {
    program = run_text(program ? *program : program_,
                       fmt::format("ALTER TABLE {} DROP CONSTRAINT {}{}", written_name(table.name),
                                   written_name(constraint), made.alteration->cascades ? " CASCADE" : ""));
  }
  for (const std::string& index : indexes)
    program = SchemaEdit(program ? *program : program_, command_).drop_index(index);
  const std::string sequence = table.column(*column).sequence;
  const Program& present = program ? *program : program_;
  program = SchemaEdit(present, command_).append(made, *present.catalog.find_table(table.name));
  if (!sequence.empty()) program = SchemaEdit(*program, command_).drop_sequence(sequence);
  return program;
}

std::unique_ptr<Program> SchemaEdit::drop_constraint(const Definition& made, const TableDefinition& table) {
  const std::string& name = made.alteration->changed.text;
  if (!has_constraint(table, program_.catalog, name)) {
    if (!made.alteration->if_changed_exists) return append(made, table);
    notify(fmt::format("constraint \"{}\" of relation \"{}\" does not exist, skipping", name, table.name));
    return nullptr;
  }
  if (std::ranges::find(table.foreign_keys, name, &ForeignKey::name) != table.foreign_keys.end())
    return drop_foreign_key(table.name, name);
  const IndexDefinition* index = program_.catalog.find_index(beside(table.name, name));
  if (index == nullptr || index->table != table.id) return append(made, table);
  return without_index(*index, made.alteration->cascades, [&](const Program& present) {
    SchemaEdit edit(present, command_);
    std::unique_ptr<Program> next = edit.append(made, *present.catalog.find_table(table.name));
    // Without a primary key an index lists the rows.
    const TableDefinition& left = *next->catalog.find_table(table.name);
    const bool is_listed = std::ranges::any_of(
        left.indexes, [&](IndexId each) { return next->catalog.index(each).columns.empty(); });
    return left.primary_key || is_listed ? std::move(next) : with_list_of_rows(*next, table.name);
  });
}

std::unique_ptr<Program> SchemaEdit::without_index(
    const IndexDefinition& index, bool cascades,
    FunctionRef<std::unique_ptr<Program>(const Program& present)> drop) {
  const std::string table = program_.catalog.table(index.table).name;
  const std::string name = index.name;
  std::unique_ptr<Program> program;
  std::vector<std::string> dropped;
  for (const TableDefinition& other : program_.catalog.tables()) {
    for (const ForeignKey& key : other.foreign_keys) {
      if (key.referenced != index.table || !index.unique ||
          index.columns.size() != key.referenced_columns.size() ||
          !std::ranges::is_permutation(index.columns, key.referenced_columns))
        continue;
      if (!cascades) {
        refuse_change(sqlstate_of_catalog::kNeededByOthers,
                      "cannot drop {} {} on table {} because other objects depend on it: constraint {} on "
                      "table {} depends on it; use DROP ... CASCADE to drop it too",
                      index.origin == IndexOrigin::kConstraint ? "constraint" : "index", name, table,
                      key.name, other.name);
      }
      dropped.push_back(fmt::format("constraint {} on table {}", key.name, other.name));
      const SchemaEdit next(program ? *program : program_, command_);
      program = next.drop_foreign_key(other.name, key.name);
    }
  }
  if (dropped.size() == 1) notify("drop cascades to " + dropped[0]);
  if (dropped.size() > 1) notify(fmt::format("drop cascades to {} other objects", dropped.size()));
  return with_keys_indexed(drop(program ? *program : program_), table);
}

std::unique_ptr<Program> SchemaEdit::with_keys_indexed(std::unique_ptr<Program> program,
                                                       const std::string& of) const {
  const TableDefinition& table = *program->catalog.find_table(of);
  const auto lost = std::ranges::find_if(table.foreign_keys, [&](const ForeignKey& key) {
    return !has_index_for(table, program->catalog, key.columns);
  });
  if (lost == table.foreign_keys.end()) return program;
  const std::string key = lost->name;
  SchemaEdit edit(*program, command_);
  const std::string text = edit.foreign_key_text(of, key);
  const std::unique_ptr<Program> without = edit.drop_foreign_key(of, key);
  return SchemaEdit(*without, command_).alter(parse(text).front());
}

SchemaEdit::Pieces::iterator SchemaEdit::find_foreign_key(Pieces& pieces, const TableDefinition& table,
                                                          const std::string& name) {
  auto nth = std::ranges::find(table.foreign_keys, name, &ForeignKey::name) - table.foreign_keys.begin();
  const auto found = std::ranges::find_if(pieces, [&](const auto& each) {
    if (each->kind != Kind::kAlteration || each->table != table.name) return false;
    const Definition parsed = std::move(parse(each->text).front());
    return parsed.alteration && parsed.alteration->kind == AlterationKind::kAddForeignKey && nth-- == 0;
  });
  CHECK(found != pieces.end());
  return found;
}

// Returns the text that adds the key once more, under the name that it has.
std::string SchemaEdit::foreign_key_text(const std::string& of, const std::string& name) const {
  const TableDefinition& table = *program_.catalog.find_table(of);
  const ForeignKey& key = *std::ranges::find(table.foreign_keys, name, &ForeignKey::name);
  const TableDefinition& referenced = program_.catalog.table(key.referenced);
  const auto list = [](const TableDefinition& has, const std::vector<ColumnId>& columns) {
    std::string text;
    for (const ColumnId column : columns)
      text += (text.empty() ? "" : ", ") + written_name(has.column(column).name);
    return text;
  };
  constexpr const char* kActions[] = {"NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"};
  return fmt::format(
      "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {} ON UPDATE {}{}{}",
      written_name(of), written_name(name), list(table, key.columns), written_name(referenced.name),
      list(referenced, key.referenced_columns), kActions[static_cast<size_t>(key.on_delete)],
      kActions[static_cast<size_t>(key.on_update)], key.deferrable ? " DEFERRABLE" : "",
      key.deferred ? " INITIALLY DEFERRED" : "");
}

// Its piece of the source gets the new name, as it is taken out with the key.
std::unique_ptr<Program> SchemaEdit::rename_foreign_key(const syntax::Alteration& alteration,
                                                        const TableDefinition& table) {
  Catalog catalog = program_.catalog;
  try {
    bind_alteration(alteration, catalog);
  } catch (const SourceError& error) {
    throw Refusal{failure_of(error)};
  }
  Pieces pieces = pieces_of(program_.source);
  const auto piece = find_foreign_key(pieces, table, alteration.changed.text);
  const Definition former = std::move(parse((*piece)->text).front());
  SourceText one;
  one.add(
      parse(fmt::format("ALTER TABLE {} ADD CONSTRAINT {} {}", written_name(former.alteration->table.text),
                        written_name(alteration.new_name.text), former.alteration->constraint_text))
          .front());
  SourcePiece renamed = one.pieces()[0];
  renamed.table = (*piece)->table;
  *piece = std::make_shared<const SourcePiece>(std::move(renamed));
  std::vector<char> users = users_of(table.id);
  add_users(std::ranges::find(table.foreign_keys, alteration.changed.text, &ForeignKey::name)->referenced,
            users);
  return changed(std::move(catalog), std::move(pieces), users);
}

std::unique_ptr<Program> SchemaEdit::rename_index(const IndexDefinition& index,
                                                  const syntax::Alteration& alteration) {
  const TableDefinition& table = program_.catalog.table(index.table);
  if (index.origin == IndexOrigin::kConstraint) {
    return append(parse(fmt::format("ALTER TABLE {} RENAME CONSTRAINT {} TO {}", written_name(table.name),
                                    written_name(bare_name(index.name)),
                                    written_name(bare_name(alteration.new_name.text))))
                      .front(),
                  table);
  }
  if (index.origin == IndexOrigin::kForeignKey) {
    refuse_change(sqlstate::kNotSupported,
                  "index \"{}\" has the name of the foreign key that made it; rename that", index.name);
  }
  Catalog catalog = program_.catalog;
  try {
    bind_alteration(alteration, catalog);
  } catch (const SourceError& error) {
    throw Refusal{failure_of(error)};
  }
  Pieces pieces = pieces_of(program_.source);
  const auto piece = find(pieces, Kind::kIndex, index.name);
  CHECK(piece != pieces.end());
  SourceText one;
  one.add(renamed_index(parse((*piece)->text).front(), alteration.new_name.text));
  SourcePiece renamed = one.pieces()[0];
  renamed.table = (*piece)->table;
  *piece = std::make_shared<const SourcePiece>(std::move(renamed));
  return changed(std::move(catalog), std::move(pieces), users_of(table.id));
}

std::unique_ptr<Program> SchemaEdit::alter_sequence(const Definition& made) {
  const syntax::Sequence& sequence = *made.sequence;
  const TableDefinition* table = program_.catalog.find_table(sequence.name.text);
  if (table == nullptr && sequence.if_exists) {
    notify(fmt::format("relation \"{}\" does not exist, skipping", sequence.name.text));
    return nullptr;
  }
  if (table == nullptr)
    refuse_change(sqlstate::kUndefinedTable, "relation \"{}\" does not exist", sequence.name.text);
  if (!is_sequence(*table))
    refuse_change(sqlstate::kWrongObject, "\"{}\" is not a sequence", sequence.name.text);
  Catalog catalog = program_.catalog;
  try {
    bind_sequence(sequence, catalog);
  } catch (const SourceError& error) {
    throw Refusal{failure_of(error)};
  }
  if (sequence.restarts) catalog.empty(table->id);
  Pieces pieces = pieces_of(program_.source);
  // The options and the owner are pieces of their own. A former owner may be gone.
  const auto add = [&](const syntax::Sequence& part, bool owns) {
    std::erase_if(pieces, [&](const auto& each) {
      if (each->kind != Kind::kAlteration || each->table != sequence.name.text) return false;
      const Definition parsed = std::move(parse(each->text).front());
      if (!parsed.sequence) return false;
      return owns ? parsed.sequence->is_owned : restarts_alone(*parsed.sequence) && restarts_alone(part);
    });
    SourceText one;
    one.add(parse(print_sequence(part)).front());
    pieces.push_back(one.pieces().shared(0));
  };
  syntax::Sequence options = sequence;
  options.is_owned = false;
  if (print_sequence(options) != print_sequence(altered_sequence(sequence.name))) add(options, false);
  if (sequence.is_owned) {
    syntax::Sequence owner = altered_sequence(sequence.name);
    owner.is_owned = true;
    owner.owner = sequence.owner;
    owner.owner_column = sequence.owner_column;
    add(owner, true);
  }
  return changed(std::move(catalog), std::move(pieces), std::vector<char>(program_.procedures.size()));
}

}  // namespace mneme
