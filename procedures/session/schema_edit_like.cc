// CREATE TABLE ... (LIKE table INCLUDING ...).
#include <algorithm>

#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/session/schema_edit.h"

namespace mneme {

namespace {

std::string names_of_columns(const TableDefinition& table, const std::vector<ColumnId>& columns) {
  std::string text;
  for (const ColumnId column : columns)
    text += (text.empty() ? "" : ", ") + written_name(table.column(column).name);
  return text;
}

// What LIKE stands for among a table's elements. `indexes` gets those that are statements of their own.
std::string elements_of(const Catalog& catalog, const syntax::LikeTable& like, const std::string& made,
                        std::vector<std::string>& indexes) {
  const TableDefinition* table = catalog.find_table(like.table.text);
  if (table == nullptr || is_sequence(*table)) {
    refuse_change(sqlstate::kUndefinedTable, "relation \"{}\" does not exist, or is no table",
                  like.table.text);
  }
  std::string text;
  const auto add = [&](const std::string& element) { text += (text.empty() ? "" : ", ") + element; };
  for (const Column& column : table->columns) {
    if (!column.sequence.empty() && (like.defaults || like.identity)) {
      refuse_change(
          sqlstate::kNotSupported,
          "LIKE does not copy the sequence of column \"{}\"; leave INCLUDING DEFAULTS, IDENTITY and "
          "ALL out, and set the column's default",
          column.name);
    }
    std::string element = written_name(column.name) + " " + to_string(column.type);
    if (!column.nullable) element += " NOT NULL";
    if (like.defaults && !column.initial.empty()) element += " DEFAULT " + column.initial;
    if (like.generated && column.is_generated())
      element += fmt::format(" GENERATED ALWAYS AS ({}) STORED", column.generated);
    add(element);
  }
  if (like.constraints) {
    for (const CheckConstraint& check : table->checks)
      add(fmt::format("CONSTRAINT {} CHECK ({})", written_name(check.name), check.condition));
  }
  if (!like.indexes) return text;
  for (const IndexId id : table->indexes) {
    const IndexDefinition& index = catalog.index(id);
    if (index.columns.empty() || index.origin == IndexOrigin::kForeignKey) continue;
    const std::string columns = names_of_columns(*table, index.columns);
    if (table->primary_key == id) {
      add(fmt::format("PRIMARY KEY ({})", columns));
    } else if (index.origin == IndexOrigin::kConstraint) {
      add(fmt::format("UNIQUE ({})", columns));
    } else {
      indexes.push_back(fmt::format("CREATE {}INDEX ON {} ({}){}{}",
                                    index.unique || index.unique_in_part ? "UNIQUE " : "", written_name(made),
                                    columns, index.predicate.empty() ? "" : " WHERE ", index.predicate));
    }
  }
  return text;
}

std::vector<std::string> column_names_of(const TableDefinition& table, const IndexDefinition& index) {
  std::vector<std::string> names;
  for (const ColumnId column : index.columns) names.push_back(table.column(column).name);
  return names;
}

// The index that LIKE has made for one of the other table's; nullptr where there is none.
const IndexDefinition* copied_index(const Catalog& before, const IndexDefinition& index, const Catalog& after,
                                    const TableDefinition& made) {
  const TableDefinition& table = before.table(index.table);
  const std::vector<std::string> names = column_names_of(table, index);
  for (const IndexId id : made.indexes) {
    const IndexDefinition& each = after.index(id);
    const bool is_alike = each.unique == index.unique && each.predicate == index.predicate &&
                          each.origin == index.origin &&
                          (made.primary_key == id) == (table.primary_key == index.id);
    if (is_alike && column_names_of(made, each) == names) return &each;
  }
  return nullptr;
}

// INCLUDING COMMENTS: of columns, and of what else is copied, but for the constraints that keys are.
void copy_comments(const Program& before, const syntax::LikeTable& like, const std::string& name,
                   Program& after) {
  using Of = syntax::CommentOf;
  const TableDefinition& table = *before.catalog.find_table(like.table.text);
  const TableDefinition& made = *after.catalog.find_table(name);
  for (const Comment& each : before.comments) {
    Comment copy = each;
    if (each.of == Of::kIndex) {
      const IndexDefinition* index = before.catalog.find_index(each.object);
      const IndexDefinition* same = like.indexes && index->table == table.id
                                        ? copied_index(before.catalog, *index, after.catalog, made)
                                        : nullptr;
      if (same == nullptr) continue;
      copy.object = same->name;
    } else {
      const bool is_check =
          each.of == Of::kConstraint && like.constraints &&
          std::ranges::find(table.checks, each.part, &CheckConstraint::name) != table.checks.end();
      if (each.object != table.name || (each.of != Of::kColumn && !is_check)) continue;
      copy.object = name;
    }
    after.set_comment(copy);
  }
}

}  // namespace

std::unique_ptr<Program> SchemaEdit::create_like(const syntax::Definition& given) {
  const syntax::Table& table = *given.table;
  std::vector<std::string> indexes;
  std::string text;
  const auto add = [&](const std::string& elements) { text += (text.empty() ? "" : ", ") + elements; };
  const auto add_like = [&](size_t place) {
    for (const syntax::LikeTable& like : table.like) {
      if (like.place == place) add(elements_of(program_.catalog, like, table.name.text, indexes));
    }
  };
  if (!table.foreign_keys.empty() || !table.unique.empty() || table.primary_key || !table.checks.empty()) {
    refuse_change(sqlstate::kNotSupported,
                  "LIKE beside constraints is not supported; add them by ALTER TABLE ... ADD");
  }
  for (size_t i = 0; i <= table.columns.size(); ++i) {
    add_like(i);
    if (i == table.columns.size()) break;
    const syntax::ColumnDefinition& column = table.columns[i];
    if (column.is_serial || column.initial) {
      refuse_change(sqlstate::kNotSupported,
                    "LIKE beside columns with defaults is not supported; set them by ALTER TABLE");
    }
    std::string type = column.type.base;
    if (type.starts_with(kSchemaBegin)) type = written_name(type);
    for (size_t n = 0; n < column.type.modifiers.size(); ++n)
      type += fmt::format("{}{}", n == 0 ? "(" : ",", column.type.modifiers[n]);
    if (!column.type.modifiers.empty()) type += ")";
    add(fmt::format("{} {}{}", written_name(column.name.text), type, column.not_null ? " NOT NULL" : ""));
  }
  try {
    std::unique_ptr<Program> program =
        create(parse(fmt::format("CREATE TABLE {} ({})", written_name(table.name.text), text)).front());
    for (const std::string& index : indexes)
      program = SchemaEdit(*program, command_).create(parse(index).front());
    for (const syntax::LikeTable& like : table.like) {
      if (like.comments) copy_comments(program_, like, table.name.text, *program);
    }
    return program;
  } catch (const SourceError& error) {
    refuse_uncompiled(error);
  }
}

}  // namespace mneme
