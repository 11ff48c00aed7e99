// Goal: medians, intervals and probabilities are right.
//
// Method: small cases that can be counted by hand; another way to the same probability, by trying all ways to
// deal the ranks; simulated samples, by fixed seeds, of which it is known how often they must differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "measurement/statistics/bootstrap.h"
#include "measurement/statistics/median.h"
#include "measurement/statistics/rank_sum.h"
#include "measurement/statistics/signed_rank.h"
#include "measurement/statistics/trend.h"

namespace mneme {
namespace {

using Sample = std::vector<double>;

TEST(Median, IsTheMiddle) {
  Sample odd = {5, 1, 3};
  EXPECT_EQ(median_of(odd), 3);
  Sample even = {8, 1, 3, 4};
  EXPECT_EQ(median_of(even), 3.5);
  Sample one = {7};
  EXPECT_EQ(median_of(one), 7);
}

TEST(MedianInterval, HoldsTheMiddleOfResampledMedians) {
  EXPECT_FALSE(median_interval(Sample{3}).has_value());
  // More than 2.5% of all resamples of three values have the lowest as their median, and as many the highest.
  const auto three = median_interval(Sample{5, 1, 3});
  EXPECT_EQ(three->low, 1);
  EXPECT_EQ(three->high, 5);
  // The interval reaches about ten ranks to each side of the median: 1.96 times half the square root of 101.
  Sample many(101);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  const auto narrow = median_interval(many);
  EXPECT_NEAR(narrow->low, 40, 2);
  EXPECT_NEAR(narrow->high, 60, 2);
  const auto same = median_interval(many);
  EXPECT_EQ(narrow->low, same->low);
  EXPECT_EQ(narrow->high, same->high);
}

TEST(Trend, IsThatOfALine) {
  const Trend rising = trend_of(Sample{10, 12, 14, 16, 18, 20, 22, 24, 26, 28});
  EXPECT_DOUBLE_EQ(rising.slope, 2);
  EXPECT_DOUBLE_EQ(rising.change, 18.0 / 19);
  // All 45 pairs rise; the variance of the difference is 10 * 9 * 25 / 18 = 125.
  EXPECT_DOUBLE_EQ(rising.probability, std::erfc(44 / std::sqrt(250.0)));
  const Trend falling = trend_of(Sample{28, 26, 24, 22, 20, 18, 16, 14, 12, 10});
  EXPECT_DOUBLE_EQ(falling.slope, -2);
  EXPECT_DOUBLE_EQ(falling.probability, rising.probability);
}

TEST(Trend, IsNoneWithoutADifference) {
  EXPECT_EQ(trend_of(Sample{}).probability, 1);
  EXPECT_EQ(trend_of(Sample{3}).probability, 1);
  const Trend same = trend_of(Sample{7, 7, 7, 7, 7, 7});
  EXPECT_EQ(same.slope, 0);
  EXPECT_EQ(same.probability, 1);
  EXPECT_EQ(trend_of(Sample{0, 0, 0}).change, 0);
  // As many pairs rise as fall.
  EXPECT_EQ(trend_of(Sample{1, 3, 3, 1}).probability, 1);
}

TEST(Trend, IsNotMovedByOneValue) {
  const Trend outlier = trend_of(Sample{100, 101, 99, 100, 2, 101, 100, 99, 100, 101});
  EXPECT_LT(std::abs(outlier.change), 0.03);
  EXPECT_GT(outlier.probability, 0.3);
}

// The test finds a trend in about one of twenty series of mere noise, also where many values are equal.
TEST(Trend, IsFoundInNoiseAsOftenAsItSays) {
  std::mt19937 random(1);
  for (const bool is_coarse : {false, true}) {
    std::normal_distribution<double> noise(1000, is_coarse ? 2 : 50);
    int found = 0;
    constexpr int kSeries = 2000;
    for (int s = 0; s < kSeries; ++s) {
      Sample values(10);
      for (double& value : values) value = is_coarse ? std::round(noise(random)) : noise(random);
      found += trend_of(values).probability < 0.05 ? 1 : 0;
    }
    EXPECT_GT(found, kSeries * 2 / 100);
    EXPECT_LT(found, kSeries * 7 / 100);
  }
}

TEST(RankTest, CountsTheWaysToDealTheRanks) {
  // Six ranks can be dealt to two samples of three in 20 ways, and one of these ways gives these ranks.
  const RankTest apart = rank_test(Sample{1, 2, 3}, Sample{4, 5, 6});
  EXPECT_DOUBLE_EQ(apart.second_larger, 1.0 / 20);
  EXPECT_DOUBLE_EQ(apart.first_larger, 1);
  EXPECT_DOUBLE_EQ(apart.two_sided(), 0.1);
  EXPECT_DOUBLE_EQ(least_two_sided(3, 3), 0.1);
  EXPECT_DOUBLE_EQ(rank_test(Sample{4, 5, 6}, Sample{1, 2, 3}).first_larger, 1.0 / 20);
  EXPECT_DOUBLE_EQ(rank_test(Sample{2, 2, 2}, Sample{2, 2}).two_sided(), 1);
  EXPECT_DOUBLE_EQ(rank_test(Sample{1}, Sample{2}).two_sided(), 1);
}

double rank_in(const Sample& values, double value) {
  double rank = 0.5;
  for (const double each : values) rank += each < value ? 1 : each == value ? 0.5 : 0;
  return rank;
}

// By trying all choices of the first sample's values.
double tried_first_larger(const Sample& first, const Sample& second) {
  Sample all = first;
  all.insert(all.end(), second.begin(), second.end());
  const auto sum_of = [&](uint32_t chosen) {
    double sum = 0;
    for (size_t i = 0; i < all.size(); ++i) sum += (chosen >> i & 1) != 0 ? rank_in(all, all[i]) : 0;
    return sum;
  };
  const double observed = sum_of((uint32_t{1} << first.size()) - 1);
  double ways = 0;
  double as_large = 0;
  for (uint32_t chosen = 0; chosen < uint32_t{1} << all.size(); ++chosen) {
    if (static_cast<size_t>(std::popcount(chosen)) != first.size()) continue;
    ++ways;
    as_large += sum_of(chosen) >= observed ? 1 : 0;
  }
  return as_large / ways;
}

TEST(RankTest, AgreesWithTryingAllWays) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    Sample first(1 + random() % 5);
    Sample second(1 + random() % 5);
    const uint64_t kinds = round % 2 == 0 ? 4 : 1000;  // many ties, or few
    for (double& each : first) each = static_cast<double>(random() % kinds);
    for (double& each : second) each = static_cast<double>(random() % kinds);
    EXPECT_NEAR(rank_test(first, second).first_larger, tried_first_larger(first, second), 1e-9);
    EXPECT_NEAR(rank_test(second, first).second_larger, tried_first_larger(first, second), 1e-9);
  }
}

