// Groups: GROUP BY and the aggregates: rows become one for each key. Private to the runner.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "procedures/query/aggregate_runner.h"
#include "procedures/query/query_runner.h"

namespace mneme::query {

class Groups {
 public:
  Groups(QueryRunner& runner, const SelectPlan& plan)
      : runner_(runner), plan_(plan), aggregates_(runner), keys_(plan.keys.size()) {}

  // The row at hand. False: the run has failed.
  [[nodiscard]] bool add();
  // After the last row, for each group in the order in which they came up: the context's row 0 and aggregates
  // are the group's while it is visited.
  [[nodiscard]] bool visit(FunctionRef<bool()> visit);

 private:
  // Adds the row at hand to its group in a set; `set`: of the plan's, and its keys.
  [[nodiscard]] bool add_to(size_t set, std::span<const uint32_t> keys, std::span<const Value> values);
  std::vector<AggregateState>& new_group(size_t set);
  Value grouping(const Aggregate& aggregate, size_t set) const;

  QueryRunner& runner_;
  const SelectPlan& plan_;
  AggregateRunner aggregates_;
  std::unordered_map<std::string, uint32_t> numbers_;
  RowStore keys_;
  std::vector<std::vector<AggregateState>> groups_;
  std::vector<uint32_t> sets_;  // by group
};

}  // namespace mneme::query
