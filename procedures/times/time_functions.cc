#include "procedures/times/time_functions.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "procedures/times/timestamp.h"

namespace mneme {

namespace {

using ir::Function;
using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr sys_days kFirstDay = std::chrono::year{2000} / 1 / 1;
constexpr int64_t kJulianOfFirstDay = 2451545;
constexpr int64_t kCycleDays = 146'097;
constexpr int64_t kCycleYears = 400;

// A day by its year, month and day. Years are counted as astronomers do: 1 BC is 0.
struct Date {
  int64_t year;
  int month;
  int day;
};

// Years repeat after 400, and a year of std::chrono ends at 32767.
Date date_of(int64_t day) {
  const int64_t cycle = day / kCycleDays - (day % kCycleDays < 0 ? 1 : 0);
  const year_month_day date{kFirstDay + days{day - cycle * kCycleDays}};
  return {int{date.year()} + cycle * kCycleYears, static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day()))};
}

int64_t day_of(const Date& date) {
  const int64_t cycle = (date.year - 2000) / kCycleYears - ((date.year - 2000) % kCycleYears < 0 ? 1 : 0);
  const sys_days day{std::chrono::year{static_cast<int>(date.year - cycle * kCycleYears)} /
                     std::chrono::month{static_cast<unsigned>(date.month)} /
                     std::chrono::day{static_cast<unsigned>(date.day)}};
  return (day - kFirstDay).count() + cycle * kCycleDays;
}

int64_t days_in_month(int64_t year, int month) {
  const bool is_last = month == 12;
  return day_of({is_last ? year + 1 : year, is_last ? 1 : month + 1, 1}) - day_of({year, month, 1});
}

// 1: Monday.
int64_t iso_day_of_week(int64_t day) {
  return ((day + 5) % 7 + 7) % 7 + 1;
}

// The Monday of the first week that has most of its days in the year.
int64_t first_monday(int64_t year) {
  const int64_t fourth = day_of({year, 1, 4});
  return fourth - (iso_day_of_week(fourth) - 1);
}

int64_t iso_year_of(int64_t day) {
  const int64_t year = date_of(day).year;
  if (day < first_monday(year)) return year - 1;
  return day >= first_monday(year + 1) ? year + 1 : year;
}

// There is no year 0: before 1 is 1 BC, which counts as -1.
int64_t counted(int64_t year) {
  return year > 0 ? year : year - 1;
}

int64_t extract(TimeUnit unit, int64_t day, int64_t time, bool is_timestamp) {
  const Date date = date_of(day);
  const int64_t year = date.year;
  switch (unit) {
    case TimeUnit::kMicroseconds:
    case TimeUnit::kMilliseconds:
    case TimeUnit::kSecond:
      return time % (60 * kMicrosecondsPerSecond);
    case TimeUnit::kMinute:
      return time / (60 * kMicrosecondsPerSecond) % 60;
    case TimeUnit::kHour:
      return time / (3600 * kMicrosecondsPerSecond);
    case TimeUnit::kDay:
      return date.day;
    case TimeUnit::kWeek:
      return (day - first_monday(iso_year_of(day))) / 7 + 1;
    case TimeUnit::kMonth:
      return date.month;
    case TimeUnit::kQuarter:
      return (date.month - 1) / 3 + 1;
    case TimeUnit::kYear:
      return counted(year);
    case TimeUnit::kDecade:
      return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10);
    case TimeUnit::kCentury:
      return year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100);
    case TimeUnit::kMillennium:
      return year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000);
    case TimeUnit::kDayOfWeek:
      return iso_day_of_week(day) % 7;
    case TimeUnit::kIsoDayOfWeek:
      return iso_day_of_week(day);
    case TimeUnit::kDayOfYear:
      return day - day_of({year, 1, 1}) + 1;
    case TimeUnit::kIsoYear:
      return counted(iso_year_of(day));
    case TimeUnit::kEpoch: {
      const int64_t since = day - (sys_days{} - kFirstDay).count();
      return is_timestamp ? since * kMicrosecondsPerDay + time
                          : since * (kMicrosecondsPerDay / kMicrosecondsPerSecond);
    }
    case TimeUnit::kJulian:
      return day + kJulianOfFirstDay;
    case TimeUnit::kZone:
    case TimeUnit::kZoneHour:
    case TimeUnit::kZoneMinute:
      return 0;
  }
  CHECK(false && "no such unit");
  return 0;
}

