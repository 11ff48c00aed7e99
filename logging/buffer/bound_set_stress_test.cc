// Goal: whatever lies below lowest() is published. Method: workers draw numbers, each writes a plain word for
// its number, and clears; the reader checks every word below lowest(). ThreadSanitizer sees any that a bound
// did not order.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "logging/buffer/bound_set.h"

namespace mneme {
namespace {

struct Newest {
  Atomic<uint64_t> number{0};  // one above the worker's last
};

TEST(BoundSetStress, WhatLiesBelowTheLowestIsPublished) {
  constexpr uint32_t kWriters = 4;
  constexpr uint64_t kNumbers = 60'000;
  CachePadded<Atomic<uint64_t>> counter{0};
  BoundSet<Newest> bounds(kWriters);
  std::vector<uint64_t> words(kNumbers + kWriters);

  const auto write = [&](uint32_t worker) {
    while (counter->load(std::memory_order_relaxed) < kNumbers) {
      ASSERT_TRUE(bounds.is_clear(worker));
      bounds.publish(worker, counter->load(std::memory_order_relaxed));
      const uint64_t number = counter->fetch_add(1, std::memory_order_acq_rel);
      words[number] = number + 1;
      bounds.beside(worker).number.store(number + 1, std::memory_order_release);
      bounds.clear(worker);
    }
  };
  std::vector<std::thread> writers;
  for (uint32_t worker = 0; worker < kWriters; ++worker) writers.emplace_back(write, worker);

  uint64_t checked = 0;
  uint64_t wrong = 0;
  uint64_t uncovered = 0;
  while (checked < kNumbers) {
    const uint64_t lowest = bounds.lowest(counter->load(std::memory_order_acquire));
    uint64_t newest = 0;
    for (uint32_t worker = 0; worker < kWriters; ++worker) {
      newest = std::max(newest, bounds.beside(worker).number.load(std::memory_order_acquire));
    }
    if (newest < lowest) ++uncovered;
    for (; checked < lowest; ++checked) {
      if (words[checked] != checked + 1) ++wrong;
    }
    std::this_thread::yield();
  }
  for (std::thread& each : writers) each.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(uncovered, 0u);
  for (uint32_t worker = 0; worker < kWriters; ++worker) EXPECT_TRUE(bounds.has_cleared(worker));
}

}  // namespace
}  // namespace mneme
