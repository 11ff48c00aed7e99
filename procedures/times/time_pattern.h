// Time pattern: what a template of to_char(), to_timestamp() or to_date() is made of, as 'YYYY' or 'Month'.
//
// Source      PostgreSQL 15, section 9.8, table 9.31 (template patterns for date/time formatting).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mneme {

enum class TimeField {
  kAdDotted,
  kAd,
  kAmDotted,
  kAm,
  kCentury,
  kDayName,
  kDayShort,
  kDayOfYear,
  kDayOfMonth,
  kDayOfWeek,
  kFraction,  // as many digits as the pattern says
  kFixed,     // FX says nothing of output
  kHour24,
  kHour12,
  kIsoDayOfYear,
  kIsoDayOfWeek,
  kIsoWeek,
  kIsoYear,
  kJulian,
  kMinute,
  kMonth,
  kMonthName,
  kMonthShort,
  kOffset,
  kQuarter,
  kRoman,
  kSecondOfDay,
  kSecond,
  kZoneHour,
  kZoneMinute,
  kZone,
  kWeekOfYear,
  kWeekOfMonth,
  kYearWithComma,
  kYear,
};

struct TimePattern {
  std::string_view text;  // in capitals; it may be written in small letters, too
  TimeField field;
  size_t digits = 0;
};

inline constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                               "May",       "June",     "July",     "August",
                                               "September", "October",  "November", "December"};
inline constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                             "Thursday", "Friday", "Saturday"};
inline constexpr std::string_view kRomanMonths[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                                    "VII", "VIII", "IX",  "X",  "XI", "XII"};

enum class Letters { kCapital, kUpper, kLower };
// A name in these letters; the name itself begins with a capital.
std::string spelled(std::string_view name, Letters letters);

// Whether the field is a name, which may begin with a capital.
bool is_named_field(TimeField field);

// A pattern as it stands in the template.
struct FoundPattern {
  const TimePattern* pattern;
  Letters letters;
};

// The pattern that the rest of a template begins with. Returns nullopt if it begins with none.
std::optional<FoundPattern> find_pattern(std::string_view rest);

}  // namespace mneme
