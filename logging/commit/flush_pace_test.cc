// Goal: the interval between flushes follows their length within its bounds, and a group is sent when it is
// full, awaited, or old enough. Method: flushes of made-up lengths, and made-up groups.
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

TEST(FlushPace, AGroupIsSentWhenItIsFullAwaitedOrTheLast) {
  const FlushPace pace({.interval = 250us, .bytes = 1000, .records = 10});
  const Gathering young{.bytes = 999, .records = 9, .is_in_flight = true, .since_sending = 1us};
  EXPECT_EQ(pace.left(young), FlushPace::kUntilFlushEnds);
  Gathering full = young;
  full.bytes = 1000;
  EXPECT_EQ(pace.left(full), 0us);
  Gathering many = young;
  many.records = 10;
  EXPECT_EQ(pace.left(many), 0us);
  Gathering last = young;
  last.is_closing = true;
  EXPECT_EQ(pace.left(last), 0us);
  Gathering awaited = young;
  awaited.is_awaited = true;
  EXPECT_EQ(pace.left(awaited), 0us);
  EXPECT_EQ(FlushPace({.bytes = 1000, .waiters_hurry = false}).left(awaited), FlushPace::kUntilFlushEnds);
}

TEST(FlushPace, AnIdleDeviceGetsAGroupOnceTheIntervalIsOver) {
  const FlushPace pace({.interval = 250us, .bytes = 1000});
  EXPECT_EQ(pace.left({.bytes = 1, .since_sending = 100us}), 150us);
  EXPECT_EQ(pace.left({.bytes = 1, .since_sending = 300us}), 0us);
  EXPECT_EQ(pace.left({.bytes = 1}), 0us);
  EXPECT_EQ(FlushPace({.bytes = 1000}).left({.bytes = 1, .since_sending = 1us}), 0us);
}

}  // namespace
}  // namespace mneme
