// Goal: a series gives back, of each second and tag, the latencies that ended in it.
//
// Method: a few threads' latencies, with seconds left out, against histograms that are filled directly.
#include "measurement/latency/latency_series.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

TEST(HdrHistogram, BucketsFollowEachOther) {
  uint64_t next = 0;
  for (size_t bucket = 0; bucket < 40 * HdrHistogram::kSub; ++bucket) {
    EXPECT_EQ(HdrHistogram::bucket_of(next), bucket);
    const uint64_t last = HdrHistogram::upper_bound(bucket);
    EXPECT_EQ(HdrHistogram::bucket_of(last), bucket);
    EXPECT_LE(last - next, next / 128);
    next = last + 1;
  }
  EXPECT_EQ(HdrHistogram::bucket_of(~uint64_t{0}), HdrHistogram::kBuckets - 1);
}

TEST(HdrHistogram, QuantilesAreBoundsThatAreNearlyReached) {
  HdrHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  for (uint64_t value = 1; value <= 100'000; ++value) histogram.record(value);
  for (const double q : {0.5, 0.95, 0.99, 0.999}) {
    const auto truth = static_cast<uint64_t>(q * 100'000);
    EXPECT_GE(histogram.quantile(q), truth);
    EXPECT_LE(histogram.quantile(q), truth + truth / 128 + 1);
  }
  EXPECT_EQ(histogram.quantile(1), 100'000u);
  EXPECT_DOUBLE_EQ(histogram.mean(), 50'000.5);
}

TEST(LatencySeries, KeepsSecondsAndTagsApart) {
  LatencySeries series(2);
  series.record(0, 0, 100);
  series.record(0, 1, 200);
  series.record(0, 1, 300);
  series.record(3, 0, 400);
  EXPECT_EQ(series.seconds(), 4u);
  const auto count = [&](size_t second, size_t tag) {
    HdrHistogram histogram;
    series.add_to(histogram, second, tag);
    return histogram.count();
  };
  EXPECT_EQ(count(0, 0), 1u);
  EXPECT_EQ(count(0, 1), 2u);
  for (const size_t second : {1, 2, 4, 9}) EXPECT_EQ(count(second, 0) + count(second, 1), 0u) << second;
  EXPECT_EQ(count(3, 0), 1u);
  EXPECT_EQ(count(3, 1), 0u);
}

TEST(LatencySeries, ThreadsAreReadTogether) {
  std::vector<LatencySeries> threads;
  EXPECT_EQ(seconds_of(threads), 0u);
  threads.emplace_back(2);
  threads.emplace_back(2);
  EXPECT_EQ(seconds_of(threads), 0u);
  threads[0].record(1, 0, 100);
  threads[0].record(2, 0, 1'000'000);
  threads[1].record(1, 1, 50);
  EXPECT_EQ(seconds_of(threads), 3u);
  const HdrHistogram both = latencies_in(threads, 1);
  EXPECT_EQ(both.count(), 2u);
  EXPECT_EQ(both.max(), 100u);
  EXPECT_DOUBLE_EQ(both.mean(), 75);
  EXPECT_EQ(latencies_in(threads, 1, 1).max(), 50u);
  EXPECT_EQ(latencies_in(threads, 0).count(), 0u);
}

}  // namespace
}  // namespace mneme
