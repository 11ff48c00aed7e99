// Goal: a warm-up ends once the throughput has no trend, or when it has lasted as long as it may, and says
// which.
//
// Method: made-up times and counts. No clock is looked at.
#include "cli/measure/warm_up.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "cli/measure/growth.h"

namespace mneme {
namespace {

using testing::HasSubstr;

constexpr uint64_t kWarmUpSecondNs = 1'000'000'000;
constexpr uint64_t kWarmUpStart = 7 * kWarmUpSecondNs;

TEST(WarmUpRule, IsATimeOrUntilSteady) {
  EXPECT_EQ(warm_up_rule("2.5", 60, false)->seconds, 2.5);
  EXPECT_FALSE(warm_up_rule("2.5", 60, false)->until_steady);
  EXPECT_EQ(warm_up_rule("steady", 30, true)->seconds, 30);
  EXPECT_TRUE(warm_up_rule("steady", 30, true)->until_steady);
  for (const char* const wrong : {"", "calm", "-1", "1x", "nan", "inf"})
    EXPECT_EQ(warm_up_rule(wrong, 60, false).error().kind, ErrorKind::kInvalidArgument) << wrong;
  EXPECT_THAT(warm_up_rule("5", 60, true).error().message, HasSubstr("--warmup steady"));
}

TEST(Steadiness, IsThatOfTheLastTenSeconds) {
  std::vector<double> rates = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_FALSE(steadiness_of(rates).has_value());
  rates.push_back(10);
  EXPECT_FALSE(steadiness_of(rates)->is_steady);
  for (const double rate : {101, 99, 100, 102, 98, 100, 101, 99, 100, 100}) rates.push_back(rate);
  EXPECT_TRUE(steadiness_of(rates)->is_steady);
}

TEST(Steadiness, IsNotJudgedWithoutCommits) {
  EXPECT_FALSE(steadiness_of(std::vector<double>(20, 0)).has_value());
}

// A long and quiet series has trends that mean nothing.
TEST(Steadiness, PassesOverATrendThatIsTooSmall) {
  std::vector<double> rates;
  for (int i = 0; i < 10; ++i) rates.push_back(100'000 + 50 * i);
  const auto judged = steadiness_of(rates);
  EXPECT_LT(judged->trend.probability, 0.05);
  EXPECT_TRUE(judged->is_steady);
  for (double& rate : rates) rate = 100'000 + 10 * (rate - 100'000);
  EXPECT_FALSE(steadiness_of(rates)->is_steady);
}

// Rises for 20 seconds, and stays there.
TEST(WarmUp, LastsUntilTheThroughputHasNoTrend) {
  MeasuredWindow window(kWarmUpStart, 60 * kWarmUpSecondNs, 5 * kWarmUpSecondNs);
  WarmUpWatch watch({60, true}, kWarmUpStart);
  uint64_t committed = 0;
  uint64_t now = kWarmUpStart;
  for (int second = 1; second <= 60 && !window.counts(now + kWarmUpSecondNs / 2); ++second) {
    now += kWarmUpSecondNs;
    committed += static_cast<uint64_t>(1000 * std::min(second, 20) + (second % 2 == 0 ? 100 : 0));
    watch.look(now - kWarmUpSecondNs / 2, committed, window);  // too early to look at
    watch.look(now, committed, window);
  }
  const WarmUpReport report = watch.report(window);
  EXPECT_TRUE(report.last->is_steady);
  EXPECT_GT(report.seconds, 20);
  EXPECT_LT(report.seconds, 31);
  EXPECT_EQ(window.begin_ns(), now + kWarmUpNoticeNs);
  EXPECT_THAT(report.text(), HasSubstr("until the throughput was steady"));
  EXPECT_EQ(report.json()["steady"], true);
}

TEST(WarmUp, EndsAtItsLimit) {
  MeasuredWindow window(kWarmUpStart, 15 * kWarmUpSecondNs, 5 * kWarmUpSecondNs);
  WarmUpWatch watch({15, true}, kWarmUpStart);
  uint64_t committed = 0;
  for (uint64_t second = 1; second <= 20; ++second)
    watch.look(kWarmUpStart + second * kWarmUpSecondNs, committed += 100 * second, window);
  const WarmUpReport report = watch.report(window);
  EXPECT_EQ(window.begin_ns(), kWarmUpStart + 15 * kWarmUpSecondNs);
  EXPECT_DOUBLE_EQ(report.seconds, 15);
  EXPECT_THAT(report.text(), HasSubstr("NOT STEADY"));
  EXPECT_EQ(report.json()["steady"], false);
  // One that is shorter than the test takes is not judged.
  MeasuredWindow shorter(kWarmUpStart, 2 * kWarmUpSecondNs, kWarmUpSecondNs);
  EXPECT_THAT(WarmUpWatch({2, true}, kWarmUpStart).report(shorter).text(), HasSubstr("too short to judge"));
}

TEST(WarmUp, OfAGivenTimeIsNotJudged) {
  MeasuredWindow window(kWarmUpStart, 30 * kWarmUpSecondNs, 5 * kWarmUpSecondNs);
  WarmUpWatch watch({30, false}, kWarmUpStart);
  for (uint64_t second = 1; second <= 30; ++second)
    watch.look(kWarmUpStart + second * kWarmUpSecondNs, 100 * second, window);
  EXPECT_EQ(window.begin_ns(), kWarmUpStart + 30 * kWarmUpSecondNs);
  EXPECT_EQ(watch.report(window).text(), "");
  EXPECT_EQ(watch.report(window).json()["seconds"], 30);
}

TEST(Growth, IsToldOfALongRun) {
  Growth growth;
  uint64_t taken = 0;
  const auto measure = [&taken] {
    ++taken;
    return GrowthSample{.log_bytes = taken << 20, .memory_bytes = uint64_t{50} << 20};
  };
  for (int look = 0; look < 120 * 4; ++look) growth.look(0.25 * look, measure);
  growth.finish(120, measure);
  EXPECT_EQ(growth.samples().size(), 121u);
  std::vector<double> throughput(120, 1000);
  for (size_t i = 0; i < throughput.size(); ++i) throughput[i] -= static_cast<double>(i);
  const Json json = growth.json(throughput);
  EXPECT_NEAR(json["log_bytes_per_minute"].get<double>(), 60 << 20, 1);
  EXPECT_EQ(json["memory_bytes_per_minute"], 0);
  EXPECT_NEAR(json["throughput_trend"]["percent_per_minute"].get<double>(), -6.4, 0.1);
  EXPECT_LT(json["throughput_trend"]["probability"].get<double>(), 0.001);
  EXPECT_THAT(growth.text(throughput), HasSubstr("growth in"));
}

TEST(Growth, IsNotToldOfAShortRun) {
  Growth growth;
  const auto measure = [] { return GrowthSample(); };
  EXPECT_EQ(growth.json({})["samples"].size(), 0u);
  growth.look(0.001, measure);
  growth.finish(59, measure);
  EXPECT_EQ(growth.text(std::vector<double>(59, 10)), "");
  EXPECT_EQ(growth.json({})["samples"].size(), 2u);
}

TEST(Growth, SaysNothingOfAMinuteFromAFractionOfASecond) {
  Growth growth;
  uint64_t bytes = 0;
  const auto measure = [&bytes] { return GrowthSample{.resident_bytes = bytes += 1 << 20}; };
  growth.look(0.001, measure);
  growth.finish(0.002, measure);
  EXPECT_EQ(growth.json({})["samples"].size(), 2u);
  EXPECT_FALSE(growth.json({}).contains("rss_bytes_per_minute"));
}

TEST(Growth, KeepsFewSamplesOfAVeryLongRun) {
  Growth growth;
  const auto measure = [] { return GrowthSample(); };
  for (int second = 0; second < 20'000; ++second) growth.look(second, measure);
  growth.finish(20'000, measure);
  EXPECT_LE(growth.samples().size(), Growth::kMostSamples + 1);
  EXPECT_GT(growth.samples().size(), Growth::kMostSamples / 4);
  EXPECT_EQ(growth.samples().front().second, 0);
  EXPECT_EQ(growth.samples().back().second, 20'000);
}

}  // namespace
}  // namespace mneme
