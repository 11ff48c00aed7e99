// Timestamps and dates: microseconds and days since 2000-01-01 to and from ISO 8601 text, as PostgreSQL with
// DateStyle ISO has it.
//
// Read are PostgreSQL's ISO forms, of the years 1 to 9999: 2024-02-29 12:34:56.789 (or / or . in the date,
// 20240229, T, 123456; one-digit parts; the time, its seconds and their fraction may be left out), then AM or
// PM, and a time zone, which a timestamp without one ignores; and 'epoch'. What else PostgreSQL reads is
// refused as kOtherForm, never read differently.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace mneme {

inline constexpr int64_t kMicrosecondsPerSecond = 1'000'000;
inline constexpr int64_t kMicrosecondsPerDay = 86'400 * kMicrosecondsPerSecond;

void print_timestamp(int64_t microseconds, fmt::memory_buffer& out);

enum class TimestampSyntax {
  kOk,
  kInvalid,
  kOutOfRange,
  kZoneOutOfRange,
  kOtherForm,  // PostgreSQL reads it, as far as can be seen
};
// `text` without blanks around it.
TimestampSyntax parse_timestamp(std::string_view text, int64_t& microseconds);
// The moment: what the zone that the text names, or else UTC, shows as this time.
TimestampSyntax parse_moment(std::string_view text, int64_t& microseconds);

// Dates are days since 2000-01-01. They have PostgreSQL's range, and print as its dates do, with BC behind
// years before 1; read are those of the years 1 to 9999, by a timestamp's forms.
void print_date(int64_t days, fmt::memory_buffer& out);
TimestampSyntax parse_date(std::string_view text, int64_t& days);
bool is_date(int64_t days);

// Times of day are microseconds since midnight; 24:00:00 is the last. Read are a timestamp's forms of them,
// and 'allballs'; a day in front of the time, and a zone behind it, say nothing.
bool is_time_of_day(int64_t microseconds);
void print_time_of_day(int64_t microseconds, fmt::memory_buffer& out);
TimestampSyntax parse_time_of_day(std::string_view text, int64_t& microseconds);
// The time that so many microseconds, of any number of days, lead to from midnight on.
int64_t time_of_day(__int128 microseconds);

// The day's first moment.
int64_t timestamp_of(std::chrono::sys_days date);

// The day's first moment, where that is a timestamp; the day that a timestamp lies in.
bool timestamp_of_date(int64_t days, int64_t& microseconds);
int64_t date_of_timestamp(int64_t microseconds);

// With so many digits of a second, at most six; halves away from 2000-01-01.
int64_t round_timestamp(int64_t microseconds, int digits);

// The time now, in UTC.
int64_t current_timestamp();

// Whether a number of microseconds lies in the years 1 to 9999.
bool is_timestamp(int64_t microseconds);

}  // namespace mneme
