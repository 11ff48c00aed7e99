#include <cmath>
#include <limits>

#include "procedures/times/interval.h"
#include "procedures/times/timestamp.h"

namespace mneme {

namespace {

using ir::Function;
using ir::Op;

bool out_of_interval(Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kDatetimeOverflow, "interval out of range");
}

// Rounds to microseconds, so that a product that should be a whole number is one.
double round_seconds(double seconds) {
  constexpr double kPerSecond = 1'000'000;
  return std::rint(seconds * kPerSecond) / kPerSecond;
}

bool fits_32_bits(double number) {
  return number >= std::numeric_limits<int32_t>::min() && number <= std::numeric_limits<int32_t>::max();
}

bool fits_64_bits(double number) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  return number >= -kLimit && number < kLimit;
}

// The interval times or by a number: `scaled` does it to a part.
template <typename Scaled>
bool scale_interval(const Interval& interval, Scaled&& scaled, Arena& arena, Value& result, SqlError& error) {
  constexpr double kSecondsPerDay = 86'400;
  const double months = scaled(interval.months);
  const double days = scaled(interval.days);
  if (!fits_32_bits(months) || !fits_32_bits(days)) return out_of_interval(arena, error);
  Interval whole{static_cast<int32_t>(months), static_cast<int32_t>(days), 0};
  const double more_days = round_seconds((months - whole.months) * double{kDaysPerMonth});
  double seconds =
      round_seconds((days - whole.days + more_days - static_cast<int>(more_days)) * kSecondsPerDay);
  int64_t all_days = whole.days;
  if (std::fabs(seconds) >= kSecondsPerDay) {
    const int carried = static_cast<int>(seconds / kSecondsPerDay);
    all_days += carried;
    seconds -= carried * kSecondsPerDay;
  }
  all_days += static_cast<int>(more_days);
  const double time = std::rint(scaled(static_cast<double>(interval.microseconds)) +
                                seconds * double{kMicrosecondsPerSecond});
  if (!fits_64_bits(time) || all_days != static_cast<int32_t>(all_days)) return out_of_interval(arena, error);
  whole.days = static_cast<int32_t>(all_days);
  whole.microseconds = static_cast<int64_t>(time);
  result = value_of(whole);
  return true;
}

// Moves whole months out of the days.
bool carry_months(Interval& interval) {
  const int32_t months = interval.days / static_cast<int32_t>(kDaysPerMonth);
  interval.days -= months * static_cast<int32_t>(kDaysPerMonth);
  return !__builtin_add_overflow(interval.months, months, &interval.months);
}

// Moves whole days out of the time.
bool carry_days(Interval& interval) {
  const auto days = static_cast<int32_t>(interval.microseconds / kMicrosecondsPerDay);
  interval.microseconds -= days * kMicrosecondsPerDay;
  return !__builtin_add_overflow(interval.days, days, &interval.days);
}

// Gives the days the sign of the months, and the time that of the days.
void agree_days(Interval& interval, bool looks_at_time) {
  constexpr auto kDays = static_cast<int32_t>(kDaysPerMonth);
  const bool time_is_below = looks_at_time && interval.days == 0 && interval.microseconds < 0;
  const bool time_is_above = looks_at_time && interval.days == 0 && interval.microseconds > 0;
  if (interval.months > 0 && (interval.days < 0 || time_is_below)) {
    interval.days += kDays;
    --interval.months;
  } else if (interval.months < 0 && (interval.days > 0 || time_is_above)) {
    interval.days -= kDays;
    ++interval.months;
  }
}
void agree_time(Interval& interval) {
  if (interval.days > 0 && interval.microseconds < 0) {
    interval.microseconds += kMicrosecondsPerDay;
    --interval.days;
  } else if (interval.days < 0 && interval.microseconds > 0) {
    interval.microseconds -= kMicrosecondsPerDay;
    ++interval.days;
  }
}