// The first moment of the unit that the time lies in.
int64_t truncate(TimeUnit unit, int64_t day, int64_t time) {
  Date date = date_of(day);
  const auto of_time = [&](int64_t each) { return day * kMicrosecondsPerDay + time - time % each; };
  const auto of_years = [&](int64_t count) {
    return day_of({(date.year - 1) / count * count + 1, 1, 1}) * kMicrosecondsPerDay;
  };
  switch (unit) {
    case TimeUnit::kMicroseconds:
      return of_time(1);
    case TimeUnit::kMilliseconds:
      return of_time(1000);
    case TimeUnit::kSecond:
      return of_time(kMicrosecondsPerSecond);
    case TimeUnit::kMinute:
      return of_time(60 * kMicrosecondsPerSecond);
    case TimeUnit::kHour:
      return of_time(3600 * kMicrosecondsPerSecond);
    case TimeUnit::kDay:
      return day * kMicrosecondsPerDay;
    case TimeUnit::kWeek:
      return (day - (iso_day_of_week(day) - 1)) * kMicrosecondsPerDay;
    case TimeUnit::kMonth:
      return day_of({date.year, date.month, 1}) * kMicrosecondsPerDay;
    case TimeUnit::kQuarter:
      return day_of({date.year, (date.month - 1) / 3 * 3 + 1, 1}) * kMicrosecondsPerDay;
    case TimeUnit::kYear:
      return day_of({date.year, 1, 1}) * kMicrosecondsPerDay;
    case TimeUnit::kDecade:
      return day_of({date.year / 10 * 10, 1, 1}) * kMicrosecondsPerDay;
    case TimeUnit::kCentury:
      return of_years(100);
    case TimeUnit::kMillennium:
      return of_years(1000);
    default:
      CHECK(false && "a unit of date_trunc()");
      return 0;
  }
}

bool out_of_time(Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kDatetimeOverflow, "timestamp out of range");
}

// The months first, then the days, each on the calendar, then the rest.
bool move_time(int64_t day, int64_t time, int64_t months, int64_t more_days, int64_t microseconds,
               Arena& arena, Value& result, SqlError& error) {
  constexpr int64_t kMostMonths = 12 * 20'000;
  constexpr int64_t kMostDays = 366 * 20'000;
  if (months < -kMostMonths || months > kMostMonths || more_days < -kMostDays || more_days > kMostDays)
    return out_of_time(arena, error);
  if (months != 0) {
    Date date = date_of(day);
    const int64_t month = date.year * 12 + (date.month - 1) + months;
    date.year = month / 12 - (month % 12 < 0 ? 1 : 0);
    date.month = static_cast<int>(month - date.year * 12) + 1;
    date.day = static_cast<int>(std::min<int64_t>(date.day, days_in_month(date.year, date.month)));
    day = day_of(date);
  }
  int64_t moment = 0;
  if (__builtin_add_overflow((day + more_days) * kMicrosecondsPerDay + time, microseconds, &moment) ||
      !is_timestamp(moment))
    return out_of_time(arena, error);
  result = Value::of_int(moment);
  return true;
}

bool add_interval(int64_t day, int64_t time, std::span<const Value> interval, Arena& arena, Value& result,
                  SqlError& error) {
  const int64_t count = interval[3].as_int();
  int64_t months = 0;
  int64_t more_days = 0;
  int64_t microseconds = 0;
  if (__builtin_mul_overflow(interval[0].as_int(), count, &months) ||
      __builtin_mul_overflow(interval[1].as_int(), count, &more_days) ||
      __builtin_mul_overflow(interval[2].as_int(), count, &microseconds))
    return out_of_time(arena, error);
  return move_time(day, time, months, more_days, microseconds, arena, result, error);
}

// Whole days, and the rest, which has their sign.
Interval difference_of(int64_t later, int64_t earlier) {
  const int64_t microseconds = later - earlier;
  return {0, static_cast<int32_t>(microseconds / kMicrosecondsPerDay), microseconds % kMicrosecondsPerDay};
}

// Years, months and days on the calendar. A part below zero borrows from the next larger one: a month has the
// days of the earlier time's month.
Interval age_of(int64_t later, int64_t earlier) {
  const bool is_negative = later < earlier;
  if (is_negative) std::swap(later, earlier);
  const int64_t later_day = date_of_timestamp(later);
  const int64_t earlier_day = date_of_timestamp(earlier);
  const Date to = date_of(later_day);
  const Date from = date_of(earlier_day);
  int64_t microseconds =
      (later - later_day * kMicrosecondsPerDay) - (earlier - earlier_day * kMicrosecondsPerDay);
  int64_t days = to.day - from.day;
  int64_t months = (to.year - from.year) * 12 + (to.month - from.month);
  if (microseconds < 0) {
    microseconds += kMicrosecondsPerDay;
    --days;
  }
  while (days < 0) {
    days += days_in_month(from.year, from.month);
    --months;
  }
  const int sign = is_negative ? -1 : 1;
  return {static_cast<int32_t>(sign * months), static_cast<int32_t>(sign * days), sign * microseconds};
}

