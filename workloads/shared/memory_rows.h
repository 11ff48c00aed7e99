// MemoryRows: tables as plain vectors of rows, which tests fill from a population and then change as they
// like.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "workloads/shared/rows.h"
#include "workloads/shared/workload.h"

namespace mneme {

class MemoryRows : public RowSource {
 public:
  MemoryRows(const Catalog& catalog, const Workload& workload) : catalog_(catalog) {
    for (uint32_t part = 0; part < workload.part_count(); ++part) {
      workload.populate(part, [&](TableId table, std::span<const Value> row) { add(table, row); });
    }
  }

  const Catalog& catalog() const override { return catalog_; }
  void scan(TableId table, FunctionRef<void(std::span<const Value> row)> visit) const override {
    const auto rows = tables_.find(table.value);
    if (rows == tables_.end()) return;
    for (const std::vector<Value>& row : rows->second) visit(row);
  }

  std::vector<std::vector<Value>>& rows(std::string_view table) {
    return tables_[catalog_.find_table(table)->id.value];
  }
  size_t column(std::string_view table, std::string_view name) const {
    return catalog_.find_table(table)->find_column(name)->value;
  }

 private:
  void add(TableId table, std::span<const Value> row) {
    std::vector<Value>& copy = tables_[table.value].emplace_back(row.begin(), row.end());
    const std::vector<Column>& columns = catalog_.table(table).columns;
    for (size_t i = 0; i < copy.size(); ++i) {
      if (copy[i].is_null() || !columns[i].type.is_string()) continue;
      copy[i] = Value::of_text(texts_.emplace_back(copy[i].as_text()));
    }
  }

  const Catalog& catalog_;
  std::map<uint32_t, std::vector<std::vector<Value>>> tables_;
  std::deque<std::string> texts_;
};

}  // namespace mneme