Sample normal_sample(std::mt19937_64& random, size_t count, double mean, double deviation) {
  // Box and Muller; the library's own distribution differs from one library to the next.
  Sample sample(count);
  for (double& each : sample) {
    const double first = (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
    const double second = (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
    each = mean + deviation * std::sqrt(-2 * std::log(first)) * std::cos(2 * 3.14159265358979 * second);
  }
  return sample;
}

TEST(RankTest, TheApproximationFollowsTheCount) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    Sample first = normal_sample(random, kMostExact / 2, 100, 2);
    Sample second = normal_sample(random, kMostExact / 2, 100.5, 2);
    const double exact = rank_test(first, second).second_larger;
    first.insert(first.end(), 1, *std::ranges::min_element(second) - 1);
    const double approximate = rank_test(first, second).second_larger;
    // One value more, in favour.
    EXPECT_LE(approximate, exact * 1.02 + 1e-4);
    EXPECT_GE(approximate, exact * 0.3);
  }
}

TEST(RankTest, FindsEqualSamplesDifferentNoMoreOftenThanItSays) {
  std::mt19937_64 random(11);
  int found = 0;
  for (int round = 0; round < 1000; ++round) {
    const Sample first = normal_sample(random, 12, 100, 3);
    const Sample second = normal_sample(random, 12, 100, 3);
    found += rank_test(first, second).two_sided() < 0.05;
  }
  EXPECT_LE(found, 65);
  EXPECT_GE(found, 25);
}

TEST(Holm, CorrectsForTheNumber) {
  EXPECT_EQ(holm_adjusted(Sample{0.01, 0.04, 0.03, 0.9}), (Sample{0.04, 0.09, 0.09, 0.9}));
  EXPECT_EQ(holm_adjusted(Sample{0.03}), Sample{0.03});
  EXPECT_EQ(holm_adjusted(Sample{0.6, 0.7}), (Sample{1, 1}));
  EXPECT_TRUE(holm_adjusted(Sample{}).empty());
}

