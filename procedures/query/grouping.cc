#include "procedures/query/grouping.h"

#include <algorithm>

#include "procedures/values/arithmetic.h"
#include "procedures/values/array_text.h"
#include "procedures/values/comparison.h"
#include "procedures/values/decimal.h"
#include "procedures/values/numeric.h"
#include "procedures/values/value_text.h"

namespace mneme::query {

std::vector<Groups::State>& Groups::new_group() {
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
    if (!runner_.keep(place->first.size() + 64 + plan_.aggregates.size() * sizeof(State))) return false;
    new_group();
  }
  std::vector<State>& states = groups_[place->second];
  for (size_t i = 0; i < states.size(); ++i) {
    if (!add_row(plan_.aggregates[i], states[i])) return false;
  }
  return true;
}

bool Groups::add_row(const Aggregate& aggregate, State& state) {
  bool counts = true;
  if (!runner_.holds(aggregate.filter, counts)) return false;
  if (!counts) return true;
  if (aggregate.kind == Aggregate::Kind::kCountRows) {
    ++state.count;
    return true;
  }
  std::vector<Value> row;
  for (const ir::OrderKey& key : aggregate.order) {
    if (!runner_.value_of(key.expr, row.emplace_back())) return false;
  }
  Value value;
  Value separator;
  if (!runner_.value_of(*aggregate.argument, value)) return false;
  if (value.is_null() && aggregate.kind != Aggregate::Kind::kArray) return true;
  if (aggregate.separator && !runner_.value_of(*aggregate.separator, separator)) return false;
  if (aggregate.distinct) {
    std::string key;
    append_key(aggregate.argument->type.kind, value, key);
    if (!runner_.keep(key.size() + 64)) return false;
    if (!state.distinct.insert(std::move(key)).second) return true;
  }
  if (aggregate.order.empty()) return add_value(aggregate, state, value, separator);
  row.push_back(value);
  row.push_back(separator);
  if (!state.rows) state.rows = std::make_unique<RowStore>(row.size());
  return runner_.keep_row(*state.rows, row);
}

bool Groups::sum(const Aggregate& aggregate, State& state, const Value& value) {
  const Type& type = aggregate.argument->type;
  if (type.is_integer()) {
    state.exact_sum += value.as_int();
    return true;
  }
  Value added = value;
  const Type& sum_type = type.kind == TypeKind::kDouble ? type : kDecimalType;
  if (type.kind == TypeKind::kNumeric) added = Value::of_decimal(value.as_numeric(), type.scale);
  if (state.count == 1) {
    state.value = added;
    return true;
  }
  return apply_arithmetic(ir::Op::kAdd, sum_type, state.value, added, runner_.state_.arena, state.value,
                          runner_.state_.context.error) ||
         runner_.state_.raise(aggregate.argument->where);
}

bool Groups::add_value(const Aggregate& aggregate, State& state, const Value& value, const Value& separator) {
  ++state.count;
  const auto take = [&] {
    state.value =
        value.kind() == Value::Kind::kText ? Value::of_text(runner_.kept_.copy(value.as_text())) : value;
  };
  switch (aggregate.kind) {
    case Aggregate::Kind::kCountRows:
    case Aggregate::Kind::kCount:
      return true;
    case Aggregate::Kind::kSum:
    case Aggregate::Kind::kAverage:
      return sum(aggregate, state, value);
    case Aggregate::Kind::kMin:
    case Aggregate::Kind::kMax: {
      const auto order = state.count == 1 ? std::strong_ordering::equal
                                          : compare_values(aggregate.argument->type.kind, value, state.value);
      if (state.count == 1 || (aggregate.kind == Aggregate::Kind::kMin ? order < 0 : order > 0)) take();
      return true;
    }
    case Aggregate::Kind::kEvery:
    case Aggregate::Kind::kAny: {
      const bool before = state.count > 1 ? state.value.as_bool() : aggregate.kind == Aggregate::Kind::kEvery;
      state.value = Value::of_bool(aggregate.kind == Aggregate::Kind::kEvery ? before && value.as_bool()
                                                                             : before || value.as_bool());
      return true;
    }
    case Aggregate::Kind::kConcatenation:
      if (state.count > 1 && !separator.is_null()) state.text += separator.as_text();
      state.text += value.as_text();
      return runner_.keep(value.as_text().size());
    case Aggregate::Kind::kArray: {
      fmt::memory_buffer element;
      if (value.is_null()) {
        element.append(std::string_view("NULL"));
      } else {
        fmt::memory_buffer text;
        print_value(aggregate.argument->type, value, text);
        append_array_element({text.data(), text.size()}, element);
      }
      state.text += state.count > 1 ? "," : "";
      state.text.append(element.data(), element.size());
      return runner_.keep(element.size());
    }
  }
  return true;
}

