// Goal: the protocols of the log buffers hold in every order of their atomic steps, for small cases: workers
// that reserve, write and publish beside a flusher, a ring that wraps and fills, a worker that stops between
// reservation and fill. Method: the buffers' own code over the stepping atomics of tests/interleaving, every
// schedule that departs from the simplest few times; records say what they must hold. A buffer with a known
// mistake shows that mistakes are found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/bytes.h"
#include "logging/buffer/log_buffer_factory.h"
#include "tests/interleaving/scheduler.h"

namespace mneme {
namespace {

using interleaving::Exploration;
using interleaving::explore;
using interleaving::Scenario;

constexpr size_t kRing = 4096;

// A case to explore.
struct Case {
  uint32_t workers = 2;
  uint32_t records = 1;  // of each worker
  uint32_t record_bytes = 40;
  uint32_t largest_bytes = 40;  // what await_space() keeps room for
  uint64_t begin = 64;
  bool stopped = false;  // the first worker stops between its last reservation and its fill
};

using Make = std::function<std::unique_ptr<LogBuffer>(const LogBufferOptions&)>;

class InsertAndDrain : public Scenario {
 public:
  InsertAndDrain(const Make& make, const Case& from, LogBufferTuning tuning) : case_(from), at_(from.begin) {
    LogBufferOptions options;
    options.workers = case_.workers;
    options.ring_bytes = kRing;
    options.largest_record_bytes = case_.largest_bytes;
    options.begin = at_;
    options.tuning = tuning;
    buffer_ = make(options);
  }

  std::vector<std::function<void()>> threads() override {
    std::vector<std::function<void()>> threads{[this] { flush(); }};
    for (uint32_t w = 0; w < case_.workers; ++w) {
      threads.push_back([this, w] { work(WorkerId{w}); });
    }
    return threads;
  }

  void examine() override {
    if (!buffer_->quiescent(at_)) violated("the drained buffer is not quiescent");
    std::ranges::sort(reservations_, {}, &Reservation::position);
    std::array<uint32_t, 3> attempts{};
    for (const Reservation& each : reservations_) {
      if (each.position <= each.returned_before)
        violated("a position is lower than one that was returned before the call");
      for (uint32_t w = 0; w < case_.workers; ++w) {
        if (each.seen[w] < attempts[w]) violated("a lower position's worker was not seen by a higher one's");
      }
      attempts[each.worker] = each.attempt;
    }
  }

 private:
  struct Reservation {
    StreamPosition position;
    uint32_t worker = 0;
    uint32_t attempt = 0;
    StreamPosition returned_before;
    std::array<uint32_t, 3> seen{};
  };

  std::byte byte_at(StreamPosition position, size_t i) const {
    return static_cast<std::byte>(position.value / 8 + i * 7 + 1);
  }

  void work(WorkerId worker) {
    for (uint32_t attempt = 1; attempt <= case_.records; ++attempt) {
      if (!buffer_->await_space(worker)) return violated("the buffer closed");
      Reservation mine{{}, worker.value, attempt, highest_returned_, {}};
      announced_[worker.value] = attempt;
      mine.position = buffer_->reserve(worker, case_.record_bytes);
      mine.seen = announced_;
      highest_returned_ = std::max(highest_returned_, mine.position);
      reservations_.push_back(mine);
      if (mine.position.value + case_.record_bytes > drained_.value + kRing) violated("the ring overflows");

      if (case_.stopped && worker.value == 0 && attempt == case_.records) interleaving::stop();
      interleaving::step(interleaving::Step::kRead);  // a transaction validates here
      std::vector<std::byte> record(case_.record_bytes);
      for (size_t i = 0; i < record.size(); ++i) record[i] = byte_at(mine.position, i);
      buffer_->write(worker, mine.position, record);
      buffer_->publish(worker, mine.position, case_.record_bytes);
    }
  }

  void flush() {
    const StreamPosition end{case_.begin + uint64_t{case_.workers} * case_.records * case_.record_bytes};
    std::vector<std::byte> record(case_.record_bytes);
    while (at_ < end) {
      const StreamPosition prefix = buffer_->contiguous_prefix();
      if (prefix == at_) {
        interleaving::wait_for_others();
        continue;
      }
      if (prefix < at_ || (prefix.value - case_.begin) % case_.record_bytes != 0) {
        return violated(fmt::format("the prefix {} is no record boundary past {}", prefix.value, at_.value));
      }
      for (; at_ < prefix; at_ = at_ + case_.record_bytes) {
        buffer_->read(at_, record);
        for (size_t i = 0; i < record.size(); ++i) {
          if (record[i] != byte_at(at_, i))
            return violated(fmt::format("the record at {} is not written", at_.value));
        }
      }
      drained_ = at_;
      buffer_->release(at_);
    }
  }

