// Goal: a delayed device holds back what is durable for the latency, from the append on, and has room for as
// many appends as its depth says. Method: over the null device, against the clock.
#include "logging/device/delayed_device.h"

#include <gtest/gtest.h>

#include <ctime>

#include "logging/buffer/watermark_buffer.h"
#include "logging/device/null_device.h"

namespace mneme {
namespace {

using std::chrono::milliseconds;

class DelayedDeviceTest : public ::testing::Test {
 protected:
  static constexpr milliseconds kLatency{20};

  StreamPosition append(StreamPosition begin) { return device_.append(buffer_, begin, begin + 100); }
  // Waits until something becomes durable; returns what, and reports how long after `begin_ns`.
  StreamPosition wait(StreamPosition durable, uint64_t begin_ns, uint64_t& after_ns) {
    StreamPosition now = durable;
    while (now == durable) now = device_.wait(std::chrono::seconds(1));
    after_ns = monotonic_ns() - begin_ns;
    return now;
  }

  WatermarkBuffer buffer_{{.workers = 1, .ring_bytes = 4096, .largest_record_bytes = 100}};
  DelayedDevice device_{std::make_unique<NullDevice>(kFirstPosition), {kFirstPosition, kLatency, 2}};
};

TEST_F(DelayedDeviceTest, NothingIsDurableBeforeItsTime) {
  const uint64_t begin = monotonic_ns();
  const StreamPosition first = append(kFirstPosition);
  EXPECT_EQ(first, kFirstPosition + 100);
  const StreamPosition early = device_.wait(std::chrono::nanoseconds(0));
  if (monotonic_ns() - begin < 20'000'000) {
    EXPECT_EQ(early, kFirstPosition);
  }
  uint64_t after = 0;
  EXPECT_EQ(wait(kFirstPosition, begin, after), first);
  EXPECT_GE(after, uint64_t{20'000'000});
}

TEST_F(DelayedDeviceTest, AppendsInFlightWaitTogetherAndTakeItsPlaces) {
  const uint64_t begin = monotonic_ns();
  const StreamPosition first = append(kFirstPosition);
  const StreamPosition second = append(first);
  EXPECT_EQ(append(second), second);  // no room
  uint64_t after = 0;
  StreamPosition durable = kFirstPosition;
  while (durable < second) durable = wait(durable, begin, after);
  EXPECT_GE(after, uint64_t{20'000'000});
  EXPECT_EQ(append(second), second + 100);
}

// A latency that one spent spinning would cost its whole length of processor time.
TEST_F(DelayedDeviceTest, WaitingTakesNoProcessor) {
  const std::clock_t before = std::clock();
  StreamPosition durable = kFirstPosition;
  for (int i = 0; i < 10; ++i) {
    uint64_t after = 0;
    append(durable);
    durable = wait(durable, monotonic_ns(), after);
  }
  const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_LT(used, 0.1);  // of 0.2 s
}

}  // namespace
}  // namespace mneme
