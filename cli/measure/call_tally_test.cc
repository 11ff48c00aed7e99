// Goal: a call counts in the window in which it ends, and in that window's second; none is lost or counted
// twice.
//
// Method: made-up times. No clock is looked at.
#include "cli/measure/call_tally.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

constexpr uint64_t kStart = 5'000'000'000;
constexpr uint64_t kSecondNs = 1'000'000'000;

const MeasuredWindow kTwoSecondsAfterOne(kStart, kSecondNs, 2 * kSecondNs);
constexpr uint64_t kFrom = kStart + kSecondNs;

TEST(MeasuredWindow, CountsWhatEndsAfterTheWarmUp) {
  EXPECT_FALSE(kTwoSecondsAfterOne.counts(kFrom - 1));
  EXPECT_TRUE(kTwoSecondsAfterOne.counts(kFrom));
  EXPECT_TRUE(kTwoSecondsAfterOne.may_begin(kFrom + 2 * kSecondNs - 1));
  EXPECT_FALSE(kTwoSecondsAfterOne.may_begin(kFrom + 2 * kSecondNs));
  // Late acknowledgements count.
  EXPECT_TRUE(kTwoSecondsAfterOne.counts(kFrom + 3 * kSecondNs));
  EXPECT_EQ(kTwoSecondsAfterOne.second_of(kFrom), 0u);
  EXPECT_EQ(kTwoSecondsAfterOne.second_of(kFrom + kSecondNs - 1), 0u);
  EXPECT_EQ(kTwoSecondsAfterOne.second_of(kFrom + kSecondNs), 1u);
}

TEST(MeasuredWindow, LastsUntilTheLastCallHasEnded) {
  const uint64_t end = kFrom + 2 * kSecondNs;
  EXPECT_DOUBLE_EQ(kTwoSecondsAfterOne.measured_seconds(end - 5, end + 9), 2);
  EXPECT_DOUBLE_EQ(kTwoSecondsAfterOne.measured_seconds(end + kSecondNs / 2, end + kSecondNs), 2.5);
  EXPECT_DOUBLE_EQ(kTwoSecondsAfterOne.measured_seconds(0, kFrom + kSecondNs), 1);
  EXPECT_DOUBLE_EQ(kTwoSecondsAfterOne.measured_seconds(0, kFrom - 1), 0);
  const MeasuredWindow open(kStart, 0, std::nullopt);
  EXPECT_TRUE(open.may_begin(kStart + 1000 * kSecondNs));
  EXPECT_DOUBLE_EQ(open.measured_seconds(kStart + kSecondNs, kStart + 3 * kSecondNs), 3);
}

// As a warm-up ends that lasts until the throughput is steady.
TEST(MeasuredWindow, BeginsEarlierIfToldTo) {
  MeasuredWindow window(kStart, 60 * kSecondNs, 2 * kSecondNs);
  EXPECT_TRUE(window.may_begin(kStart + 62 * kSecondNs - 1));
  window.begin_at(kFrom);
  EXPECT_EQ(window.begin_ns(), kFrom);
  EXPECT_TRUE(window.counts(kFrom));
  EXPECT_EQ(window.second_of(kFrom + kSecondNs), 1u);
  EXPECT_TRUE(window.may_begin(kFrom + 2 * kSecondNs - 1));
  EXPECT_FALSE(window.may_begin(kFrom + 2 * kSecondNs));
  window.begin_at(kFrom + 1);
  EXPECT_EQ(window.begin_ns(), kFrom);
}

// An open loop that can't keep up: all calls that it comes to were due in the warm-up, even before the run.
TEST(CallTally, CountsCallsThatWereDueInTheWarmUpAndEndAfterIt) {
  CallTally tally(kTwoSecondsAfterOne, 1, false);
  for (uint64_t i = 0; i < 300; ++i) {
    const uint64_t due = kStart + i;
    const uint64_t end = kStart + (i + 1) * kSecondNs / 100;
    tally.ended(0, true, due, end);
  }
  // A hundred end in each second, the last of the warm-up's exactly as the window begins.
  const ProcedureReport& report = tally.procedures()[0];
  EXPECT_EQ(report.committed, 201u);
  EXPECT_EQ(tally.committed(), 300u);  // the warm-up's included
  EXPECT_GE(report.latency_ns.quantile(0), kSecondNs - 300);
  EXPECT_GE(report.latency_ns.quantile(0.5), 19 * kSecondNs / 10);
  EXPECT_EQ(report.latency_ns.max(), 3 * kSecondNs - 299);
  EXPECT_EQ(tally.last_end_ns(), kStart + 3 * kSecondNs);
}

TEST(CallTally, CountsNothingThatEndsInTheWarmUp) {
  CallTally tally(kTwoSecondsAfterOne, 1, false);
  tally.ended(0, true, kStart, kFrom - 1);
  tally.ended(0, false, kStart, kFrom - 1);
  tally.conflicted(0, 3, {}, kFrom - 1);
  const ProcedureReport& report = tally.procedures()[0];
  EXPECT_EQ(report.committed + report.user_aborts + report.aborted + report.latency_ns.count(), 0u);
  EXPECT_EQ(tally.last_end_ns(), 0u);
  EXPECT_EQ(tally.series().seconds(), 0u);
}

TEST(CallTally, TheSecondsTogetherAreAllThatIsCounted) {
  for (const bool by_procedure : {false, true}) {
    CallTally tally(kTwoSecondsAfterOne, 2, by_procedure);
    for (uint64_t i = 0; i < 700; ++i) {
      const uint64_t end = kStart + i * kSecondNs / 200;
      tally.ended(i % 2, i % 5 != 0, end - 1000, end);
    }
    std::vector<LatencySeries> series;
    series.push_back(std::move(tally.series()));
    uint64_t counted = 0;
    for (size_t second = 0; second < seconds_of(series); ++second)
      counted += latencies_in(series, second).count();
    EXPECT_EQ(counted, tally.procedures()[0].committed + tally.procedures()[1].committed);
    EXPECT_EQ(seconds_of(series), 3u);
    EXPECT_EQ(latencies_in(series, 0).count(), 160u);
    EXPECT_EQ(latencies_in(series, 2).count(), 80u);
    EXPECT_EQ(tally.procedures()[0].user_aborts + tally.procedures()[1].user_aborts, 100u);
    if (by_procedure) {
      EXPECT_EQ(latencies_in(series, 0, 0).count() + latencies_in(series, 0, 1).count(), 160u);
    }
  }
}

TEST(CallTally, CountsConflictsByTheirCauses) {
  CallTally tally(kTwoSecondsAfterOne, 2, false);
  ConflictCounts causes{};
  causes[0] = 2;
  causes[1] = 1;
  tally.conflicted(1, 3, causes, kFrom);
  tally.conflicted(1, 3, causes, kFrom + 1);
  EXPECT_EQ(tally.procedures()[1].aborted, 6u);
  EXPECT_EQ(tally.procedures()[1].conflicts[0], 4u);
  EXPECT_EQ(tally.procedures()[0].aborted, 0u);
}

}  // namespace
}  // namespace mneme
