// The mix: what text it accepts and refuses, and that it picks in the proportions that it was given.
#include "workloads/shared/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace mneme {
namespace {

using testing::HasSubstr;

constexpr std::array<MixShare, 3> kShares = {{{"buy", 70}, {"pay", 20}, {"look", 10}}};

TEST(Mix, DefaultHasTheGivenShares) {
  const Result<Mix> mix = Mix::parse("default", kShares);
  ASSERT_TRUE(mix.ok());
  EXPECT_EQ(mix->percent(0), 70u);
  EXPECT_EQ(mix->percent(1), 20u);
  EXPECT_EQ(mix->percent(2), 10u);
}

TEST(Mix, ProceduresThatAreNotNamedAreNotCalled) {
  const Result<Mix> mix = Mix::parse("look=25,buy=75", kShares);
  ASSERT_TRUE(mix.ok());
  EXPECT_EQ(mix->percent(0), 75u);
  EXPECT_EQ(mix->percent(1), 0u);
  EXPECT_EQ(mix->percent(2), 25u);
}

TEST(Mix, RefusesWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "names no procedure"},           {"sell=100", "names no procedure"},
      {"buy=50,buy=50", "names buy twice"}, {"buy=60,pay=30", "add up to 90"},
      {"buy=100,", "names no procedure"},   {"buy", "not NAME=PERCENT"},
      {"buy=", "not NAME=PERCENT"},         {"buy=1e2", "not NAME=PERCENT"},
      {"buy=-1", "not NAME=PERCENT"},       {"buy=101", "not NAME=PERCENT"},
  };
  for (const auto& [text, reason] : cases) {
    const Result<Mix> mix = Mix::parse(text, kShares);
    ASSERT_FALSE(mix.ok()) << text;
    EXPECT_THAT(mix.error().message, HasSubstr(reason)) << text;
  }
}

TEST(Mix, PicksInProportion) {
  const Result<Mix> mix = Mix::parse("buy=60,pay=0,look=40", kShares);
  ASSERT_TRUE(mix.ok());
  Random random({1});
  std::array<int, 3> picked{};
  for (int i = 0; i < 100'000; ++i) ++picked[mix->pick(random)];
  EXPECT_NEAR(picked[0], 60'000, 1'000);
  EXPECT_EQ(picked[1], 0);
  EXPECT_NEAR(picked[2], 40'000, 1'000);
}

TEST(Mix, PicksAmongTheOthersInProportion) {
  const Result<Mix> mix = Mix::parse("buy=60,pay=10,look=30", kShares);
  ASSERT_TRUE(mix.ok());
  Random random({1});
  std::array<int, 3> picked{};
  for (int i = 0; i < 100'000; ++i) ++picked[mix->pick_except(0, random)];
  EXPECT_EQ(picked[0], 0);
  EXPECT_NEAR(picked[1], 25'000, 1'000);
  EXPECT_NEAR(picked[2], 75'000, 1'000);
  picked = {};
  for (int i = 0; i < 100'000; ++i) ++picked[mix->pick_except(2, random)];
  EXPECT_NEAR(picked[0], 85'714, 1'000);
  EXPECT_EQ(picked[2], 0);
}

}  // namespace
}  // namespace mneme
