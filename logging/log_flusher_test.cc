// Goal: records gather until the interval, the bytes or the number of records says so, and no longer; greedy, nothing
// waits but for the device. Method: one worker, and a device that notes what it was given.
#include "logging/log_flusher.h"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "logging/delayed_device.h"
#include "logging/null_device.h"
#include "logging/watermark_buffer.h"

namespace mneme {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kRecordBytes = 100;

class NotingDevice : public NullDevice {
 public:
  NotingDevice() : NullDevice(kFirstLsn) {}

  Lsn append(const LogSource& buffer, Lsn begin, Lsn end) override {
    const std::lock_guard guard(mutex_);
    appended_.push_back(end.value - begin.value);
    return NullDevice::append(buffer, begin, end);
  }
  // Bytes, append by append.
  std::vector<uint64_t> appended() const {
    const std::lock_guard guard(mutex_);
    return appended_;
  }

 private:
  mutable std::mutex mutex_;  // guards appended_
  std::vector<uint64_t> appended_;
};

class LogFlusherTest : public ::testing::Test {
 protected:
  void start(const GroupCommit& group) {
    flusher_ = std::make_unique<LogFlusher>(buffer_, device_, LogFlusherOptions{kFirstLsn, group});
    // The first record has no sending before it: it goes at once, and the next one's interval begins.
    put();
    await(1);
  }
  Lsn put() {
    EXPECT_TRUE(buffer_.await_space(WorkerId{0}));
    const Lsn lsn = buffer_.reserve(WorkerId{0}, kRecordBytes);
    buffer_.publish(WorkerId{0}, lsn, kRecordBytes);
    flusher_->record_came(lsn + kRecordBytes);
    ++records_;
    return lsn;
  }
  bool is_durable(uint64_t records) const {
    return flusher_->durable() >= kFirstLsn + records * kRecordBytes;
  }
  void await(uint64_t records) const {
    while (!is_durable(records)) std::this_thread::sleep_for(milliseconds(1));
  }

  WatermarkBuffer buffer_{{.workers = 1, .ring_bytes = 65536, .largest_record_bytes = kRecordBytes}};
  NotingDevice device_;
  uint64_t records_ = 0;
  std::unique_ptr<LogFlusher> flusher_;
};

TEST_F(LogFlusherTest, GreedySendsAtOnce) {
  start({.bytes = 65536});
  for (uint64_t i = 2; i <= 20; ++i) {
    put();
    await(i);
  }
  EXPECT_EQ(device_.appended().size(), 20u);
  EXPECT_EQ(flusher_->counters().flush_ns.count(), 20u);
  EXPECT_GT(flusher_->counters().processor_ns, 0u);
}

TEST_F(LogFlusherTest, RecordsGatherWhileAFlushIsInFlight) {
  auto noting = std::make_unique<NotingDevice>();
  const NotingDevice& noted = *noting;
  DelayedDevice slow(std::move(noting), {kFirstLsn, milliseconds(50), 4});
  flusher_ =
      std::make_unique<LogFlusher>(buffer_, slow, LogFlusherOptions{kFirstLsn, {.bytes = 10 * kRecordBytes}});
  put();
  while (noted.appended().empty()) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) put();
  await(6);
  EXPECT_EQ(noted.appended(), (std::vector<uint64_t>{kRecordBytes, 5 * kRecordBytes}));
  // A whole group has a flush of its own, whatever is in flight.
  put();
  while (noted.appended().size() < 3) std::this_thread::yield();
  for (int i = 0; i < 10; ++i) put();
  std::this_thread::sleep_for(milliseconds(1));
  put();  // should the flusher just have been lying down
  while (noted.appended().size() < 4) std::this_thread::yield();
  EXPECT_FALSE(is_durable(7));
  flusher_.reset();
}

TEST_F(LogFlusherTest, TheIntervalSendsWhatHasGathered) {
  start({.interval = milliseconds(100), .bytes = 65536});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 9; ++i) put();
  await(10);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, milliseconds(50));
  EXPECT_EQ(device_.appended().back(), 9 * kRecordBytes);
}

TEST_F(LogFlusherTest, EnoughBytesEndTheInterval) {
  start({.interval = hours(1), .bytes = 5 * kRecordBytes});
  for (int i = 0; i < 4; ++i) put();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(is_durable(2));
  put();
  std::this_thread::sleep_for(milliseconds(1));
  put();  // a flusher that lay down just then overlooked the other one
  await(6);
}

TEST_F(LogFlusherTest, EnoughRecordsEndTheInterval) {
  start({.interval = hours(1), .bytes = 65536, .records = 7});
  for (int i = 0; i < 6; ++i) put();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(is_durable(2));
  put();
  std::this_thread::sleep_for(milliseconds(1));
  put();
  await(8);
}

TEST_F(LogFlusherTest, AWaiterEndsTheInterval) {
  start({.interval = hours(1), .bytes = 65536});
  EXPECT_TRUE(flusher_->wait_durable(put()));
}

TEST_F(LogFlusherTest, AWaiterOfAGroupWaitsForIt) {
  start({.interval = milliseconds(100), .bytes = 65536, .waiters_hurry = false});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(flusher_->wait_durable(put()));
  EXPECT_GT(std::chrono::steady_clock::now() - begin, milliseconds(50));
}

TEST_F(LogFlusherTest, TheEndSendsWhatStillGathers) {
  start({.interval = hours(1), .bytes = 65536});
  put();
  put();
  flusher_.reset();
  EXPECT_EQ(device_.appended().back(), 2 * kRecordBytes);
}

}  // namespace
}  // namespace mneme