bool justify(Function function, Interval interval, Arena& arena, Value& result, SqlError& error) {
  if (function == Function::kJustifyHours) {
    if (!carry_days(interval)) return out_of_interval(arena, error);
    agree_time(interval);
  } else if (function == Function::kJustifyDays) {
    if (!carry_months(interval)) return out_of_interval(arena, error);
    agree_days(interval, false);
  } else {
    // Days and a time of one sign could overflow together.
    const bool have_one_sign =
        (interval.days > 0 && interval.microseconds > 0) || (interval.days < 0 && interval.microseconds < 0);
    if ((have_one_sign && !carry_months(interval)) || !carry_days(interval) || !carry_months(interval))
      return out_of_interval(arena, error);
    agree_days(interval, true);
    agree_time(interval);
  }
  result = value_of(interval);
  return true;
}

int128 extract_of_interval(TimeUnit unit, const Interval& interval) {
  constexpr int64_t kMinute = 60 * kMicrosecondsPerSecond;
  const int64_t years = interval.months / kMonthsPerYear;
  const int64_t months = interval.months % kMonthsPerYear;
  switch (unit) {
    case TimeUnit::kMicroseconds:
    case TimeUnit::kMilliseconds:
    case TimeUnit::kSecond:
      return interval.microseconds % kMinute;
    case TimeUnit::kMinute:
      return interval.microseconds / kMinute % 60;
    case TimeUnit::kHour:
      return interval.microseconds / (60 * kMinute);
    case TimeUnit::kDay:
      return interval.days;
    case TimeUnit::kMonth:
      return months;
    case TimeUnit::kQuarter:
      return months / 3 + 1;
    case TimeUnit::kYear:
      return years;
    case TimeUnit::kDecade:
      return years / 10;
    case TimeUnit::kCentury:
      return years / 100;
    case TimeUnit::kMillennium:
      return years / 1000;
    case TimeUnit::kEpoch: {
      // A year has 365.25 days here.
      constexpr int64_t kQuarterDay = kMicrosecondsPerDay / 4;
      const int64_t quarters = 1461 * years + 4 * kDaysPerMonth * months + int64_t{4} * interval.days;
      return int128{quarters} * kQuarterDay + interval.microseconds;
    }
    default:
      CHECK(false && "a unit of an interval");
      return 0;
  }
}

Interval truncate_interval(TimeUnit unit, const Interval& interval) {
  Interval cut = interval;
  const auto keep_time = [&](int64_t each) { cut.microseconds -= cut.microseconds % each; };
  const auto keep_months = [&](int32_t each) {
    cut.months -= cut.months % each;
    cut.days = 0;
    cut.microseconds = 0;
  };
  switch (unit) {
    case TimeUnit::kMicroseconds:
      break;
    case TimeUnit::kMilliseconds:
      keep_time(1000);
      break;
    case TimeUnit::kSecond:
      keep_time(kMicrosecondsPerSecond);
      break;
    case TimeUnit::kMinute:
      keep_time(60 * kMicrosecondsPerSecond);
      break;
    case TimeUnit::kHour:
      keep_time(3600 * kMicrosecondsPerSecond);
      break;
    case TimeUnit::kDay:
      cut.microseconds = 0;
      break;
    case TimeUnit::kMonth:
      keep_months(1);
      break;
    case TimeUnit::kQuarter:
      keep_months(3);
      break;
    case TimeUnit::kYear:
      keep_months(12);
      break;
    case TimeUnit::kDecade:
      keep_months(120);
      break;
    case TimeUnit::kCentury:
      keep_months(1200);
      break;
    case TimeUnit::kMillennium:
      keep_months(12'000);
      break;
    default:
      CHECK(false && "a unit that cuts an interval");
  }
  return cut;
}

bool make_interval(std::span<const Value> parts, Arena& arena, Value& result, SqlError& error) {
  const auto part = [&](size_t i) { return parts[i].as_int(); };
  const int64_t months = part(0) * kMonthsPerYear + part(1);
  const int64_t days = part(2) * 7 + part(3);
  const double seconds = std::rint(parts[6].as_double() * double{kMicrosecondsPerSecond});
  const int64_t minutes = part(4) * 60 + part(5);
  int64_t time = 0;
  if (months != static_cast<int32_t>(months) || days != static_cast<int32_t>(days) ||
      !fits_64_bits(seconds) ||
      __builtin_add_overflow(minutes * 60 * kMicrosecondsPerSecond, static_cast<int64_t>(seconds), &time))
    return out_of_interval(arena, error);
  result = value_of(Interval{static_cast<int32_t>(months), static_cast<int32_t>(days), time});
  return true;
}

}  // namespace

