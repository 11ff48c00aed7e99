// System rows: each system table's name, columns and rows. Private to the room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/schema/qualified_name.h"
#include "procedures/catalog/system_catalog.h"

namespace mneme {

// Makes the rows of one table, a column at a time; what is not set has the column's default. The name of an
// object in a schema of the user's (engine/schema/qualified_name.h) is set without it, and the schema, too.
class RowMaker {
 public:
  RowMaker(const Program& program, std::span<const query::Column> columns, std::span<const Value> defaults,
           FunctionRef<void(std::span<const Value>)> visit)
      : program_(program),
        columns_(columns),
        defaults_(defaults),
        row_(defaults.begin(), defaults.end()),
        visit_(visit) {}

  RowMaker& set(std::string_view column, int64_t value) { return put(column, Value::of_int(value)); }
  RowMaker& set(std::string_view column, double value) { return put(column, Value::of_double(value)); }
  RowMaker& set(std::string_view column, bool value) { return put(column, Value::of_bool(value)); }
  RowMaker& set(std::string_view column, std::string_view text) {
    if (text.starts_with(kSchemaBegin)) set_schema(column, schema_of(text));
    return put(column, Value::of_text(arena_.copy(bare_name(text))));
  }
  RowMaker& set(std::string_view column, const char* text) { return set(column, std::string_view(text)); }
  // The row is complete.
  void add() {
    visit_(row_);
    row_.assign(defaults_.begin(), defaults_.end());
  }

 private:
  RowMaker& put(std::string_view column, const Value& value);
  // The schema of the object whose name is in the column.
  void set_schema(std::string_view column, std::string_view schema);

  const Program& program_;
  const std::span<const query::Column> columns_;
  const std::span<const Value> defaults_;
  std::vector<Value> row_;
  Arena arena_;
  FunctionRef<void(std::span<const Value>)> visit_;
};

struct SystemTable {
  std::string schema;
  std::string name;
  std::vector<query::Column> columns;
  std::vector<Value> defaults;
  void (*rows)(const SystemCatalog& catalog, RowMaker& rows);  // nullptr: none
  int64_t oid = 0;

  // A function in FROM, which no catalog lists as a table: its name ends in ().
  bool is_function() const { return name.ends_with(')'); }
  // Its last column is tableoid then, which no * names.
  bool has_system_column() const { return schema == "pg_catalog" && !is_function(); }
  size_t count_columns() const { return columns.size() - (has_system_column() ? 1 : 0); }
};

// `columns`: their names, each with a colon and a letter. O: oid, o: number, b: boolean, t: text, n: a name,
// z: a time with its zone, f: a real, v: a vector of numbers, V: one of oids, w: an array of numbers, a: of
// texts. After = its value where no row says another; without it NULL.
SystemTable define_table(const char* schema, const char* name, std::string_view columns,
                         void (*rows)(const SystemCatalog&, RowMaker&) = nullptr);

// Returns all system tables. A table's number is its place here.
const std::vector<SystemTable>& system_tables();

std::string database_name(const SystemCatalog& catalog);
std::string owner_name(const SystemCatalog& catalog);

// Returns {1,2} for a key's columns, as they are counted from 1.
std::string column_numbers(const std::vector<ColumnId>& columns);
// Returns 1,2 as the vector 1 2.
std::string with_blanks(std::string text);

}  // namespace mneme
