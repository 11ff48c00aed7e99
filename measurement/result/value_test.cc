#include "measurement/result/value.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

using Json = nlohmann::ordered_json;

const Json kResult = {{"bytes", 6000},
                      {"seconds", 2.0},
                      {"name", "run"},
                      {"latency_us", {{"p50", 7.5}}},
                      {"schedules", {{{"cores", 1}}, {{"cores", 40}}}},
                      {"per_second", {1.0, 2.0}}};

TEST(Value, NamesAndNumbers) {
  EXPECT_EQ(*value_of("seconds", kResult), 2);
  EXPECT_EQ(*value_of("latency_us.p50", kResult), 7.5);
  EXPECT_EQ(*value_of("schedules.1.cores", kResult), 40);
  EXPECT_EQ(*value_of("1e-3", kResult), 1e-3);
}

TEST(Value, FromLeftToRightAndBrackets) {
  EXPECT_EQ(*value_of("1e-3 * bytes / seconds", kResult), 3);
  EXPECT_EQ(*value_of("1 + 2 * 3", kResult), 9);
  EXPECT_EQ(*value_of("1 + ( 2 * 3 )", kResult), 7);
  EXPECT_EQ(*value_of("100 - ( 100 * ( seconds / 4 ) )", kResult), 50);
  EXPECT_EQ(*value_of("seconds / ( 1 - 1 )", kResult), 0);
}

TEST(Value, WhatIsNoNumber) {
  for (const char* expression : {"", "nothing", "name", "latency_us", "schedules.2.cores", "seconds +",
                                 "seconds seconds", "( seconds", "seconds )", "seconds ^ 2"}) {
    EXPECT_FALSE(value_of(expression, kResult).ok()) << expression;
  }
}

TEST(Value, TellsWhichNumbersThereAre) {
  const auto told = [](const char* expression) { return value_of(expression, kResult).error().message; };
  EXPECT_EQ(told("second"),
            "the command's JSON has no number \"second\"; did you mean seconds? There are: bytes, seconds, "
            "latency_us.*");
  EXPECT_EQ(told("latency_us.p99"),
            "the command's JSON has no number \"latency_us.p99\"; did you mean latency_us.p50? There are in "
            "latency_us: p50");
  EXPECT_EQ(told("throughput"),
            "the command's JSON has no number \"throughput\"; there are: bytes, seconds, latency_us.*");
}

TEST(Value, NamesOfAnExpression) {
  EXPECT_EQ(*names_of_expression("100 * ( a.b / seconds ) + 2"),
            (std::vector<std::string>{"a.b", "seconds"}));
  EXPECT_FALSE(names_of_expression("a b").ok());
  EXPECT_FALSE(names_of_expression("( a").ok());
}

TEST(Value, Lists) {
  EXPECT_EQ(*list_of("per_second", kResult), (std::vector<double>{1, 2}));
  EXPECT_FALSE(list_of("schedules", kResult).ok());
  EXPECT_FALSE(list_of("seconds", kResult).ok());
}

TEST(Value, Spread) {
  const Spread odd = spread_of({3, 1, 2});
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 3);
  EXPECT_EQ(spread_of({4, 1}).median, 2.5);
}

}  // namespace
}  // namespace mneme
