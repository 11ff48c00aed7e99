// Goal: the interval between flushes follows their length within its bounds. Method: flushes of made-up
// lengths.
#include "logging/commit/flush_pace.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

using namespace std::chrono_literals;

std::chrono::nanoseconds interval_after(const GroupCommit& group, std::chrono::nanoseconds took) {
  FlushPace pace(group);
  for (int i = 0; i < 1000; ++i) pace.flushed(took);
  return pace.interval();
}

TEST(FlushPace, FollowsTheFlushes) {
  const GroupCommit group{.interval = 250us, .rests = 4};
  EXPECT_EQ(FlushPace(group).interval(), 250us);
  EXPECT_EQ(interval_after(group, 20us), 250us);
  EXPECT_EQ(interval_after(group, 100us), 400us);
  EXPECT_EQ(interval_after(group, 10ms), FlushPace::kLongest);
}

TEST(FlushPace, IsTheGroupsWhereItDoesNotAdapt) {
  EXPECT_EQ(interval_after({.interval = 0us}, 1ms), 0us);
  EXPECT_EQ(interval_after({.interval = 10ms}, 1ms), 10ms);
  EXPECT_EQ(interval_after({.interval = 10ms, .rests = 4}, 1ms), 10ms);
}

TEST(FlushPace, OneStallSaysLittle) {
  FlushPace pace({.interval = 250us, .rests = 4});
  for (int i = 0; i < 1000; ++i) pace.flushed(100us);
  pace.flushed(40ms);
  EXPECT_LT(pace.interval(), 550us);
}

}  // namespace
}  // namespace mneme
