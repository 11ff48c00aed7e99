// AggregateRunner's variances, and what looks at the values in their order.
//
// Source      PostgreSQL 15: numeric_stddev_internal() in numeric.c, float8_accum() and float8_regr_accum()
//             in float.c, and orderedsetaggs.c.
#include <cmath>
#include <limits>

#include "procedures/query/aggregate_runner.h"
#include "procedures/values/decimal.h"
#include "procedures/values/numeric.h"

namespace mneme::query {

namespace {

bool is_of_sample(Aggregate::Kind kind) {
  return kind == Aggregate::Kind::kVariance || kind == Aggregate::Kind::kDeviation;
}
bool is_root(Aggregate::Kind kind) {
  return kind == Aggregate::Kind::kDeviation || kind == Aggregate::Kind::kPopulationDeviation;
}

// The root of a number that is not negative, with as many digits after the point, rounded: a pair of digits
// at a time. Returns false where it has too many.
bool root_of(const Value& value, Value& root) {
  constexpr size_t kMostDigits = 70;
  const uint8_t scale = value.digits();
  std::string digits;
  for (int128 rest = value.as_numeric(); rest > 0; rest /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  digits.append(scale, '0');
  if (digits.size() % 2 != 0) digits.insert(digits.begin(), '0');
  if (digits.size() > kMostDigits) return false;
  int128 found = 0;
  int128 rest = 0;
  for (size_t i = 0; i < digits.size(); i += 2) {
    rest = rest * 100 + (digits[i] - '0') * 10 + (digits[i + 1] - '0');
    int next = 9;
    while ((found * 20 + next) * next > rest) --next;
    rest -= (found * 20 + next) * next;
    found = found * 10 + next;
  }
  if (rest > found) ++found;
  root = Value::of_decimal(found, scale);
  return true;
}

}  // namespace

bool AggregateRunner::add_to_variance(const Aggregate& aggregate, AggregateState& state, const Value& value) {
  const Type& type = aggregate.argument->type;
  if (type.is_floating()) {
    const double number = value.as_double();
    const auto count = static_cast<double>(state.count);
    const bool was_infinite = std::isinf(state.double_sum);
    state.double_sum += number;
    if (state.count > 1) {
      const double off = number * count - state.double_sum;
      state.deviations += off * off / (count * (count - 1));
      if (std::isinf(state.double_sum) || std::isinf(state.deviations)) {
        if (!was_infinite && !std::isinf(number)) {
          return runner_.state_.raise(aggregate.argument->where, sqlstate::kOutOfRange, "{}",
                                      "value out of range: overflow");
        }
        state.deviations = std::numeric_limits<double>::quiet_NaN();
      }
    } else if (!std::isfinite(number)) {
      state.deviations = std::numeric_limits<double>::quiet_NaN();
    }
    return true;
  }
  Value number = value;
  if (type.is_integer()) number = Value::of_decimal(value.as_int(), 0);
  if (type.kind == TypeKind::kNumeric) number = Value::of_decimal(value.as_numeric(), type.scale);
  RunState& run = runner_.state_;
  Value square;
  bool ok = apply_decimal(ir::Op::kMultiply, number, number, run.arena, square, run.context.error);
  if (state.count == 1) {
    state.value = number;
    state.squares = square;
  } else if (ok) {
    ok = apply_decimal(ir::Op::kAdd, state.value, number, run.arena, state.value, run.context.error) &&
         apply_decimal(ir::Op::kAdd, state.squares, square, run.arena, state.squares, run.context.error);
  }
  return ok || run.raise(aggregate.argument->where);
}

bool AggregateRunner::variance(const Aggregate& aggregate, AggregateState& state, Value& result) {
  const bool of_sample = is_of_sample(aggregate.kind);
  if (state.count < (of_sample ? 2 : 1)) return true;
  if (aggregate.argument->type.is_floating()) {
    const auto count = static_cast<double>(state.count);
    const double number = state.deviations / (of_sample ? count - 1 : count);
    result = Value::of_double(is_root(aggregate.kind) ? std::sqrt(number) : number);
    return true;
  }
  RunState& run = runner_.state_;
  SqlError& error = run.context.error;
  const auto rows = static_cast<int128>(state.count);
  const Value count = Value::of_decimal(rows, 0);
  const Value divisor = Value::of_decimal(rows * (of_sample ? rows - 1 : rows), 0);
  Value squared;
  Value times;
  bool ok = apply_decimal(ir::Op::kMultiply, state.value, state.value, run.arena, squared, error) &&
            apply_decimal(ir::Op::kMultiply, count, state.squares, run.arena, times, error) &&
            apply_decimal(ir::Op::kSubtract, times, squared, run.arena, result, error);
  if (ok && result.as_numeric() <= 0) {
    result = Value::of_decimal(0, 0);
    return true;
  }
  ok = ok && apply_decimal(ir::Op::kDivide, result, divisor, run.arena, result, error);
  if (!ok) return run.raise(aggregate.argument->where);
  if (!is_root(aggregate.kind) || root_of(result, result)) return true;
  return run.raise(aggregate.argument->where, sqlstate::kOutOfRange,
                   "{} has too many digits for numeric here; cast its argument to double precision",
                   "the standard deviation");
}

bool AggregateRunner::add_pair(const Aggregate& aggregate, AggregateState& state, double y, double x) {
  const auto count = static_cast<double>(state.count);
  const bool was_infinite = std::isinf(state.double_sum) || std::isinf(state.sum_of_y);
  state.double_sum += x;
  state.sum_of_y += y;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (state.count == 1) {
    if (!std::isfinite(x)) state.deviations = state.deviations_of_both = kNone;
    if (!std::isfinite(y)) state.deviations_of_y = state.deviations_of_both = kNone;
    return true;
  }
  const double off_x = x * count - state.double_sum;
  const double off_y = y * count - state.sum_of_y;
  const double scale = 1.0 / (count * (count - 1));
  state.deviations += off_x * off_x * scale;
  state.deviations_of_y += off_y * off_y * scale;
  state.deviations_of_both += off_x * off_y * scale;
  const bool overflows = std::isinf(state.double_sum) || std::isinf(state.deviations) ||
                         std::isinf(state.sum_of_y) || std::isinf(state.deviations_of_y) ||
                         std::isinf(state.deviations_of_both);
  if (!overflows) return true;
  if (!was_infinite && !std::isinf(x) && !std::isinf(y)) {
    return runner_.state_.raise(aggregate.argument->where, sqlstate::kOutOfRange, "{}",
                                "value out of range: overflow");
  }
  state.deviations = state.deviations_of_y = state.deviations_of_both = kNone;
  return true;
}

Value AggregateRunner::regression(const Aggregate& aggregate, const AggregateState& state) {
  using Regression = Aggregate::Regression;
  if (aggregate.regression == Regression::kCount) return Value::of_int(static_cast<int64_t>(state.count));
  if (state.count == 0) return Value::null();
  const auto count = static_cast<double>(state.count);
  const double xx = state.deviations;
  const double yy = state.deviations_of_y;
  const double xy = state.deviations_of_both;
  switch (aggregate.regression) {
    case Regression::kNone:
    case Regression::kCount:
      break;
    case Regression::kAverageX:
      return Value::of_double(state.double_sum / count);
    case Regression::kAverageY:
      return Value::of_double(state.sum_of_y / count);
    case Regression::kSumXX:
      return Value::of_double(xx);
    case Regression::kSumYY:
      return Value::of_double(yy);
    case Regression::kSumXY:
      return Value::of_double(xy);
    case Regression::kSlope:
      return xx == 0 ? Value::null() : Value::of_double(xy / xx);
    case Regression::kIntercept:
      return xx == 0 ? Value::null()
                     : Value::of_double((state.sum_of_y - state.double_sum * xy / xx) / count);
    case Regression::kFit:
      if (xx == 0) return Value::null();
      return Value::of_double(yy == 0 ? 1.0 : (xy * xy) / (xx * yy));
    case Regression::kCorrelation:
      return xx == 0 || yy == 0 ? Value::null() : Value::of_double(xy / std::sqrt(xx * yy));
    case Regression::kCovariance:
      return Value::of_double(xy / count);
    case Regression::kSampleCovariance:
      return state.count < 2 ? Value::null() : Value::of_double(xy / (count - 1));
  }
  return Value::null();
}

bool AggregateRunner::pick_in_order(const Aggregate& aggregate, AggregateState& state, Value& result) {
  if (!state.rows || state.rows->size() == 0) return true;
  const std::vector<uint32_t> order = sorted_rows(aggregate, state);
  const size_t at = aggregate.order.size();
  const auto value = [&](size_t row) { return state.rows->row(order[row])[at]; };
  if (aggregate.kind == Aggregate::Kind::kMode) {
    const TypeKind kind = aggregate.argument->type.kind;
    size_t most = 0;
    for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      std::string key;
      append_key(kind, value(begin), key);
      for (end = begin + 1; end < order.size(); ++end) {
        std::string other;
        append_key(kind, value(end), other);
        if (other != key) break;
      }
      if (end - begin <= most) continue;
      most = end - begin;
      result = value(begin);
    }
    return true;
  }
  const Value& given = state.rows->row(0)[at + 1];
  if (given.is_null()) return true;
  const double fraction = given.as_double();
  if (!(fraction >= 0 && fraction <= 1)) {
    return runner_.state_.raise(aggregate.separator->where, sqlstate::kOutOfRange,
                                "percentile value {} is not between 0 and 1", fraction);
  }
  const auto count = static_cast<double>(order.size());
  if (aggregate.kind == Aggregate::Kind::kPercentileDisc) {
    const auto row = static_cast<size_t>(std::ceil(fraction * count));
    result = value(row == 0 ? 0 : row - 1);
    return true;
  }
  const double place = fraction * (count - 1);
  if (std::floor(place) == place) {
    result = value(static_cast<size_t>(place));
    return true;
  }
  const double low = value(static_cast<size_t>(std::floor(place))).as_double();
  const double high = value(static_cast<size_t>(std::ceil(place))).as_double();
  result = Value::of_double(low + (place - std::floor(place)) * (high - low));
  return true;
}

}  // namespace mneme::query
