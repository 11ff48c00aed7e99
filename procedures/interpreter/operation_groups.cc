// OperationRunner's groups: the rows that agree in the keys of GROUP BY, or of DISTINCT, become one.
//
// Order       groups come in the order of their keys, or in the user's and then that of their keys, whatever
//             the order in which rows are found. A group's outputs are over the first of its rows: all of
//             them give the same.

#include <array>
#include <map>

#include "procedures/interpreter/operation_runner.h"
#include "procedures/values/comparison.h"

namespace mneme {

using ir::Operation;

bool OperationRunner::select_groups(const Operation& operation, const Cut& cut, ResultRows& rows) {
  struct Group {
    std::array<RowView, 2> first;
    std::vector<AggregateState> aggregates;
  };
  using Keys = std::vector<Value>;
  const auto comes_before = [&](const Keys& a, const Keys& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      const std::strong_ordering order =
          compare_for_order(operation.groups[i].type.kind, /*descending=*/false, a[i], b[i]);
      if (order != 0) return order < 0;
    }
    return false;
  };
  std::map<Keys, Group, decltype(comes_before)> groups(comes_before);
  Keys keys(operation.groups.size());
  const bool found = visit_rows(operation, [&] {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!state_.value_of(operation.groups[i], operation.where, keys[i])) return false;
    }
    auto group = groups.find(keys);
    if (group == groups.end()) {
      Keys kept = keys;
      for (size_t i = 0; i < kept.size(); ++i) kept[i] = state_.kept(operation.groups[i].type, keys[i]);
      begin_aggregates(operation);
      group = groups.emplace(std::move(kept), Group{state_.context.rows, aggregates_}).first;
    }
    aggregates_.swap(group->second.aggregates);
    const bool goes_on = add_row(operation);
    aggregates_.swap(group->second.aggregates);
    return goes_on;
  });
  if (!found || !state_.outcome.completed()) return false;
  for (auto& [key, group] : groups) {
    state_.context.rows = group.first;
    aggregates_.swap(group.aggregates);
    if (!push_group(operation, rows)) return false;
  }
  sort_rows(operation, cut, rows);
  return true;
}

// The group at hand becomes a row of its order's keys and its outputs, unless HAVING drops it.
bool OperationRunner::push_group(const Operation& operation, ResultRows& rows) {
  if (!finish_aggregates(operation)) return false;
  state_.context.aggregates = aggregate_results_;
  bool is_shown = true;
  if (operation.having && !evaluate_condition(*operation.having, state_.context, is_shown))
    return state_.raise(operation.where);
  if (!is_shown) return true;
  for (const ir::OrderKey& key : operation.order) {
    Value value;
    if (!state_.value_of(key.expr, operation.where, value)) return false;
    stack_.push_back(state_.kept(key.expr.type, value));
  }
  ++rows.count;
  return push_outputs(operation);
}

}  // namespace mneme