bool Groups::add_in_order(const Aggregate& aggregate, State& state) {
  if (!state.rows) return true;
  std::vector<uint32_t> order(state.rows->size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    for (size_t i = 0; i < aggregate.order.size(); ++i) {
      const ir::OrderKey& key = aggregate.order[i];
      const auto each =
          compare_for_order(key.expr.type.kind, key.descending, state.rows->row(a)[i], state.rows->row(b)[i]);
      if (each != 0) return each < 0;
    }
    return false;
  });
  const size_t value = aggregate.order.size();
  for (const uint32_t row : order) {
    if (!add_value(aggregate, state, state.rows->row(row)[value], state.rows->row(row)[value + 1]))
      return false;
  }
  return true;
}

bool Groups::finish(const Aggregate& aggregate, State& state, Value& result) {
  if (!add_in_order(aggregate, state)) return false;
  RunState& run = runner_.state_;
  result = Value::null();
  switch (aggregate.kind) {
    case Aggregate::Kind::kCountRows:
    case Aggregate::Kind::kCount:
      result = Value::of_int(static_cast<int64_t>(state.count));
      return true;
    case Aggregate::Kind::kSum:
    case Aggregate::Kind::kAverage: {
      if (state.count == 0) return true;
      const Type& type = aggregate.argument->type;
      if (type.is_integer() && aggregate.type.kind == TypeKind::kBigInt) {
        const auto sum = static_cast<int64_t>(state.exact_sum);
        if (sum != state.exact_sum) {
          (void)out_of_range(aggregate.type, run.arena, run.context.error);
          return run.raise(aggregate.argument->where);
        }
        result = Value::of_int(sum);
        return true;
      }
      result = type.is_integer() ? Value::of_decimal(state.exact_sum, 0) : state.value;
      if (aggregate.kind == Aggregate::Kind::kSum) return true;
      if (type.kind == TypeKind::kDouble) {
        result = Value::of_double(result.as_double() / static_cast<double>(state.count));
        return true;
      }
      const Value count = Value::of_decimal(static_cast<int128>(state.count), 0);
      return apply_decimal(ir::Op::kDivide, result, count, run.arena, result, run.context.error) ||
             run.raise(aggregate.argument->where);
    }
    case Aggregate::Kind::kConcatenation:
      if (state.count > 0) result = Value::of_text(runner_.kept_.copy(state.text));
      return true;
    case Aggregate::Kind::kArray:
      if (state.count > 0) result = Value::of_text(runner_.kept_.copy("{" + state.text + "}"));
      return true;
    case Aggregate::Kind::kMin:
    case Aggregate::Kind::kMax:
    case Aggregate::Kind::kEvery:
    case Aggregate::Kind::kAny:
      if (state.count > 0) result = state.value;
      return true;
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
      if (!finish(plan_.aggregates[i], groups_[group][i], results[i])) return false;
    }
    runner_.state_.context.rows[0] = {nullptr, nullptr, {}, keys_.row(group)};
    runner_.state_.context.aggregates = results;
    if (!visit()) return runner_.state_.outcome.completed();
  }
  return true;
}

}  // namespace mneme::query
