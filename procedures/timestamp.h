// Timestamp: microseconds since 2000-01-01 00:00:00 to and from ISO 8601 text, as PostgreSQL with DateStyle ISO.
//
// Read are 2024-02-29 12:34:56.789 (the time, its seconds and their fraction may be left out; T may stand for the
// blank), years 1 to 9999. PostgreSQL reads many more forms: those are refused, never read differently.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace mneme {

void print_timestamp(int64_t microseconds, fmt::memory_buffer& out);

enum class TimestampSyntax { kOk, kInvalid, kOutOfRange };
// `text` without blanks around it.
TimestampSyntax parse_timestamp(std::string_view text, int64_t& microseconds);

// The time now, in UTC.
int64_t current_timestamp();

// Whether a number of microseconds lies in the years 1 to 9999.
bool is_timestamp(int64_t microseconds);

}  // namespace mneme
