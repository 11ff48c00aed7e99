// Groups: GROUP BY and the aggregates: rows become one for each key. Private to the runner.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "procedures/query/query_runner.h"

namespace mneme::query {

class Groups {
 public:
  Groups(QueryRunner& runner, const SelectPlan& plan)
      : runner_(runner), plan_(plan), keys_(plan.keys.size()) {}

  // The row at hand. False: the run has failed.
  [[nodiscard]] bool add();
  // After the last row, for each group in the order in which they came up: the context's row 0 and aggregates
  // are the group's while it is visited.
  [[nodiscard]] bool visit(FunctionRef<bool()> visit);

 private:
  struct State {
    uint64_t count = 0;  // of values that are not NULL; of rows for count(*)
    int128 exact_sum = 0;
    Value value;
    std::string text;
    std::unordered_set<std::string> distinct;
    // With ORDER BY: the keys, then the argument and the separator.
    std::unique_ptr<RowStore> rows;
  };

  bool add_row(const Aggregate& aggregate, State& state);
  bool add_value(const Aggregate& aggregate, State& state, const Value& value, const Value& separator);
  bool sum(const Aggregate& aggregate, State& state, const Value& value);
  bool finish(const Aggregate& aggregate, State& state, Value& result);
  bool add_in_order(const Aggregate& aggregate, State& state);
  std::vector<State>& new_group();

  QueryRunner& runner_;
  const SelectPlan& plan_;
  std::unordered_map<std::string, uint32_t> numbers_;
  RowStore keys_;
  std::vector<std::vector<State>> groups_;
};

}  // namespace mneme::query
