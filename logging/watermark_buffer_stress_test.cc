// Goal: whatever the threads' timing, the prefix covers only written records, and all of them in the end; the ring is
// never overwritten before it is drained. Method: workers write records that say what they must hold (their LSN, and
// bytes derived from it) into a tiny ring; one thread drains it, checks every byte, and releases it.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "logging/record_format.h"
#include "logging/test_log.h"
#include "logging/watermark_buffer.h"

namespace mneme {
namespace {

constexpr uint32_t kWorkers = 4;
constexpr size_t kLargest = 400;

// The record at `lsn`, of `bytes` bytes: its length, then a pattern of both.
std::vector<std::byte> record_at(Lsn lsn, uint32_t bytes) {
  std::vector<std::byte> record(bytes);
  store(record.data(), bytes);
  for (size_t i = 4; i < bytes; ++i) record[i] = static_cast<std::byte>(lsn.value * 31 + i);
  return record;
}

void append(WatermarkBuffer& buffer, WorkerId worker, std::mt19937_64& random) {
  ASSERT_TRUE(buffer.await_space());
  const auto bytes = static_cast<uint32_t>(8 + random() % (kLargest - 8));
  const Lsn lsn = buffer.reserve(worker, bytes);
  if (random() % 64 == 0) std::this_thread::yield();  // as a worker that validates meanwhile
  buffer.write(lsn, record_at(lsn, bytes));
  buffer.publish(worker, lsn, bytes);
}

// Drains [from, prefix) and checks it. Returns the records seen.
uint64_t drain(WatermarkBuffer& buffer, Lsn& from) {
  const Lsn prefix = buffer.contiguous_prefix();
  uint64_t records = 0;
  while (from < prefix) {
    std::byte length[4];
    buffer.read(from, length);
    const auto bytes = load<uint32_t>(length);
    EXPECT_GE(bytes, 8u);
    EXPECT_LE(bytes, kLargest);
    if (bytes < 8 || bytes > kLargest) std::abort();
    std::vector<std::byte> record(bytes);
    buffer.read(from, record);
    EXPECT_EQ(record, record_at(from, bytes));
    from = from + bytes;
    ++records;
  }
  EXPECT_EQ(from, prefix);  // a record boundary
  buffer.release(from);
  return records;
}

TEST(WatermarkBufferStress, EveryRecordIsDrainedWholeAndOnce) {
  constexpr uint64_t kRecordsPerWorker = 20000;
  WatermarkBuffer buffer({.workers = kWorkers, .ring_bytes = 4096, .largest_record_bytes = kLargest});
  std::vector<std::thread> workers;
  for (uint32_t w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      std::mt19937_64 random(w);
      for (uint64_t i = 0; i < kRecordsPerWorker; ++i) append(buffer, WorkerId{w}, random);
    });
  }
  Lsn from = kFirstLsn;
  uint64_t records = 0;
  while (records < kWorkers * kRecordsPerWorker) {
    const uint64_t seen = drain(buffer, from);
    records += seen;
    if (seen == 0) std::this_thread::yield();
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(records, kWorkers * kRecordsPerWorker);
  EXPECT_TRUE(buffer.quiescent(from));
}

TEST(WatermarkBufferStress, CloseEndsTheWaitForSpace) {
  WatermarkBuffer buffer({.workers = 1, .ring_bytes = 4096, .largest_record_bytes = kLargest});
  std::thread worker([&] {
    std::mt19937_64 random(1);
    while (buffer.await_space()) {
      const Lsn lsn = buffer.reserve(WorkerId{0}, 100);
      buffer.publish(WorkerId{0}, lsn, 100);
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  buffer.close();
  worker.join();
  EXPECT_FALSE(buffer.await_space());
}

// A late bound lowers the minimum; the prefix must not follow it down.
TEST(WatermarkBuffer, HoldsBackAtTheLowestUnwrittenRecord) {
  WatermarkBuffer buffer({.workers = 3, .ring_bytes = 4096, .largest_record_bytes = kLargest});
  const Lsn first = buffer.reserve(WorkerId{0}, 100);
  const Lsn second = buffer.reserve(WorkerId{1}, 50);
  const Lsn third = buffer.reserve(WorkerId{2}, 10);
  buffer.publish(WorkerId{2}, third, 10);
  EXPECT_EQ(buffer.contiguous_prefix(), first);
  buffer.publish(WorkerId{0}, first, 100);
  EXPECT_EQ(buffer.contiguous_prefix(), second);
  EXPECT_FALSE(buffer.quiescent(second));
  buffer.publish(WorkerId{1}, second, 50);
  EXPECT_EQ(buffer.contiguous_prefix(), third + 10);
  EXPECT_TRUE(buffer.quiescent(third + 10));
}

}  // namespace
}  // namespace mneme
