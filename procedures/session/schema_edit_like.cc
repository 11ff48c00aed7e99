// CREATE TABLE ... (LIKE table INCLUDING ...).
#include <algorithm>

#include "procedures/parser/parser.h"
#include "procedures/session/schema_edit.h"

namespace mneme {

namespace {

std::string names_of_columns(const TableDefinition& table, const std::vector<ColumnId>& columns) {
  std::string text;
  for (const ColumnId column : columns)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", table.column(column).name);
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
    std::string element = fmt::format("\"{}\" {}", column.name, to_string(column.type));
    if (!column.nullable) element += " NOT NULL";
    if (like.defaults && !column.initial.empty()) element += " DEFAULT " + column.initial;
    add(element);
  }
  if (like.constraints) {
    for (const CheckConstraint& check : table->checks)
      add(fmt::format("CONSTRAINT \"{}\" CHECK ({})", check.name, check.condition));
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
      indexes.push_back(
          fmt::format("CREATE {}INDEX ON \"{}\" ({})", index.unique ? "UNIQUE " : "", made, columns));
    }
  }
  return text;
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
    for (size_t n = 0; n < column.type.modifiers.size(); ++n)
      type += fmt::format("{}{}", n == 0 ? "(" : ",", column.type.modifiers[n]);
    if (!column.type.modifiers.empty()) type += ")";
    add(fmt::format("\"{}\" {}{}", column.name.text, type, column.not_null ? " NOT NULL" : ""));
  }
  try {
    std::unique_ptr<Program> program =
        create(parse(fmt::format("CREATE TABLE \"{}\" ({})", table.name.text, text)).front());
    for (const std::string& index : indexes)
      program = SchemaEdit(*program, command_).create(parse(index).front());
    return program;
  } catch (const SourceError& error) {
    refuse_uncompiled(error);
  }
}

}  // namespace mneme
