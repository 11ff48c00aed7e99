// Query functions that make times: of numbers, and of the clock.
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "procedures/catalog/query_functions.h"
#include "procedures/catalog/time_zone.h"
#include "procedures/times/interval.h"
#include "procedures/times/time_format.h"
#include "procedures/times/timestamp.h"

namespace mneme {

namespace {

// Years before 1 are those of BC; there is no year 0.
bool day_of_fields(QueryArguments fields, Arena& arena, int64_t& day, SqlError& error) {
  const int64_t written = fields[0].as_int();
  const int64_t year = written < 0 ? written + 1 : written;
  const int64_t month = fields[1].as_int();
  const int64_t day_of_month = fields[2].as_int();
  constexpr int64_t kLastYear = 9999;
  bool is_there = written != 0 && std::abs(year) <= kLastYear && month >= 1 && month <= 12 &&
                  day_of_month >= 1 && day_of_month <= 31;
  if (is_there) {
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(year)},
                                           std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day_of_month)}};
    is_there = date.ok();
    if (is_there) day = date_of_timestamp(timestamp_of(std::chrono::sys_days{date}));
  }
  return is_there || fail(error, arena, sqlstate::kDatetimeOverflow,
                          "date field value out of range: {}-{:02}-{:02}", written, month, day_of_month);
}

bool make_date(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  int64_t day = 0;
  if (!day_of_fields(arguments, arena, day, error)) return false;
  result = Value::of_int(day);
  return true;
}

bool make_time(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  int64_t day = 0;
  if (!day_of_fields(arguments, arena, day, error)) return false;
  const int64_t hour = arguments[3].as_int();
  const int64_t minute = arguments[4].as_int();
  const double second = arguments[5].as_double();
  const bool is_there = hour >= 0 && hour <= 24 && minute >= 0 && minute <= 59 && second >= 0 &&
                        second <= 60 && (hour < 24 || (minute == 0 && second == 0));
  if (!is_there) {
    return fail(error, arena, sqlstate::kDatetimeOverflow, "time field value out of range: {}:{:02}:{:02g}",
                hour, minute, second);
  }
  int64_t midnight = 0;
  const auto fraction = static_cast<int64_t>(std::rint(second * double{kMicrosecondsPerSecond}));
  const bool fits = timestamp_of_date(day, midnight);
  const int64_t time = midnight + (hour * 3600 + minute * 60) * kMicrosecondsPerSecond + fraction;
  if (!fits || !is_timestamp(time)) {
    return fail(error, arena, sqlstate::kDatetimeOverflow,
                "timestamp out of range: {}-{:02}-{:02} {}:{:02}:{:02g}", arguments[0].as_int(),
                arguments[1].as_int(), arguments[2].as_int(), hour, minute, second);
  }
  result = Value::of_int(time);
  return true;
}

bool make_time_of_day(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const int64_t hour = arguments[0].as_int();
  const int64_t minute = arguments[1].as_int();
  const double second = arguments[2].as_double();
  const bool is_there = hour >= 0 && hour <= 24 && minute >= 0 && minute <= 59 && second >= 0 &&
                        second <= 60 && (hour < 24 || (minute == 0 && second == 0));
  if (!is_there) {
    return fail(error, arena, sqlstate::kDatetimeOverflow, "time field value out of range: {}:{:02}:{:02g}",
                hour, minute, second);
  }
  const auto fraction = static_cast<int64_t>(std::rint(second * double{kMicrosecondsPerSecond}));
  result = Value::of_int((hour * 3600 + minute * 60) * kMicrosecondsPerSecond + fraction);
  return true;
}

bool to_timestamp_by_template(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  int64_t moment = 0;
  if (!scan_time(arguments[1].as_text(), arguments[0].as_text(), false, arena, moment, error)) return false;
  result = Value::of_int(moment);
  return true;
}

bool to_date_by_template(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  int64_t moment = 0;
  if (!scan_time(arguments[1].as_text(), arguments[0].as_text(), true, arena, moment, error)) return false;
  result = Value::of_int(date_of_timestamp(moment));
  return true;
}

// date_bin(step, time, origin)
bool date_bin(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const Interval step = interval_of(arguments[0]);
  if (step.months != 0) {
    return fail(error, arena, sqlstate::kNotSupported,
                "timestamps cannot be binned into intervals containing months or years");
  }
  int64_t length = 0;
  if (__builtin_mul_overflow(int64_t{step.days}, kMicrosecondsPerDay, &length) ||
      __builtin_add_overflow(length, step.microseconds, &length))
    return fail(error, arena, sqlstate::kDatetimeOverflow, "interval out of range");
  if (length <= 0) return fail(error, arena, sqlstate::kDatetimeOverflow, "stride must be greater than zero");
  const int64_t origin = arguments[2].as_int();
  const int64_t since = arguments[1].as_int() - origin;
  const int64_t rest = since % length;
  const int64_t first = origin + since - rest - (rest < 0 ? length : 0);
  if (!is_timestamp(first)) return fail(error, arena, sqlstate::kDatetimeOverflow, "timestamp out of range");
  result = Value::of_int(first);
  return true;
}

bool is_finite(std::span<const Value>, Arena&, Value& result, SqlError&) {
  result = Value::of_bool(true);
  return true;
}

