// Goal: calls are due at the rate, evenly or as a Poisson process. Method: counting, by a fixed seed; no
// clock.
#include "cli/measure/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace mneme {
namespace {

constexpr uint64_t kBegin = 1'000'000'000;
constexpr uint32_t kWorkers = 3;

// The due times of all workers in `seconds`, in order.
std::vector<uint64_t> due_times(ArrivalKind kind, double rate, uint64_t seconds, uint64_t seed = 1) {
  std::vector<uint64_t> times;
  for (uint32_t worker = 0; worker < kWorkers; ++worker) {
    Arrivals arrivals(kind, rate, kBegin, worker, kWorkers, seed);
    for (; arrivals.next_ns() < kBegin + seconds * 1'000'000'000; arrivals.advance())
      times.push_back(arrivals.next_ns());
  }
  std::ranges::sort(times);
  return times;
}

TEST(Arrivals, UniformOnesComeAtFixedIntervals) {
  const std::vector<uint64_t> times = due_times(ArrivalKind::kUniform, 1000, 2);
  ASSERT_EQ(times.size(), 2000u);
  for (size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(static_cast<double>(times[i]), static_cast<double>(kBegin + i * 1'000'000), 2);
}

TEST(Arrivals, PoissonOnesComeAsIndependentClientsDo) {
  const std::vector<uint64_t> times = due_times(ArrivalKind::kPoisson, 1000, 50);
  // Five standard deviations.
  EXPECT_NEAR(static_cast<double>(times.size()), 50'000, 5 * std::sqrt(50'000));
  // In a millisecond come 1 on average, with the variance 1, and none with a probability of 1/e.
  std::vector<double> counts(50'000);
  for (const uint64_t time : times) ++counts[(time - kBegin) / 1'000'000];
  double squares = 0;
  for (const double count : counts) squares += (count - 1) * (count - 1);
  EXPECT_NEAR(squares / 50'000, 1, 0.05);
  const auto empty = static_cast<double>(std::ranges::count(counts, 0));
  EXPECT_NEAR(empty / 50'000, std::exp(-1), 0.01);
}

TEST(Arrivals, FollowFromTheSeed) {
  EXPECT_EQ(due_times(ArrivalKind::kPoisson, 500, 1), due_times(ArrivalKind::kPoisson, 500, 1));
  EXPECT_NE(due_times(ArrivalKind::kPoisson, 500, 1), due_times(ArrivalKind::kPoisson, 500, 1, 2));
}

}  // namespace
}  // namespace mneme
