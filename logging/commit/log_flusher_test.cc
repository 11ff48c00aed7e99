// Goal: records gather until the interval, the bytes or the number of records says so, and no longer; greedy,
// nothing waits but for the device. Method: one worker, and a device that notes what it was given, and may be
// held.
#include "logging/commit/log_flusher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "logging/buffer/watermark_buffer.h"
#include "logging/device/null_device.h"

namespace mneme {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kRecordBytes = 100;

class NotingDevice : public NullDevice {
 public:
  NotingDevice() : NullDevice(kFirstPosition) {}

  StreamPosition append(const LogSource& buffer, StreamPosition begin, StreamPosition end) override {
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

// A device whose flushes end when the test ends them.
class HeldDevice : public NotingDevice {
 public:
  // So many records, from the first on, may be durable.
  void let(uint64_t records) {
    until_.store(kFirstPosition.value + records * kRecordBytes, std::memory_order_release);
    wake();
  }
  StreamPosition wait(std::chrono::nanoseconds limit) override {
    const StreamPosition taken = NullDevice::wait(limit);
    // After it: it may have been let() that woke it.
    return std::min(taken, StreamPosition{until_.load(std::memory_order_acquire)});
  }

 private:
  std::atomic<uint64_t> until_{kFirstPosition.value};
};

// A device whose appends end at once, after the test has let them: a thread that waits flushes itself.
class InlineDevice : public NotingDevice {
 public:
  bool ends_in_append() const override { return true; }
  StreamPosition append(const LogSource& buffer, StreamPosition begin, StreamPosition end) override {
    const StreamPosition taken = NotingDevice::append(buffer, begin, end);
    begun_.fetch_add(1, std::memory_order_release);
    while (let_.load(std::memory_order_acquire) < begun_.load(std::memory_order_relaxed))
      std::this_thread::yield();
    return taken;
  }
  StreamPosition wait(std::chrono::nanoseconds limit) override {
    waits_by_[std::this_thread::get_id() == tester_ ? 0 : 1].fetch_add(1, std::memory_order_relaxed);
    return NotingDevice::wait(limit);
  }
  uint64_t begun() const { return begun_.load(std::memory_order_acquire); }
  void let(uint64_t appends) { let_.store(appends, std::memory_order_release); }
  uint64_t waits_by_tester() const { return waits_by_[0].load(std::memory_order_relaxed); }

 private:
  const std::thread::id tester_ = std::this_thread::get_id();
  // Written by who has the flusher's turn, read by the test's thread (acquire: what was noted before).
  std::atomic<uint64_t> begun_{0};
  std::atomic<uint64_t> let_{0};  // written by the test's thread, read in append(): nothing else is passed on
  std::atomic<uint64_t> waits_by_[2] = {};  // counted by any thread; order nothing
};

class LogFlusherTest : public ::testing::Test {
 protected:
  void start(const GroupCommit& group) {
    flusher_ = std::make_unique<LogFlusher>(buffer_, device_, LogFlusherOptions{kFirstPosition, group});
    // The first record has no sending before it: it goes at once, and the next one's interval begins.
    put();
    await(1);
  }
  StreamPosition put() {
    EXPECT_TRUE(buffer_.await_space(WorkerId{0}));
    const StreamPosition position = buffer_.reserve(WorkerId{0}, kRecordBytes);
    buffer_.publish(WorkerId{0}, position, kRecordBytes);
    flusher_->record_came(position + kRecordBytes);
    ++records_;
    return position;
  }
  bool is_durable(uint64_t records) const {
    return flusher_->durable() >= kFirstPosition + records * kRecordBytes;
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
  // A record is reported as durable before it is counted.
  while (flusher_->counters().flush_ns.count() < 20) std::this_thread::yield();
  EXPECT_EQ(flusher_->counters().flush_ns.count(), 20u);
  EXPECT_GT(flusher_->counters().processor_ns, 0u);
}

TEST_F(LogFlusherTest, RecordsGatherWhileAFlushIsInFlight) {
  HeldDevice held;
  flusher_ = std::make_unique<LogFlusher>(buffer_, held,
                                          LogFlusherOptions{kFirstPosition, {.bytes = 10 * kRecordBytes}});
  put();
  while (held.appended().empty()) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) put();
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(held.appended().size(), 1u);
  held.let(1);
  while (held.appended().size() < 2) std::this_thread::yield();
  EXPECT_EQ(held.appended(), (std::vector<uint64_t>{kRecordBytes, 5 * kRecordBytes}));
  held.let(6);
  await(6);
  // A whole group has a flush of its own, whatever is in flight.
  put();
  while (held.appended().size() < 3) std::this_thread::yield();
  for (int i = 0; i < 10; ++i) put();
  std::this_thread::sleep_for(milliseconds(1));
  put();  // should the flusher just have been lying down
  while (held.appended().size() < 4) std::this_thread::yield();
  EXPECT_FALSE(is_durable(7));
  held.let(100);
  flusher_.reset();
}

TEST_F(LogFlusherTest, TheIntervalSendsWhatHasGathered) {
  const auto begin = std::chrono::steady_clock::now();
  start({.interval = milliseconds(100), .bytes = 65536});
  for (int i = 0; i < 9; ++i) put();
  await(10);
  const auto passed = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(passed, milliseconds(100));
  // One sending an interval, however long the nine took to come.
  EXPECT_LE(device_.appended().size() - 1, static_cast<size_t>(passed / milliseconds(100)));
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
  const auto begin = std::chrono::steady_clock::now();
  start({.interval = milliseconds(100), .bytes = 65536, .waiters_hurry = false});
  EXPECT_TRUE(flusher_->wait_durable(put()));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(100));
}

TEST_F(LogFlusherTest, AWaiterFlushesItselfWhereAppendsEndAtOnce) {
  InlineDevice device;
  device.let(1'000'000);
  flusher_ = std::make_unique<LogFlusher>(
      buffer_, device, LogFlusherOptions{kFirstPosition, {.interval = hours(1), .bytes = 65536}});
  put();
  await(1);  // by the flusher's thread: nobody waits for it
  EXPECT_EQ(device.waits_by_tester(), 0u);
  EXPECT_TRUE(flusher_->wait_durable(put()));
  EXPECT_GT(device.waits_by_tester(), 0u);
  EXPECT_EQ(device.appended().size(), 2u);
  flusher_.reset();
}

TEST_F(LogFlusherTest, RecordsGatherWhileAWaiterFlushes) {
  InlineDevice device;
  device.let(1);
  flusher_ = std::make_unique<LogFlusher>(
      buffer_, device, LogFlusherOptions{kFirstPosition, {.interval = hours(1), .bytes = 65536}});
  put();
  await(1);
  std::vector<std::thread> waiters;
  const auto wait_for = [&](StreamPosition position) {
    waiters.emplace_back([this, position] { EXPECT_TRUE(flusher_->wait_durable(position)); });
  };
  wait_for(put());
  while (device.begun() < 2) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) wait_for(put());
  device.let(1'000'000);
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(device.appended(), (std::vector<uint64_t>{kRecordBytes, kRecordBytes, 3 * kRecordBytes}));
  put();
  flusher_.reset();
  EXPECT_EQ(device.appended().back(), kRecordBytes);
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
