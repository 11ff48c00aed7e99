#include "procedures/interpreter/duplicate_key.h"

#include "procedures/parser/written_names.h"
#include "procedures/values/value_text.h"

namespace mneme {

bool fail_duplicate_key(const Schema& schema, const ir::Operation& operation, const KeyRefusal& refusal,
                        Arena& arena, SqlError& error) {
  const Catalog& catalog = schema.catalog();
  if (!refusal.index.valid()) {
    return fail(error, arena, sqlstate::kUnique, "duplicate key value violates a unique constraint of \"{}\"",
                catalog.table(operation.access[0].table).name);
  }
  const IndexDefinition& index = catalog.index(refusal.index);
  const TableDefinition& table = catalog.table(index.table);
  fmt::memory_buffer names;
  fmt::memory_buffer values;
  for (const ColumnId id : index.columns) {
    const char* const comma = names.size() == 0 ? "" : ", ";
    const Column& column = table.column(id);
    fmt::format_to(std::back_inserter(names), "{}{}", comma, shown_name(column.name));
    fmt::format_to(std::back_inserter(values), "{}", comma);
    print_value(column.type, schema.layout(table.id).get(refusal.image, id), values);
  }
  (void)fail(error, arena, sqlstate::kUnique, "duplicate key value violates unique constraint \"{}\"",
             index.name);
  const std::string detail =
      fmt::format("Key ({})=({}) already exists.", fmt::to_string(names), fmt::to_string(values));
  error.detail = arena.copy(detail);
  return false;
}

}  // namespace mneme
