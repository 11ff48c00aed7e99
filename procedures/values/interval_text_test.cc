// Goal: texts of intervals are read and printed as PostgreSQL 15 does. Method: a table of texts and what
// PostgreSQL 15 makes of them, or its sqlstate.
#include "procedures/values/interval_text.h"

#include <gtest/gtest.h>

#include "procedures/values/comparison.h"
#include "procedures/values/value_text.h"

namespace mneme {
namespace {

constexpr Type kIntervalType{.kind = TypeKind::kInterval};

struct IntervalText {
  const char* text;
  const char* postgresql;
};

constexpr IntervalText kIntervalTexts[] = {
    {"1 day", "1 day"},
    {"1 year 2 mons 3 days 04:05:06.5", "1 year 2 mons 3 days 04:05:06.5"},
    {"1-2", "1 year 2 mons"},
    {"-1-2 +3 -4:05:06", "-1 years -2 mons +3 days -04:05:06"},
    {"-1 day +02:00:00", "-1 days +02:00:00"},
    {"1 day ago", "-1 days"},
    {"0", "00:00:00"},
    {"1.5 months", "1 mon 15 days"},
    {"1.5 years", "1 year 6 mons"},
    {".5 day", "12:00:00"},
    {"1d2h", "1 day 02:00:00"},
    {"P1Y2M3DT4H5M6.5S", "1 year 2 mons 3 days 04:05:06.5"},
    {"P0001-02-03T04:05:06", "1 year 2 mons 3 days 04:05:06"},
    {"P00010203T040506", "1 year 2 mons 3 days 04:05:06"},
    {"-9223372036854775808 microseconds", "-2562047788:00:54.775808"},
    {"-2147483648 mons", "-178956970 years -8 mons"},
    {"", "22007"},
    {"1 nonsense", "22007"},
    {"-.5 day", "22007"},
    {"1 2 3", "22007"},
    {"p1y", "22007"},
    {"1-13", "22015"},
    {"1:60:00", "22015"},
    {"2147483648 days", "22015"},
    {"200000000 years", "22008"},
};

std::string printed(const Value& value) {
  fmt::memory_buffer text;
  print_value(kIntervalType, value, text);
  return {text.data(), text.size()};
}

TEST(IntervalText, IsReadAndPrintedAsPostgresqlDoes) {
  for (const IntervalText& each : kIntervalTexts) {
    Arena arena;
    SqlError error;
    Value value;
    const bool is_read = parse_value(kIntervalType, each.text, arena, value, error);
    EXPECT_EQ(is_read ? printed(value) : error.sqlstate, std::string(each.postgresql)) << each.text;
    if (!is_read) continue;
    Value again;
    ASSERT_TRUE(parse_value(kIntervalType, printed(value), arena, again, error)) << each.text;
    EXPECT_EQ(interval_of(again), interval_of(value)) << each.text;
  }
}

TEST(IntervalText, PartsOutliveTheirPacking) {
  const int32_t ends[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
  for (const int32_t months : ends) {
    for (const int32_t days : ends) {
      for (const int64_t time : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
        const Interval interval{months, days, time};
        EXPECT_EQ(interval_of(value_of(interval)), interval);
      }
    }
  }
}

TEST(IntervalText, AMonthEqualsThirtyDays) {
  const Value month = value_of(Interval{1, 0, 0});
  const Value days = value_of(Interval{0, 30, 0});
  EXPECT_NE(month.as_interval(), days.as_interval());
  EXPECT_EQ(compare_values(TypeKind::kInterval, month, days), std::strong_ordering::equal);
  EXPECT_LT(compare_values(TypeKind::kInterval, value_of(Interval{-1, 0, 0}), days), 0);
}

}  // namespace
}  // namespace mneme
