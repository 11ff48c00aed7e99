// OperationRunner's aggregates: all rows become one.

#include <algorithm>
#include <cmath>

#include "procedures/interpreter/operation_runner.h"
#include "procedures/times/interval.h"
#include "procedures/values/arithmetic.h"
#include "procedures/values/comparison.h"
#include "procedures/values/decimal.h"
#include "procedures/values/numeric.h"
#include "procedures/values/value_text.h"

namespace mneme {

using ir::Aggregate;
using ir::Operation;

void OperationRunner::begin_aggregates(const Operation& operation) {
  if (aggregates_.size() < operation.aggregates.size()) aggregates_.resize(operation.aggregates.size());
  for (AggregateState& aggregate : aggregates_) {
    aggregate.count = 0;
    aggregate.exact_sum = 0;
    aggregate.double_sum = 0;
    aggregate.extreme = Value::null();
    aggregate.distinct.clear();
  }
}

bool OperationRunner::select_aggregates(const Operation& operation, const Cut& cut, ResultRows& rows) {
  begin_aggregates(operation);
  if (!visit_rows(operation, [&] { return add_row(operation) && !operation.first_row_decides; }))
    return false;
  if (!finish_aggregates(operation)) return false;
  if (cut.skip > 0 || cut.take == 0) return true;
  state_.context.aggregates = aggregate_results_;
  rows.count = 1;
  return push_outputs(operation);
}

bool OperationRunner::add_row(const Operation& operation) {
  for (size_t i = 0; i < operation.aggregates.size(); ++i) {
    const Aggregate& aggregate = operation.aggregates[i];
    AggregateState& into = aggregates_[i];
    if (aggregate.kind == Aggregate::Kind::kCountRows) {
      ++into.count;
      continue;
    }
    Value value;
    if (!state_.value_of(*aggregate.argument, operation.where, value)) return false;
    if (value.is_null()) continue;
    if (aggregate.distinct) {
      into.distinct.push_back(value);
    } else if (!add_value(operation, aggregate, into, value)) {
      return false;
    }
  }
  return true;
}

bool OperationRunner::add_value(const Operation& operation, const Aggregate& aggregate, AggregateState& into,
                                const Value& value) {
  ++into.count;
  const Type& type = aggregate.argument->type;
  switch (aggregate.kind) {
    case Aggregate::Kind::kSum:
      if (type.is_floating()) {
        Value sum;
        if (!apply_arithmetic(ir::Op::kAdd, type, Value::of_double(into.double_sum), value, state_.arena, sum,
                              state_.context.error)) {
          return state_.raise(operation.where);
        }
        into.double_sum = sum.as_double();
        return true;
      }
      if (type.kind == TypeKind::kDecimal) {
        if (into.extreme.is_null()) {
          into.extreme = value;
          return true;
        }
        return apply_decimal(ir::Op::kAdd, into.extreme, value, state_.arena, into.extreme,
                             state_.context.error) ||
               state_.raise(operation.where);
      }
      if (type.kind == TypeKind::kInterval) {
        if (into.extreme.is_null()) {
          into.extreme = value;
          return true;
        }
        return apply_interval(ir::Op::kAdd, into.extreme, value, state_.arena, into.extreme,
                              state_.context.error) ||
               state_.raise(operation.where);
      }
      into.exact_sum += type.kind == TypeKind::kNumeric ? value.as_numeric() : int128{value.as_int()};
      if (has_digits(into.exact_sum, kMaxNumericPrecision)) return true;
      (void)out_of_range(aggregate.type, state_.arena, state_.context.error);
      return state_.raise(operation.where);
    case Aggregate::Kind::kMin:
    case Aggregate::Kind::kMax: {
      const auto order = into.extreme.is_null() ? std::strong_ordering::equal
                                                : compare_values(type.kind, value, into.extreme);
      // Equal numbers may be written differently: the longest counts, in whatever order a replay reads them.
      const bool is_longer =
          type.kind == TypeKind::kDecimal && order == 0 && value.digits() > into.extreme.digits();
      if (into.extreme.is_null() || is_longer ||
          (aggregate.kind == Aggregate::Kind::kMin ? order < 0 : order > 0))
        into.extreme = value;
      return true;
    }
    case Aggregate::Kind::kCount:
    case Aggregate::Kind::kCountRows:
      return true;
  }
  return true;
}

bool OperationRunner::finish_aggregates(const Operation& operation) {
  aggregate_results_.resize(operation.aggregates.size());
  for (size_t i = 0; i < operation.aggregates.size(); ++i) {
    const Aggregate& aggregate = operation.aggregates[i];
    AggregateState& state = aggregates_[i];
    if (aggregate.distinct) {
      const TypeKind kind = aggregate.argument->type.kind;
      std::sort(state.distinct.begin(), state.distinct.end(), [&](const Value& a, const Value& b) {
        const auto order = compare_values(kind, a, b);
        // The longest of equal numbers is kept.
        return order == 0 && kind == TypeKind::kDecimal ? a.digits() > b.digits() : order < 0;
      });
      const auto last =
          std::unique(state.distinct.begin(), state.distinct.end(),
                      [&](const Value& a, const Value& b) { return compare_values(kind, a, b) == 0; });
      for (auto value = state.distinct.begin(); value != last; ++value) {
        if (!add_value(operation, aggregate, state, *value)) return false;
      }
    }
    switch (aggregate.kind) {
      case Aggregate::Kind::kCountRows:
      case Aggregate::Kind::kCount:
        aggregate_results_[i] = Value::of_int(static_cast<int64_t>(state.count));
        break;
      case Aggregate::Kind::kSum:
        if (!finish_sum(operation, aggregate, state, aggregate_results_[i])) return false;
        break;
      case Aggregate::Kind::kMin:
      case Aggregate::Kind::kMax:
        aggregate_results_[i] = state.extreme;
        break;
    }
  }
  return true;
}

bool OperationRunner::finish_sum(const Operation& operation, const Aggregate& aggregate,
                                 const AggregateState& state, Value& result) {
  if (state.count == 0) {
    result = Value::null();
    return true;
  }
  if (aggregate.type.kind == TypeKind::kInterval || aggregate.type.kind == TypeKind::kDecimal) {
    result = state.extreme;
  } else if (aggregate.type.is_floating()) {
    result = Value::of_double(state.double_sum);
  } else if (aggregate.type.kind == TypeKind::kNumeric) {
    result = Value::of_numeric(state.exact_sum);
  } else {
    const auto sum = static_cast<int64_t>(state.exact_sum);
    if (sum != state.exact_sum || !fits_integer(aggregate.type.kind, sum)) {
      (void)out_of_range(aggregate.type, state_.arena, state_.context.error);
      return state_.raise(operation.where);
    }
    result = Value::of_int(sum);
  }
  return true;
}

}  // namespace mneme
