// Time format: to_char() of a timestamp, by a template such as 'YYYY-MM-DD HH24:MI:SS'.
//
// Names       of months and days are English, as PostgreSQL has them where lc_time is C.
// Zone        `has_zone`: the time is UTC, and TZ says so; a timestamp without time zone has none to show.
// Source      PostgreSQL 15, section 9.8 (data type formatting functions).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mneme {

// `microseconds`: since 2000-01-01, in the years 1 to 9999.
std::string format_time(std::string_view format, int64_t microseconds, bool has_zone);

// The letters that stand behind a number: st, nd, rd or th. `digits` ends in the number's last two.
std::string_view ordinal_ending(std::string_view digits, bool is_upper);

}  // namespace mneme
