// Goal: every kind of log buffer keeps its promises whatever the threads' timing. Method: workers write
// records that say what they must hold into a tiny ring; one thread drains it, checks every byte, and
// releases it. Each worker notes what it saw of the others around each reservation, and the order of the
// positions is held against that.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "logging/testing/test_buffer.h"

namespace mneme {
namespace {

using namespace test;

constexpr uint32_t kBufferWorkers = 4;
constexpr uint32_t kLargest = 400;

// A kind of buffer, in one of its ways to work.
struct BufferCase {
  const char* name;
  LogBufferKind kind;
  LogBufferTuning tuning{};
};
std::ostream& operator<<(std::ostream& to, const BufferCase& from) {
  return to << from.name;
}

const BufferCase kCases[] = {
    {"mutex", LogBufferKind::kMutex},
    {"consolidation", LogBufferKind::kConsolidation},
    {"consolidation_one_slot", LogBufferKind::kConsolidation, {.slots = 1}},
    {"decoupled", LogBufferKind::kDecoupled},
    {"hybrid", LogBufferKind::kHybrid},
    {"hybrid_one_slot", LogBufferKind::kHybrid, {.slots = 1}},
    {"delegated", LogBufferKind::kDelegated},
    {"socket", LogBufferKind::kSocket},
    {"grasshopper", LogBufferKind::kGrasshopper},
    {"grasshopper_short_hops", LogBufferKind::kGrasshopper, {.hop_bytes = 256}},
    {"grasshopper_crawl", LogBufferKind::kGrasshopper, {.grasshopper = GrasshopperMode::kCrawl}},
    {"scan", LogBufferKind::kScan},
    {"scan_by_words", LogBufferKind::kScan, {.scan_bits = 64}},
    {"watermark", LogBufferKind::kWatermark},
    {"extents", LogBufferKind::kExtents},
};

std::unique_ptr<LogBuffer> make_tiny(const BufferCase& from, uint32_t workers = kBufferWorkers) {
  LogBufferOptions options;
  options.workers = workers;
  options.ring_bytes = 8192;
  options.largest_record_bytes = kLargest;
  options.tuning = from.tuning;
  return make_log_buffer(from.kind, options);
}

// Where a worker's publish() or another's reserve() waits for a worker that has reserved and not published.
bool waits_for_others(LogBufferKind kind) {
  switch (kind) {
    case LogBufferKind::kGrasshopper:
    case LogBufferKind::kScan:
    case LogBufferKind::kWatermark:
    case LogBufferKind::kExtents:
      return false;
    default:  // one lock, or one order of release; kDelegated waits one time in 32
      return true;
  }
}

class LogBufferStress : public ::testing::TestWithParam<BufferCase> {};

TEST(LogBufferCases, CoverEveryKind) {
  for (const LogBufferKind kind : log_buffer_kinds()) {
    EXPECT_NE(std::ranges::find(kCases, kind, &BufferCase::kind), std::end(kCases)) << name_of(kind);
  }
}

// A worker's actions and what it saw at one reservation.
struct Reservation {
  StreamPosition position;
  uint32_t worker = 0;
  uint64_t attempt = 0;            // the worker's count, announced before it reserved
  StreamPosition returned_before;  // the highest position that any worker had been given before it reserved
  std::array<uint64_t, kBufferWorkers> seen;  // the announcements that it saw after it reserved
};

struct Observation {
  CachePadded<std::atomic<uint64_t>> announced[kBufferWorkers];
  std::atomic<uint64_t> highest_returned{0};
};

std::vector<Reservation> work_on(LogBuffer& buffer, Observation& observation, WorkerId worker,
                                 uint64_t records) {
  std::mt19937_64 random(worker.value);
  std::vector<Reservation> reservations;
  for (uint64_t i = 1; i <= records; ++i) {
    const auto bytes =
        static_cast<uint32_t>(kSmallestTestRecord + random() % (kLargest - kSmallestTestRecord));
    EXPECT_TRUE(buffer.await_space(worker));
    Reservation mine{{}, worker.value, i, {}, {}};
    mine.returned_before = StreamPosition{observation.highest_returned.load(std::memory_order_acquire)};
    observation.announced[worker.value]->store(i, std::memory_order_relaxed);
    mine.position = buffer.reserve(worker, bytes);
    for (uint32_t w = 0; w < kBufferWorkers; ++w) {
      mine.seen[w] = observation.announced[w]->load(std::memory_order_relaxed);
    }
    uint64_t highest = observation.highest_returned.load(std::memory_order_relaxed);
    while (highest < mine.position.value &&
           !observation.highest_returned.compare_exchange_weak(
               highest, mine.position.value, std::memory_order_release, std::memory_order_relaxed)) {
    }
    if (random() % 64 == 0) std::this_thread::yield();  // as a worker that validates meanwhile
    fill(buffer, worker, mine.position, bytes);
    reservations.push_back(mine);
  }
  return reservations;
}

// positions agree with the order of the calls, and with what they made visible (log_buffer.h, "Order,
// exactly").
void check_order(std::vector<Reservation>& reservations) {
  std::ranges::sort(reservations, {}, &Reservation::position);
  std::array<uint64_t, kBufferWorkers> attempts{};
  for (const Reservation& each : reservations) {
    EXPECT_LT(each.returned_before, each.position);
    for (uint32_t w = 0; w < kBufferWorkers; ++w) EXPECT_GE(each.seen[w], attempts[w]);
    EXPECT_LT(attempts[each.worker], each.attempt);
    attempts[each.worker] = each.attempt;
  }
}

TEST_P(LogBufferStress, PrefixCoversEveryRecordInOrder) {
  constexpr uint64_t kRecords = 4000;
  const auto buffer = make_tiny(GetParam());
  Observation observation;
  std::vector<std::vector<Reservation>> by_worker(kBufferWorkers);
  std::vector<std::thread> workers;
  for (uint32_t w = 0; w < kBufferWorkers; ++w) {
    workers.emplace_back([&, w] { by_worker[w] = work_on(*buffer, observation, WorkerId{w}, kRecords); });
  }
  Drainer drainer(*buffer, kFirstPosition, kLargest);
  while (drainer.records() < kBufferWorkers * kRecords) {
    drainer.drain();
    std::this_thread::yield();
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(drainer.records(), kBufferWorkers * kRecords);
  EXPECT_TRUE(buffer->quiescent(drainer.at()));
  std::vector<Reservation> all;
  for (const auto& each : by_worker) all.insert(all.end(), each.begin(), each.end());
  check_order(all);
}

// No flusher drains: the workers fill the ring, wait, and overwrite nothing. Then it goes on.
TEST_P(LogBufferStress, FullRingHoldsWorkersBack) {
  constexpr uint64_t kRecords = 300;
  const auto buffer = make_tiny(GetParam());
  std::atomic<uint64_t> appended{0};
  std::vector<std::thread> workers;
  for (uint32_t w = 0; w < kBufferWorkers; ++w) {
    workers.emplace_back([&, w] {
      for (uint64_t i = 0; i < kRecords; ++i) {
        append(*buffer, WorkerId{w}, 100);
        appended.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  Drainer drainer(*buffer, kFirstPosition, kLargest);
  for (uint64_t before = ~uint64_t{0}; appended.load(std::memory_order_relaxed) != before;) {
    before = appended.load(std::memory_order_relaxed);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    drainer.check_published();
  }
  EXPECT_LE(drainer.at().value, kFirstPosition.value + buffer->capacity());
  EXPECT_LT(appended.load(std::memory_order_relaxed), kBufferWorkers * kRecords);
  while (drainer.records() < kBufferWorkers * kRecords) {
    drainer.drain();
    std::this_thread::yield();
  }
  for (std::thread& worker : workers) worker.join();
}

TEST_P(LogBufferStress, CloseEndsTheWaitForSpace) {
  const auto buffer = make_tiny(GetParam(), 1);
  std::thread worker([&] {
    while (buffer->await_space(WorkerId{0}))
      fill(*buffer, WorkerId{0}, buffer->reserve(WorkerId{0}, 100), 100);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  buffer->close();
  worker.join();
  EXPECT_FALSE(buffer->await_space(WorkerId{0}));
}

// A worker stops between its reservation and its fill. The prefix stops at its record; all goes on once it
// does.
TEST_P(LogBufferStress, StoppedWorkerHoldsBackThePrefixAndLosesNothing) {
  constexpr uint64_t kRecords = 7;  // of each other worker: the ring has room for all
  const auto buffer = make_tiny(GetParam());
  Drainer drainer(*buffer, kFirstPosition, kLargest);
  append(*buffer, WorkerId{0}, 100);
  const StreamPosition stopped = buffer->reserve(WorkerId{0}, 100);
  std::atomic<uint64_t> published{0};
  std::vector<std::thread> others;
  for (uint32_t w = 1; w < kBufferWorkers; ++w) {
    others.emplace_back([&, w] {
      for (uint64_t i = 0; i < kRecords; ++i) {
        append(*buffer, WorkerId{w}, 100);
        published.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  constexpr uint64_t kOthers = (kBufferWorkers - 1) * kRecords;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (waits_for_others(GetParam().kind) ? std::chrono::steady_clock::now() < end
                                           : published.load(std::memory_order_relaxed) < kOthers) {
    EXPECT_EQ(drainer.check_published(), stopped);
    std::this_thread::yield();
  }
  EXPECT_EQ(drainer.check_published(), stopped);
  EXPECT_FALSE(buffer->quiescent(stopped));
  fill(*buffer, WorkerId{0}, stopped, 100);
  while (drainer.records() < 2 + kOthers) {
    drainer.drain();
    std::this_thread::yield();
  }
  for (std::thread& other : others) other.join();
}

// One of many workers works: the others, which never come, hold back nothing.
TEST_P(LogBufferStress, IdleWorkersBlockNothing) {
  const auto buffer = make_tiny(GetParam());
  Drainer drainer(*buffer, kFirstPosition, kLargest);
  EXPECT_TRUE(buffer->quiescent(kFirstPosition));
  for (uint64_t i = 0; i < 500; ++i) {
    const auto bytes = static_cast<uint32_t>(kSmallestTestRecord + i % 300);
    const StreamPosition position = append(*buffer, WorkerId{2}, bytes);
    drainer.drain();
    EXPECT_EQ(drainer.at(), position + bytes);
    EXPECT_FALSE(buffer->quiescent(position));
    EXPECT_TRUE(buffer->quiescent(position + bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LogBufferStress, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace mneme
