#include "procedures/query/grouping.h"

#include <algorithm>

namespace mneme::query {

std::vector<AggregateState>& Groups::new_group(size_t set) {
  sets_.push_back(static_cast<uint32_t>(set));
  return groups_.emplace_back(plan_.aggregates.size());
}

bool Groups::add() {
  std::vector<Value> values;
  for (const ir::Expr& expr : plan_.keys) {
    if (!runner_.value_of(expr, values.emplace_back())) return false;
  }
  if (plan_.grouping_sets.empty()) {
    std::vector<uint32_t> all(values.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return add_to(0, all, values);
  }
  for (size_t set = 0; set < plan_.grouping_sets.size(); ++set) {
    const std::vector<uint32_t>& keys = plan_.grouping_sets[set];
    std::vector<Value> own(values.size(), Value::null());
    for (const uint32_t key : keys) own[key] = values[key];
    if (!add_to(set, keys, own)) return false;
  }
  return true;
}

bool Groups::add_to(size_t set, std::span<const uint32_t> keys, std::span<const Value> values) {
  std::string key;
  if (!plan_.grouping_sets.empty()) append_key(TypeKind::kInt, Value::of_int(static_cast<int64_t>(set)), key);
  for (const uint32_t each : keys) append_key(plan_.keys[each].type.kind, values[each], key);
  const auto [place, is_new] = numbers_.try_emplace(std::move(key), static_cast<uint32_t>(groups_.size()));
  if (is_new) {
    if (!runner_.keep_row(keys_, values)) return false;
    if (!runner_.keep(place->first.size() + 64 + plan_.aggregates.size() * sizeof(AggregateState)))
      return false;
    new_group(set);
  }
  std::vector<AggregateState>& states = groups_[place->second];
  for (size_t i = 0; i < states.size(); ++i) {
    if (!aggregates_.add_row(plan_.aggregates[i], states[i])) return false;
  }
  return true;
}

bool Groups::visit(FunctionRef<bool()> visit) {
  // A set without keys has one group, also of no rows.
  if (groups_.empty()) {
    const auto add_empty = [&](size_t set) {
      keys_.add(std::vector<Value>(plan_.keys.size(), Value::null()), nullptr);
      new_group(set);
    };
    if (plan_.keys.empty() && plan_.grouping_sets.empty()) add_empty(0);
    for (size_t set = 0; set < plan_.grouping_sets.size(); ++set) {
      if (plan_.grouping_sets[set].empty()) add_empty(set);
    }
  }
  std::vector<Value> results(plan_.aggregates.size());
  for (size_t group = 0; group < groups_.size(); ++group) {
    for (size_t i = 0; i < results.size(); ++i) {
      const Aggregate& aggregate = plan_.aggregates[i];
      if (aggregate.kind == Aggregate::Kind::kGrouping) {
        results[i] = grouping(aggregate, sets_[group]);
      } else if (!aggregates_.finish(aggregate, groups_[group][i], results[i])) {
        return false;
      }
    }
    runner_.state_.context.rows[0] = {nullptr, nullptr, {}, keys_.row(group)};
    runner_.state_.context.aggregates = results;
    if (!visit()) return runner_.state_.outcome.completed();
  }
  return true;
}

// A bit for each argument, the first one's on top: 1 where the set is without it.
Value Groups::grouping(const Aggregate& aggregate, size_t set) const {
  int64_t bits = 0;
  for (const uint32_t key : aggregate.grouped_keys) {
    const bool is_there = plan_.grouping_sets.empty() ||
                          std::ranges::find(plan_.grouping_sets[set], key) != plan_.grouping_sets[set].end();
    bits = bits * 2 + (is_there ? 0 : 1);
  }
  return Value::of_int(bits);
}

}  // namespace mneme::query