// An interval moves a time of day around the clock: its days and months count for nothing.
bool apply_to_time_of_day(Function function, int64_t time, std::span<const Value> arguments, Arena& arena,
                          Value& result, SqlError& error) {
  switch (function) {
    case Function::kExtract:
      result = Value::of_numeric(static_cast<TimeUnit>(arguments[1].as_int()) == TimeUnit::kEpoch
                                     ? time
                                     : extract(static_cast<TimeUnit>(arguments[1].as_int()), 0, time, true));
      return true;
    case Function::kAddInterval: {
      int64_t microseconds = 0;
      if (__builtin_mul_overflow(arguments[3].as_int(), arguments[4].as_int(), &microseconds))
        return fail(error, arena, sqlstate::kDatetimeOverflow, "interval out of range");
      result = Value::of_int(time_of_day(int128{time} + microseconds));
      return true;
    }
    case Function::kMoveTime:
      result = Value::of_int(time_of_day(int128{time} + interval_of(arguments[1]).microseconds));
      return true;
    case Function::kTimeDifference:
      result = value_of(Interval{0, 0, time - arguments[1].as_int()});
      return true;
    default:
      CHECK(false && "a function on times of day");
      return false;
  }
}

}  // namespace

bool apply_time_function(Function function, const Type& source, std::span<const Value> arguments,
                         Arena& arena, Value& result, SqlError& error) {
  const bool is_timestamp = source.kind == TypeKind::kTimestamp;
  const int64_t value = arguments[0].as_int();
  if (source.kind == TypeKind::kTime)
    return apply_to_time_of_day(function, value, arguments, arena, result, error);
  const int64_t day = is_timestamp ? date_of_timestamp(value) : value;
  const int64_t time = is_timestamp ? value - day * kMicrosecondsPerDay : 0;
  switch (function) {
    case Function::kExtract:
      result =
          Value::of_numeric(extract(static_cast<TimeUnit>(arguments[1].as_int()), day, time, is_timestamp));
      return true;
    case Function::kTruncateTime: {
      const int64_t first = truncate(static_cast<TimeUnit>(arguments[1].as_int()), day, time);
      // A decade, and a week, may begin before the year 1.
      if (!mneme::is_timestamp(first)) return out_of_time(arena, error);
      result = Value::of_int(first);
      return true;
    }
    case Function::kAddInterval:
      return add_interval(day, time, arguments.subspan(1), arena, result, error);
    case Function::kMoveTime: {
      const Interval interval = interval_of(arguments[1]);
      return move_time(day, time, interval.months, interval.days, interval.microseconds, arena, result,
                       error);
    }
    case Function::kTimeDifference:
      result = value_of(difference_of(value, arguments[1].as_int()));
      return true;
    case Function::kAge:
      result = value_of(age_of(value, arguments[1].as_int()));
      return true;
    default:
      CHECK(false && "a function on times");
      return false;
  }
}

uint8_t extracted_scale(TimeUnit unit, const Type& source) {
  switch (unit) {
    case TimeUnit::kSecond:
      return 6;
    case TimeUnit::kMilliseconds:
      return 3;
    case TimeUnit::kEpoch:
      return source.kind == TypeKind::kDate ? 0 : 6;
    default:
      return 0;
  }
}

bool is_extracted(TimeUnit unit, const Type& source) {
  if (source.kind == TypeKind::kInterval)
    return (unit <= TimeUnit::kMillennium && unit != TimeUnit::kWeek) || unit == TimeUnit::kEpoch;
  if (source.kind == TypeKind::kTime) return unit <= TimeUnit::kHour || unit == TimeUnit::kEpoch;
  if (unit >= TimeUnit::kZone) return source.is_zoned;
  // A timestamp's Julian day is a quotient.
  return source.kind == TypeKind::kTimestamp ? unit != TimeUnit::kJulian : unit > TimeUnit::kHour;
}

bool is_truncated(TimeUnit unit) {
  return unit <= TimeUnit::kMillennium;
}

}  // namespace mneme