bool apply_interval(Op op, const Value& a, const Value& b, Arena& arena, Value& result, SqlError& error) {
  const Interval left = interval_of(a);
  const Interval right = interval_of(b);
  Interval sum;
  const bool overflows =
      op == Op::kAdd ? __builtin_add_overflow(left.months, right.months, &sum.months) ||
                           __builtin_add_overflow(left.days, right.days, &sum.days) ||
                           __builtin_add_overflow(left.microseconds, right.microseconds, &sum.microseconds)
                     : __builtin_sub_overflow(left.months, right.months, &sum.months) ||
                           __builtin_sub_overflow(left.days, right.days, &sum.days) ||
                           __builtin_sub_overflow(left.microseconds, right.microseconds, &sum.microseconds);
  if (overflows) return out_of_interval(arena, error);
  result = value_of(sum);
  return true;
}

bool negate_interval(const Value& a, Arena& arena, Value& result, SqlError& error) {
  return apply_interval(Op::kSubtract, value_of(Interval()), a, arena, result, error);
}

bool multiply_interval(const Value& interval, double factor, Arena& arena, Value& result, SqlError& error) {
  return scale_interval(
      interval_of(interval), [&](double part) { return part * factor; }, arena, result, error);
}

bool divide_interval(const Value& interval, double divisor, Arena& arena, Value& result, SqlError& error) {
  if (divisor == 0) return fail(error, arena, sqlstate::kDivisionByZero, "division by zero");
  return scale_interval(
      interval_of(interval), [&](double part) { return part / divisor; }, arena, result, error);
}

bool apply_interval_function(Function function, std::span<const Value> arguments, Arena& arena, Value& result,
                             SqlError& error) {
  switch (function) {
    case Function::kMakeInterval:
      return make_interval(arguments, arena, result, error);
    case Function::kExtract:
      result = Value::of_numeric(
          extract_of_interval(static_cast<TimeUnit>(arguments[1].as_int()), interval_of(arguments[0])));
      return true;
    case Function::kTruncateTime:
      result = value_of(
          truncate_interval(static_cast<TimeUnit>(arguments[1].as_int()), interval_of(arguments[0])));
      return true;
    case Function::kMultiplyInterval:
      return multiply_interval(arguments[0], arguments[1].as_double(), arena, result, error);
    case Function::kDivideInterval:
      return divide_interval(arguments[0], arguments[1].as_double(), arena, result, error);
    case Function::kJustifyDays:
    case Function::kJustifyHours:
    case Function::kJustifyInterval:
      return justify(function, interval_of(arguments[0]), arena, result, error);
    default:
      CHECK(false && "a function on intervals");
      return false;
  }
}

Value fit_interval(const Type& type, const Interval& interval) {
  constexpr int kMostDigits = 6;
  Interval fitted = interval;
  if (type.precision != 0) {
    int128 unit = 1;
    for (int digits = type.precision - 1; digits < kMostDigits; ++digits) unit *= 10;
    const int128 half = fitted.microseconds < 0 ? -(unit / 2) : unit / 2;
    const int128 rounded = (fitted.microseconds + half) / unit * unit;
    // Next to the ends of the range, where rounding would leave it, the time stays as it is.
    if (rounded == static_cast<int64_t>(rounded)) fitted.microseconds = static_cast<int64_t>(rounded);
  }
  return value_of(fitted);
}

}  // namespace mneme