  const Case case_;
  std::unique_ptr<LogBuffer> buffer_;
  StreamPosition at_;             // the flusher's: all below is checked
  StreamPosition drained_ = at_;  // and may be released
  StreamPosition highest_returned_;
  std::array<uint32_t, 3> announced_{};
  std::vector<Reservation> reservations_;
};

Exploration explore_buffer(const Make& make, const Case& from, uint32_t deviations,
                           LogBufferTuning tuning = {}) {
  constexpr uint64_t kMost = 400'000;
  const Exploration exploration =
      explore([&] { return std::make_unique<InsertAndDrain>(make, from, tuning); }, deviations, kMost);
  ::testing::Test::RecordProperty("schedules", static_cast<int>(exploration.schedules));
  std::printf("    %llu schedules%s\n", static_cast<unsigned long long>(exploration.schedules),
              exploration.complete ? ", all of them" : "");
  return exploration;
}

struct Tested {
  const char* name;
  LogBufferKind kind;
  LogBufferTuning tuning{};
};
std::ostream& operator<<(std::ostream& to, const Tested& from) {
  return to << from.name;
}

class LogBufferInterleaving : public ::testing::TestWithParam<Tested> {
 protected:
  void expect_good(const Case& from, uint32_t deviations) {
    const Exploration exploration = explore_buffer(
        [](const LogBufferOptions& options) { return make_log_buffer(GetParam().kind, options); }, from,
        deviations, GetParam().tuning);
    EXPECT_EQ(exploration.violation, std::nullopt);
    EXPECT_TRUE(exploration.complete);
  }
};

TEST_P(LogBufferInterleaving, TwoWorkersAndTheFlusher) {
  expect_good({}, 3);
}

TEST_P(LogBufferInterleaving, TwoWorkersWithTwoRecords) {
  expect_good({.records = 2}, 2);
}

TEST_P(LogBufferInterleaving, ThreeWorkersAndTheFlusher) {
  expect_good({.workers = 3}, 2);
}

TEST_P(LogBufferInterleaving, AWorkerStopsBetweenReservationAndFill) {
  expect_good({.records = 2, .stopped = true}, 2);
}

// The first record lies across the ring's end; each worker's second one finds no room before the flusher
// releases.
TEST_P(LogBufferInterleaving, TheRingWrapsAndFills) {
  expect_good({.records = 2, .record_bytes = 1000, .largest_bytes = 1024, .begin = 4096 - 72}, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, LogBufferInterleaving,
    ::testing::Values(
        Tested{"mutex", LogBufferKind::kMutex}, Tested{"consolidation", LogBufferKind::kConsolidation},
        Tested{"consolidation_one_slot", LogBufferKind::kConsolidation, {.slots = 1}},
        Tested{"decoupled", LogBufferKind::kDecoupled}, Tested{"hybrid", LogBufferKind::kHybrid},
        Tested{"hybrid_one_slot", LogBufferKind::kHybrid, {.slots = 1}},
        Tested{"delegated", LogBufferKind::kDelegated, {.slots = 1}},
        Tested{"grasshopper", LogBufferKind::kGrasshopper},
        Tested{"grasshopper_short_hops", LogBufferKind::kGrasshopper, {.hop_bytes = 64}},
        Tested{"watermark", LogBufferKind::kWatermark}, Tested{"extents", LogBufferKind::kExtents}),
    [](const auto& info) { return std::string(info.param.name); });

// The watermark buffer with its one subtle step the wrong way round: it scans the bounds, then loads the
// tail.
class ScansBeforeTheTail : public LogBuffer {
 public:
  explicit ScansBeforeTheTail(const LogBufferOptions& options)
      : LogBuffer(options),
        tail_(options.begin.value),
        bounds_(std::make_unique<Atomic<uint64_t>[]>(workers_)) {
    for (uint32_t w = 0; w < workers_; ++w) bounds_[w].store(kNoBound, std::memory_order_relaxed);
  }
  StreamPosition reserve(WorkerId worker, size_t bytes) override {
    bounds_[worker.value].store(tail_.load(std::memory_order_relaxed), std::memory_order_release);
    return StreamPosition{tail_.fetch_add(bytes, std::memory_order_acq_rel)};
  }
  void publish(WorkerId worker, StreamPosition, size_t) override {
    bounds_[worker.value].store(kNoBound, std::memory_order_release);
  }
  StreamPosition contiguous_prefix() override {
    uint64_t lowest = kNoBound;
    for (uint32_t w = 0; w < workers_; ++w) {
      lowest = std::min(lowest, bounds_[w].load(std::memory_order_acquire));
    }
    prefix_ = std::max(prefix_, std::min(lowest, tail_.load(std::memory_order_acquire)));
    return StreamPosition{prefix_};
  }
  bool quiescent(StreamPosition upto) override {
    return tail_.fetch_add(0, std::memory_order_acq_rel) == upto.value;
  }

 protected:
  StreamPosition reserved() const override { return StreamPosition{tail_.load(std::memory_order_relaxed)}; }

 private:
  static constexpr uint64_t kNoBound = std::numeric_limits<uint64_t>::max();
  Atomic<uint64_t> tail_;
  const std::unique_ptr<Atomic<uint64_t>[]> bounds_;
  uint64_t prefix_ = 0;
};

TEST(InterleavingCanary, FindsAPrefixOverAHole) {
  const Exploration exploration = explore_buffer(
      [](const LogBufferOptions& options) { return std::make_unique<ScansBeforeTheTail>(options); }, {}, 2);
  ASSERT_TRUE(exploration.violation.has_value());
}

// Two threads that lock each other out.
class LocksInTwoOrders : public Scenario {
 public:
  std::vector<std::function<void()>> threads() override {
    return {[this] { take(first_), take(second_); }, [this] { take(second_), take(first_); }};
  }
  void examine() override {}

 private:
  static void take(Atomic<bool>& lock) {
    while (lock.load(std::memory_order_relaxed) || lock.exchange(true, std::memory_order_acq_rel)) {
      interleaving::wait_for_others();
    }
  }
  Atomic<bool> first_{false};
  Atomic<bool> second_{false};
};

TEST(InterleavingCanary, FindsADeadlock) {
  const Exploration exploration = explore([] { return std::make_unique<LocksInTwoOrders>(); }, 1, 1000);
  EXPECT_EQ(exploration.violation, "deadlock: every thread waits");
}

}  // namespace
}  // namespace mneme
