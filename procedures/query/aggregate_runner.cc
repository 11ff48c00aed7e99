#include "procedures/query/aggregate_runner.h"

#include <algorithm>

#include "procedures/times/interval.h"
#include "procedures/values/arithmetic.h"
#include "procedures/values/array_form.h"
#include "procedures/values/array_text.h"
#include "procedures/values/comparison.h"
#include "procedures/values/decimal.h"
#include "procedures/values/numeric.h"
#include "procedures/values/value_text.h"

namespace mneme::query {

void AggregateRunner::clear(AggregateState& state) {
  runner_.kept_bytes_ -= state.text.size();
  state = AggregateState();
}

bool AggregateRunner::can_remove(const Aggregate& aggregate) {
  switch (aggregate.kind) {
    case Aggregate::Kind::kCountRows:
    case Aggregate::Kind::kCount:
      return true;
    case Aggregate::Kind::kSum:
    case Aggregate::Kind::kAverage:
      return aggregate.argument->type.is_integer() || aggregate.argument->type.kind == TypeKind::kNumeric;
    default:
      return false;
  }
}

bool AggregateRunner::remove_row(const Aggregate& aggregate, AggregateState& state) {
  bool counts = true;
  if (!runner_.holds(aggregate.filter, counts)) return false;
  if (!counts) return true;
  Value value;
  if (aggregate.argument) {
    if (!runner_.value_of(*aggregate.argument, value)) return false;
    if (value.is_null()) return true;
  }
  if (--state.count == 0) {
    clear(state);
    return true;
  }
  if (aggregate.kind != Aggregate::Kind::kSum && aggregate.kind != Aggregate::Kind::kAverage) return true;
  const Type& type = aggregate.argument->type;
  if (type.is_integer()) {
    state.exact_sum -= value.as_int();
    return true;
  }
  const Value removed = Value::of_decimal(value.as_numeric(), type.scale);
  return apply_decimal(ir::Op::kSubtract, state.value, removed, runner_.state_.arena, state.value,
                       runner_.state_.context.error) ||
         runner_.state_.raise(aggregate.argument->where);
}

bool AggregateRunner::add_row(const Aggregate& aggregate, AggregateState& state) {
  bool counts = true;
  if (!runner_.holds(aggregate.filter, counts)) return false;
  if (!counts) return true;
  if (aggregate.kind == Aggregate::Kind::kCountRows) {
    ++state.count;
    return true;
  }
  if (aggregate.kind == Aggregate::Kind::kGrouping) return true;
  std::vector<Value> row;
  for (const RowOrder& key : aggregate.order) {
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

// avg() of reals adds them as doubles, and sum() as reals.
bool AggregateRunner::sum(const Aggregate& aggregate, AggregateState& state, const Value& value) {
  const Type& type = aggregate.argument->type;
  if (type.is_integer()) {
    state.exact_sum += value.as_int();
    return true;
  }
  Value added = value;
  const bool keeps_type = type.is_floating() || type.kind == TypeKind::kInterval;
  const Type& sum_type = type.kind == TypeKind::kReal && aggregate.kind == Aggregate::Kind::kAverage
                             ? Type{.kind = TypeKind::kDouble}
                         : keeps_type ? type
                                      : kDecimalType;
  if (type.kind == TypeKind::kNumeric) added = Value::of_decimal(value.as_numeric(), type.scale);
  if (state.count == 1) {
    state.value = added;
    return true;
  }
  return apply_arithmetic(ir::Op::kAdd, sum_type, state.value, added, runner_.state_.arena, state.value,
                          runner_.state_.context.error) ||
         runner_.state_.raise(aggregate.argument->where);
}

bool AggregateRunner::add_value(const Aggregate& aggregate, AggregateState& state, const Value& value,
                                const Value& separator) {
  ++state.count;
  const auto take = [&] {
    state.value = value;
    if (value.kind() != Value::Kind::kText) return true;
    state.value = Value::of_text(runner_.kept_.copy(value.as_text()));
    return runner_.keep(value.as_text().size());
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
                                          : compare_of_type(aggregate.argument->type, value, state.value);
      // Equal values may be written differently, as 1.0 and 1.00 or a day and 24 hours: PostgreSQL has the
      // last.
      const Type& type = aggregate.argument->type;
      const bool has_several_forms =
          type.kind == TypeKind::kDecimal || type.kind == TypeKind::kInterval || type.is_floating();
      if (state.count == 1 || (order == 0 && has_several_forms) ||
          (aggregate.kind == Aggregate::Kind::kMin ? order < 0 : order > 0))
        return take();
      return true;
    }
    case Aggregate::Kind::kEvery:
    case Aggregate::Kind::kAny: {
      const bool before = state.count > 1 ? state.value.as_bool() : aggregate.kind == Aggregate::Kind::kEvery;
      state.value = Value::of_bool(aggregate.kind == Aggregate::Kind::kEvery ? before && value.as_bool()
                                                                             : before || value.as_bool());
      return true;
    }
    case Aggregate::Kind::kBitAnd:
    case Aggregate::Kind::kBitOr:
    case Aggregate::Kind::kBitXor: {
      const int64_t before = state.count > 1 ? state.value.as_int() : value.as_int();
      const int64_t bits = value.as_int();
      state.value = Value::of_int(state.count == 1                             ? bits
                                  : aggregate.kind == Aggregate::Kind::kBitAnd ? before & bits
                                  : aggregate.kind == Aggregate::Kind::kBitOr  ? before | bits
                                                                               : before ^ bits);
      return true;
    }
    case Aggregate::Kind::kVariance:
    case Aggregate::Kind::kPopulationVariance:
    case Aggregate::Kind::kDeviation:
    case Aggregate::Kind::kPopulationDeviation:
      return add_to_variance(aggregate, state, value);
    case Aggregate::Kind::kRegression:
      if (!separator.is_null()) return add_pair(aggregate, state, value.as_double(), separator.as_double());
      --state.count;
      return true;
    case Aggregate::Kind::kPercentile:
    case Aggregate::Kind::kPercentileDisc:
    case Aggregate::Kind::kMode:
    case Aggregate::Kind::kGrouping:
      return true;
    case Aggregate::Kind::kConcatenation: {
      const size_t before = state.text.size();
      if (state.count > 1 && !separator.is_null()) state.text += separator.as_text();
      state.text += value.as_text();
      return runner_.keep(state.text.size() - before);
    }
    case Aggregate::Kind::kArray: {
      fmt::memory_buffer element;
      if (value.is_null()) {
        element.append(std::string_view("NULL"));
      } else {
        fmt::memory_buffer text;
        print_value(aggregate.argument->type, value, text);
        append_array_element({text.data(), text.size()}, element);
      }
      const size_t before = state.text.size();
      state.text += state.count > 1 ? "," : "";
      state.text.append(element.data(), element.size());
      return runner_.keep(state.text.size() - before);
    }
  }
  return true;
}

std::vector<uint32_t> AggregateRunner::sorted_rows(const Aggregate& aggregate,
                                                   const AggregateState& state) const {
  std::vector<uint32_t> order(state.rows->size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    for (size_t i = 0; i < aggregate.order.size(); ++i) {
      const RowOrder& key = aggregate.order[i];
      const Value& left = state.rows->row(a)[i];
      const Value& right = state.rows->row(b)[i];
      if (left.is_null() || right.is_null()) {
        if (left.is_null() == right.is_null()) continue;
        return left.is_null() == key.nulls_first;
      }
      const auto each = compare_of_type(key.expr.type, left, right);
      if (each != 0) return key.descending ? each > 0 : each < 0;
    }
    return false;
  });
  return order;
}

bool AggregateRunner::add_in_order(const Aggregate& aggregate, AggregateState& state) {
  if (!state.rows) return true;
  const size_t value = aggregate.order.size();
  for (const uint32_t row : sorted_rows(aggregate, state)) {
    if (!add_value(aggregate, state, state.rows->row(row)[value], state.rows->row(row)[value + 1]))
      return false;
  }
  return true;
}

bool AggregateRunner::finish(const Aggregate& aggregate, AggregateState& state, Value& result) {
  result = Value::null();
  if (aggregate.kind == Aggregate::Kind::kPercentile || aggregate.kind == Aggregate::Kind::kPercentileDisc ||
      aggregate.kind == Aggregate::Kind::kMode)
    return pick_in_order(aggregate, state, result);
  if (!add_in_order(aggregate, state)) return false;
  RunState& run = runner_.state_;
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
      if (type.is_floating()) {
        result = Value::of_double(result.as_double() / static_cast<double>(state.count));
        return true;
      }
      if (type.kind == TypeKind::kInterval) {
        return divide_interval(result, static_cast<double>(state.count), run.arena, result,
                               run.context.error) ||
               run.raise(aggregate.argument->where);
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
    case Aggregate::Kind::kVariance:
    case Aggregate::Kind::kPopulationVariance:
    case Aggregate::Kind::kDeviation:
    case Aggregate::Kind::kPopulationDeviation:
      return variance(aggregate, state, result);
    case Aggregate::Kind::kRegression:
      result = regression(aggregate, state);
      return true;
    case Aggregate::Kind::kPercentile:
    case Aggregate::Kind::kPercentileDisc:
    case Aggregate::Kind::kMode:
    case Aggregate::Kind::kGrouping:
      return true;
    case Aggregate::Kind::kMin:
    case Aggregate::Kind::kMax:
    case Aggregate::Kind::kEvery:
    case Aggregate::Kind::kAny:
    case Aggregate::Kind::kBitAnd:
    case Aggregate::Kind::kBitOr:
    case Aggregate::Kind::kBitXor:
      if (state.count > 0) result = state.value;
      return true;
  }
  return true;
}

}  // namespace mneme::query
