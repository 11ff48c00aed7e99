// Time format: to_char() of a timestamp or an interval, by a template such as 'YYYY-MM-DD HH24:MI:SS', and
// back: to_timestamp() and to_date().
//
// Names       of months and days are English, as PostgreSQL has them where lc_time is C.
// Zone        `has_zone`: the time is UTC, and TZ says so; a timestamp without time zone has none to show.
// Source      PostgreSQL 15, section 9.8 (data type formatting functions).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/memory/arena.h"
#include "procedures/ir/sql_error.h"
#include "procedures/times/interval.h"

namespace mneme {

// `microseconds`: since 2000-01-01, in the years 1 to 9999.
std::string format_time(std::string_view format, int64_t microseconds, bool has_zone);
// Fails for a pattern that intervals have nothing for, as a month's name.
[[nodiscard]] bool format_interval(std::string_view format, const Interval& interval, Arena& arena,
                                   std::string& text, SqlError& error);

// Reads a time by a template. `is_date`: of the day alone. What the template doesn't name is the first day of
// the year, and midnight; a template without a year is refused, as years here begin with 1.
[[nodiscard]] bool scan_time(std::string_view format, std::string_view text, bool is_date, Arena& arena,
                             int64_t& microseconds, SqlError& error);

// The letters that stand behind a number: st, nd, rd or th. `digits` ends in the number's last two.
std::string_view ordinal_ending(std::string_view digits, bool is_upper);

}  // namespace mneme