TEST(Bootstrap, IsReproducible) {
  const Sample first = {100, 101, 99, 103, 98};
  const Sample second = {97, 96, 98, 95, 99};
  const ChangeInterval interval = *median_change_interval(first, second);
  const ChangeInterval again = *median_change_interval(first, second);
  EXPECT_EQ(interval.low, again.low);
  EXPECT_EQ(interval.high, again.high);
  EXPECT_DOUBLE_EQ(*median_change(first, second), -0.03);
  EXPECT_LT(interval.low, -0.03);
  EXPECT_GT(interval.high, -0.03);
  EXPECT_FALSE(median_change(Sample{0, 0, 1}, second).has_value());
  EXPECT_FALSE(median_change_interval(Sample{0, 0, 1}, second).has_value());
}

TEST(Bootstrap, HoldsTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(5);
  int held = 0;
  for (int round = 0; round < 200; ++round) {
    const Sample first = normal_sample(random, 20, 100, 2);
    const Sample second = normal_sample(random, 20, 97, 2);
    const ChangeInterval interval = *median_change_interval(first, second);
    held += interval.low <= -0.03 && -0.03 <= interval.high;
  }
  EXPECT_GE(held, 180);
}

TEST(SignedRank, CountsTheSignsThatSpeakAsMuch) {
  // There are 8 ways to give signs to 1, 2, 3. One gives the sum 6, and two give 5 or more.
  EXPECT_DOUBLE_EQ(signed_rank_test(Sample{1, 2, 3}).first_larger, 1.0 / 8);
  EXPECT_DOUBLE_EQ(signed_rank_test(Sample{-1, 2, 3}).first_larger, 2.0 / 8);
  EXPECT_DOUBLE_EQ(signed_rank_test(Sample{-1, 2, 3}).second_larger, 7.0 / 8);
  EXPECT_DOUBLE_EQ(signed_rank_test(Sample{-1, -2, -3}).two_sided(), 0.25);
  // Zeros say nothing.
  EXPECT_DOUBLE_EQ(signed_rank_test(Sample{0, 1, 2, 0, 3}).first_larger, 1.0 / 8);
  EXPECT_EQ(signed_rank_test(Sample{0, 0}).two_sided(), 1);
  EXPECT_EQ(signed_rank_test(Sample{}).two_sided(), 1);
}

// All ways to give signs to the ranks, tried one by one, with ties.
TEST(SignedRank, IsWhatTryingAllSignsGives) {
  const Sample differences = {0.5, -0.5, 1, 2, -3, 3, 3, 4, -1, 5};
  std::vector<double> ranks;
  for (const double each : differences) {
    const auto below =
        std::ranges::count_if(differences, [&](double d) { return std::abs(d) < std::abs(each); });
    const auto same =
        std::ranges::count_if(differences, [&](double d) { return std::abs(d) == std::abs(each); });
    ranks.push_back(static_cast<double>(below) + static_cast<double>(same + 1) / 2);
  }
  double observed = 0;
  for (size_t i = 0; i < ranks.size(); ++i) observed += differences[i] > 0 ? ranks[i] : 0;
  int as_much = 0;
  for (uint32_t signs = 0; signs < 1024; ++signs) {
    double sum = 0;
    for (size_t i = 0; i < ranks.size(); ++i) sum += (signs >> i & 1) != 0 ? ranks[i] : 0;
    as_much += sum >= observed;
  }
  EXPECT_DOUBLE_EQ(signed_rank_test(differences).first_larger, as_much / 1024.0);
}

TEST(SignedRank, ManyDifferencesAreApproximated) {
  // Alike up to the place where the count ends, within a tenth of the probability.
  Sample exact(kMostExact);
  for (size_t i = 0; i < exact.size(); ++i) exact[i] = static_cast<double>(i + 1) * (i % 3 == 0 ? -1 : 1);
  Sample approximate = exact;
  approximate.push_back(0.5);
  const double counted = signed_rank_test(exact).first_larger;
  EXPECT_NEAR(signed_rank_test(approximate).first_larger / counted, 1, 0.1);
  EXPECT_LT(counted, 0.05);
}

}  // namespace
}  // namespace mneme
