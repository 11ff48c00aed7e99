// Interval: months, days and microseconds, each with its sign; its text, arithmetic and functions, as
// PostgreSQL has them.
//
// Order       by a linear estimate, in which a month has 30 days and a day 24 hours. So '1 mon' equals
//             '30 days', and prints otherwise: equal intervals may differ in bits.
// Text        as interval_in reads it, and interval_out prints it with IntervalStyle postgres: '1 year 2 mons
//             -3 days +04:05:06.5'. Read are numbers with units (years to microseconds, in PostgreSQL's
//             spellings), times of day, years-months as 1-2, a number alone, which counts seconds, `ago`,
//             which turns all signs, and ISO 8601's P1Y2M3DT4H5M6S.
// Errors      of arithmetic and functions, whose operands are never NULL: a part that overflows.
// Source      PostgreSQL 15, DecodeInterval(), DecodeISO8601Interval() and EncodeInterval() in datetime.c;
//             interval_pl(), interval_mul(), interval_div(), interval_justify_interval(),
//             interval_part_common(), interval_trunc() and make_interval() in timestamp.c.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

struct Interval {
  int32_t months = 0;
  int32_t days = 0;
  int64_t microseconds = 0;

  bool operator==(const Interval&) const = default;
};

inline constexpr int64_t kMonthsPerYear = 12;
inline constexpr int64_t kDaysPerMonth = 30;  // the estimate's

constexpr Value value_of(const Interval& interval) {
  const auto high = static_cast<uint64_t>(static_cast<uint32_t>(interval.months)) << 32 |
                    static_cast<uint32_t>(interval.days);
  return Value::of_interval(static_cast<int128>(static_cast<unsigned __int128>(high) << 64 |
                                                static_cast<uint64_t>(interval.microseconds)));
}

inline Interval interval_of(const Value& value) {
  const int128 parts = value.as_interval();
  return {static_cast<int32_t>(parts >> 96), static_cast<int32_t>(parts >> 64), static_cast<int64_t>(parts)};
}

// Returns the interval's length in microseconds by the estimate. Equal intervals have equal ones.
inline int128 estimate_of(const Interval& interval) {
  constexpr int64_t kDay = int64_t{86'400} * 1'000'000;
  return int128{interval.months * kDaysPerMonth + interval.days} * kDay + interval.microseconds;
}
inline int128 estimate_of_interval(const Value& value) {
  return estimate_of(interval_of(value));
}

// ---- text ----

enum class IntervalSyntax {
  kOk,
  kInvalid,
  kFieldOutOfRange,  // a part that is written
  kOutOfRange,       // the years and months together
};

// A unit by any of its names: of an interval, of extract() and of date_trunc().
enum class TimeUnit : uint8_t {
  kMicroseconds,
  kMilliseconds,
  kSecond,
  kMinute,
  kHour,
  kDay,
  kWeek,
  kMonth,
  kQuarter,
  kYear,
  kDecade,
  kCentury,
  kMillennium,
  // Only extract() knows these.
  kDayOfWeek,
  kIsoDayOfWeek,
  kDayOfYear,
  kIsoYear,
  kEpoch,
  kJulian,
  // A timestamp with time zone alone has these.
  kZone,
  kZoneHour,
  kZoneMinute,
};
std::optional<TimeUnit> time_unit(std::string_view name);

// `last`: what a number without a unit at the text's end counts.
IntervalSyntax parse_interval(std::string_view text, Interval& interval, TimeUnit last = TimeUnit::kSecond);

void print_interval(const Interval& interval, fmt::memory_buffer& out);

// ---- arithmetic and functions ----

// a op b for + and -.
[[nodiscard]] bool apply_interval(ir::Op op, const Value& a, const Value& b, Arena& arena, Value& result,
                                  SqlError& error);
[[nodiscard]] bool negate_interval(const Value& a, Arena& arena, Value& result, SqlError& error);

// What a factor leaves of a month goes to the days, and what it leaves of a day to the time.
[[nodiscard]] bool multiply_interval(const Value& interval, double factor, Arena& arena, Value& result,
                                     SqlError& error);
[[nodiscard]] bool divide_interval(const Value& interval, double divisor, Arena& arena, Value& result,
                                   SqlError& error);

// extract(interval, unit), whose numeric result has extracted_scale()'s digits; date_trunc(interval, unit);
// interval * double and interval / double; justify_days() and its like; make_interval() of seven numbers.
[[nodiscard]] bool apply_interval_function(ir::Function function, std::span<const Value> arguments,
                                           Arena& arena, Value& result, SqlError& error);

// The interval with as many digits of a second as the type keeps, halves away from zero.
Value fit_interval(const Type& type, const Interval& interval);

}  // namespace mneme
