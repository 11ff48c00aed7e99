// For tests: a replicated log that is written with many pieces under way, and read back. A piece's bytes
// prove their number.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "logging/replicated/replicated_log.h"
#include "logging/testing/test_log.h"

namespace mneme::test {

inline constexpr uint64_t kMostUnderWay = 8;

inline std::vector<std::byte> piece(uint64_t number) {
  return payload_of(number, 1 + number * 7919 % 30'000);
}

// Pieces of all sizes, several under way, woken from another thread.
inline void append_and_read_back(const ReplicatedLogOptions& log, uint32_t replicas, uint64_t count) {
  auto appender = must(open_replicated_appender({.log = log, .term = {1, 42}, .replicas = replicas}));
  std::atomic<bool> ends{false};
  std::thread waker([&] {
    while (!ends.load(std::memory_order_relaxed)) {
      appender->wake();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::deque<std::vector<std::byte>> under_way;
  uint64_t appended = 0;
  for (uint64_t acknowledged = 0; acknowledged < count;) {
    while (appended < count && appended - acknowledged < kMostUnderWay) {
      under_way.push_back(piece(appended));
      appender->append(3, appended++, under_way.back());
    }
    const uint64_t now = appender->wait(std::chrono::milliseconds(100));
    ASSERT_FALSE(appender->failure().has_value()) << appender->failure()->message;
    ASSERT_GE(now, acknowledged);
    for (; acknowledged < now; ++acknowledged) under_way.pop_front();
  }
  ends.store(true, std::memory_order_relaxed);
  waker.join();

  auto reader = must(open_replicated_reader(log));
  uint64_t number = 0;
  for (uint64_t at = appender->begin() + 1; number < count;) {
    const auto pieces = must(reader->read(at, std::chrono::milliseconds(10'000)));
    ASSERT_FALSE(pieces.empty());
    for (const ReplicatedPiece& each : pieces) {
      ASSERT_EQ(each.offset, number);
      ASSERT_EQ(each.bytes, piece(number));
      at = each.position + 1;
      ++number;
    }
  }
  EXPECT_TRUE(must(reader->read(must(reader->end()), std::chrono::milliseconds(50))).empty());
}

}  // namespace mneme::test