template <int64_t (TimeZone::*Convert)(int64_t) const>
bool in_zone(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const std::string_view name = arguments[0].as_text();
  const std::shared_ptr<const TimeZone> zone = find_time_zone(name);
  if (!zone) return fail(error, arena, sqlstate::kInvalidParameter, "time zone \"{}\" not recognized", name);
  const int64_t time = (*zone.*Convert)(arguments[1].as_int());
  if (!is_timestamp(time)) return fail(error, arena, sqlstate::kDatetimeOverflow, "timestamp out of range");
  result = Value::of_int(time);
  return true;
}

// Seconds since 1970.
bool time_of_seconds(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const double seconds = arguments[0].as_double();
  if (std::isnan(seconds)) return fail(error, arena, sqlstate::kDatetimeOverflow, "timestamp cannot be NaN");
  constexpr double kEpoch = 946'684'800;
  constexpr double kMostSeconds = 1e12;
  const double from_epoch = std::rint((seconds - kEpoch) * double{kMicrosecondsPerSecond});
  const bool is_near = std::abs(seconds) < kMostSeconds;
  const int64_t time = is_near ? static_cast<int64_t>(from_epoch) : 0;
  if (!is_near || !is_timestamp(time))
    return fail(error, arena, sqlstate::kDatetimeOverflow, "timestamp out of range: \"{:g}\"", seconds);
  result = Value::of_int(time);
  return true;
}

bool time_of_clock(std::span<const Value>, Arena&, Value& result, SqlError&) {
  result = Value::of_int(current_timestamp());
  return true;
}

// One end of each pair may be NULL. PostgreSQL 15, overlaps_timestamp() in timestamp.c.
bool overlaps(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  struct Period {
    int64_t begin;
    std::optional<int64_t> end;
  };
  const auto period = [](const Value& a, const Value& b) -> std::optional<Period> {
    if (a.is_null() && b.is_null()) return std::nullopt;
    if (a.is_null() || b.is_null()) return Period{a.is_null() ? b.as_int() : a.as_int(), std::nullopt};
    return Period{std::min(a.as_int(), b.as_int()), std::max(a.as_int(), b.as_int())};
  };
  std::optional<Period> first = period(arguments[0], arguments[1]);
  std::optional<Period> second = period(arguments[2], arguments[3]);
  if (!first || !second) return true;
  if (first->begin == second->begin) {
    if (first->end && second->end) result = Value::of_bool(true);
    return true;
  }
  if (first->begin > second->begin) std::swap(first, second);
  // The first begins before the second.
  if (!first->end) return true;
  if (second->begin < *first->end) {
    result = Value::of_bool(true);
  } else if (second->end) {
    result = Value::of_bool(false);
  }
  return true;
}

constexpr QueryFunction kTimeFunctions[] = {
    {"mneme_overlaps",
     4,
     4,
     {types::kTimestamp, types::kTimestamp, types::kTimestamp, types::kTimestamp},
     types::kBoolean,
     overlaps,
     false},
    {"make_date", 3, 3, {types::kInt, types::kInt, types::kInt}, types::kDate, make_date},
    {"make_timestamp",
     6,
     6,
     {types::kInt, types::kInt, types::kInt, types::kInt, types::kInt, types::kDouble},
     types::kTimestamp,
     make_time},
    {"make_timestamptz",
     6,
     6,
     {types::kInt, types::kInt, types::kInt, types::kInt, types::kInt, types::kDouble},
     types::kZonedTimestamp,
     make_time},
    {"to_timestamp", 1, 1, {types::kDouble}, types::kZonedTimestamp, time_of_seconds},
    {"clock_timestamp", 0, 0, {}, types::kZonedTimestamp, time_of_clock, true, std::nullopt, false, true},
    {"make_time", 3, 3, {types::kInt, types::kInt, types::kDouble}, types::kTime, make_time_of_day},
    {"to_timestamp", 2, 2, {types::kText, types::kText}, types::kZonedTimestamp, to_timestamp_by_template},
    {"to_date", 2, 2, {types::kText, types::kText}, types::kDate, to_date_by_template},
    {"date_bin", 3, 3, {types::kInterval, types::kTimestamp, types::kTimestamp}, types::kTimestamp, date_bin},
    {"mneme_zoned_date_bin",
     3,
     3,
     {types::kInterval, types::kZonedTimestamp, types::kZonedTimestamp},
     types::kZonedTimestamp,
     date_bin},
    {"isfinite", 1, 1, {types::kTimestamp}, types::kBoolean, is_finite},
    {"mneme_interval_isfinite", 1, 1, {types::kInterval}, types::kBoolean, is_finite},
    {"mneme_clock_of_moment",
     2,
     2,
     {types::kText, types::kZonedTimestamp},
     types::kTimestamp,
     in_zone<&TimeZone::clock_of>},
    {"mneme_moment_of_clock",
     2,
     2,
     {types::kText, types::kTimestamp},
     types::kZonedTimestamp,
     in_zone<&TimeZone::moment_of>},
};

}  // namespace

std::span<const QueryFunction> time_query_functions() {
  return kTimeFunctions;
}

}  // namespace mneme
