// Zipf: what is drawn has the probabilities that it should: those of the first ranks exactly, those of ranges
// of ranks within a hundredth of all draws.
#include "workloads/shared/zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace mneme {
namespace {

constexpr int kDraws = 400'000;

std::vector<int> draws_of(const Zipf& zipf) {
  Random random({7});
  std::vector<int> drawn(zipf.count());
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t rank = zipf.draw(random);
    EXPECT_LT(rank, zipf.count());
    ++drawn[std::min(rank, zipf.count() - 1)];
  }
  return drawn;
}

double weight(uint64_t low, uint64_t high, double theta) {
  double sum = 0;
  for (uint64_t rank = low; rank < high; ++rank) sum += std::pow(static_cast<double>(rank + 1), -theta);
  return sum;
}

TEST(Zipf, DrawsRanksInProportion) {
  for (const double theta : {0.0, 0.2, 0.5, 0.8, 0.99}) {
    for (const uint64_t count : {1u, 2u, 3u, 10u, 1'000u, 20'000u}) {
      SCOPED_TRACE(testing::Message() << "theta " << theta << ", " << count << " ranks");
      const Zipf zipf(count, theta);
      const std::vector<int> drawn = draws_of(zipf);
      const double all = weight(0, count, theta);
      EXPECT_DOUBLE_EQ(zipf.highest_probability(), 1 / all);
      for (uint64_t rank = 0; rank < std::min<uint64_t>(count, 2); ++rank) {
        EXPECT_NEAR(drawn[rank], kDraws * weight(rank, rank + 1, theta) / all, kDraws * 0.003);
      }
      // Ranges that double in size.
      for (uint64_t low = 0, high = 1; low < count; low = high, high = std::min(2 * high + 1, count)) {
        int in_range = 0;
        for (uint64_t rank = low; rank < high; ++rank) in_range += drawn[rank];
        EXPECT_NEAR(in_range, kDraws * weight(low, high, theta) / all, kDraws * 0.02)
            << "ranks " << low << " to " << high - 1;
      }
    }
  }
}

TEST(Zipf, ReachesTheLastRank) {
  const std::vector<int> drawn = draws_of(Zipf(100, 0.99));
  EXPECT_GT(drawn.back(), 0);
}

TEST(Zipf, TakesOneNumberADraw) {
  const Zipf zipf(1'000, 0.99);
  Random drawing({3}), other({3});
  for (int i = 0; i < 100; ++i) {
    zipf.draw(drawing);
    other.next();
    ASSERT_EQ(Random(drawing).next(), Random(other).next());
  }
}

}  // namespace
}  // namespace mneme
