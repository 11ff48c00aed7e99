#include "workloads/shared/consistency.h"

#include <vector>

#include "base/check.h"

namespace mneme {

void scan_columns(const RowSource& rows, std::string_view table,
                  std::initializer_list<std::string_view> columns,
                  FunctionRef<void(std::span<const Value>)> visit) {
  const TableDefinition* definition = rows.catalog().find_table(table);
  CHECK(definition != nullptr);
  std::vector<ColumnId> wanted;
  for (const std::string_view column : columns) {
    const std::optional<ColumnId> id = definition->find_column(column);
    CHECK(id.has_value());
    wanted.push_back(*id);
  }
  std::vector<Value> values(wanted.size());
  rows.scan(definition->id, [&](std::span<const Value> row) {
    for (size_t i = 0; i < wanted.size(); ++i) values[i] = row[wanted[i].value];
    visit(values);
  });
}

Check Condition::result() const {
  if (violations_ == 0) return {name_, true, fmt::format("{} case{}", cases_, cases_ == 1 ? "" : "s")};
  return {name_, false, fmt::format("{} of {} cases violate it; the first: {}", violations_, cases_, first_)};
}

std::string money(int128 hundredths) {
  const bool negative = hundredths < 0;
  const auto magnitude = static_cast<uint64_t>(negative ? -hundredths : hundredths);
  return fmt::format("{}{}.{:02}", negative ? "-" : "", magnitude / 100, magnitude % 100);
}

}  // namespace mneme
