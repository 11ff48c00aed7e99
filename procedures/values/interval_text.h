// Interval text: '1 year 2 mons -3 days 04:05:06.5', as PostgreSQL's interval_in reads it.
//
// Read are numbers with units (years to microseconds, in PostgreSQL's spellings), a time of day, a number
// alone, which counts seconds, and `ago`, which turns all signs. A part of a month or a longer unit, and ISO
// 8601's P1Y2M, are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mneme {

struct Interval {
  int64_t months = 0;
  int64_t days = 0;
  int64_t microseconds = 0;
};

enum class IntervalSyntax {
  kOk,
  kInvalid,
  kOutOfRange,
  kOtherForm,  // PostgreSQL reads it, as far as can be seen
};
IntervalSyntax parse_interval(std::string_view text, Interval& interval);

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
};
std::optional<TimeUnit> time_unit(std::string_view name);

}  // namespace mneme
