// Interval text: '1 year 2 mons -3 days 04:05:06.5', as PostgreSQL's interval_in reads it and, with
// IntervalStyle postgres, its interval_out prints it.
//
// Read are numbers with units (years to microseconds, in PostgreSQL's spellings), times of day, years-months
// as 1-2, a number alone, which counts seconds, `ago`, which turns all signs, and ISO 8601's P1Y2M3DT4H5M6S.
// Source      PostgreSQL 15, ParseDateTime(), DecodeInterval(), DecodeISO8601Interval() and EncodeInterval().
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "procedures/values/interval.h"

namespace mneme {

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
};
std::optional<TimeUnit> time_unit(std::string_view name);

// `last`: what a number without a unit at the text's end counts.
IntervalSyntax parse_interval(std::string_view text, Interval& interval, TimeUnit last = TimeUnit::kSecond);

void print_interval(const Interval& interval, fmt::memory_buffer& out);

}  // namespace mneme
