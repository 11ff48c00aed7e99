#include "procedures/query/grouping.h"

namespace mneme::query {

std::vector<AggregateState>& Groups::new_group() {
  return groups_.emplace_back(plan_.aggregates.size());
}

bool Groups::add() {
  std::string key;
  std::vector<Value> values;
  for (const ir::Expr& expr : plan_.keys) {
    if (!runner_.value_of(expr, values.emplace_back())) return false;
    append_key(expr.type.kind, values.back(), key);
  }
  const auto [place, is_new] = numbers_.try_emplace(std::move(key), static_cast<uint32_t>(groups_.size()));
  if (is_new) {
    if (!runner_.keep_row(keys_, values)) return false;
    if (!runner_.keep(place->first.size() + 64 + plan_.aggregates.size() * sizeof(AggregateState)))
      return false;
    new_group();
  }
  std::vector<AggregateState>& states = groups_[place->second];
  for (size_t i = 0; i < states.size(); ++i) {
    if (!aggregates_.add_row(plan_.aggregates[i], states[i])) return false;
  }
  return true;
}

bool Groups::visit(FunctionRef<bool()> visit) {
  if (groups_.empty() && plan_.keys.empty()) {
    keys_.add({}, nullptr);
    new_group();
  }
  std::vector<Value> results(plan_.aggregates.size());
  for (size_t group = 0; group < groups_.size(); ++group) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (!aggregates_.finish(plan_.aggregates[i], groups_[group][i], results[i])) return false;
    }
    runner_.state_.context.rows[0] = {nullptr, nullptr, {}, keys_.row(group)};
    runner_.state_.context.aggregates = results;
    if (!visit()) return runner_.state_.outcome.completed();
  }
  return true;
}

}  // namespace mneme::query
