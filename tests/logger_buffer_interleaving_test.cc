// Goal: in every order of their atomic steps, for small cases, what a logger takes for a complete epoch is
// complete: each record that its workers drew in it, or before, is gathered, once and whole. Method: as
// log_buffer_interleaving_test.cc, with a clock that ends epochs at any moment. A logger that looks in the
// wrong order shows that mistakes are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <set>

#include "logging/layout/logger_buffer.h"
#include "logging/record/record_format.h"
#include "tests/interleaving/scheduler.h"

namespace mneme {
namespace {

using interleaving::Exploration;
using interleaving::explore;
using interleaving::Scenario;

constexpr size_t kPayloadBytes = 24;
constexpr size_t kRecordBytes = kRecordHeaderBytes + kPayloadBytes;

// A logger and its workers.
class Gathering {
 public:
  virtual ~Gathering() = default;
  virtual Lsn reserve(uint32_t member) = 0;
  virtual void fill(uint32_t member, Lsn lsn) = 0;
  // The first epoch that may not be complete. Adds the records of those before it.
  virtual LogEpoch gather(std::set<Lsn>& gathered) = 0;
  EpochCounter counter{kFirstLsn};
};

class ByLoggerBuffer : public Gathering {
 public:
  explicit ByLoggerBuffer(uint32_t members)
      : buffer_(counter, {.members = members, .ring_bytes = 4096, .largest_record_bytes = kRecordBytes}) {}

  Lsn reserve(uint32_t member) override { return buffer_.reserve(member); }
  void fill(uint32_t member, Lsn lsn) override {
    std::array<std::byte, kRecordHeaderBytes> header;
    RecordHeader{0, kRecordBytes, RecordKind::kCommand, lsn}.encode(header.data());
    std::array<std::byte, kPayloadBytes> payload;
    payload.fill(static_cast<std::byte>(lsn.value + 1));
    buffer_.fill(member, header, payload);
  }
  LogEpoch gather(std::set<Lsn>& gathered) override {
    FifoQueue<LoggerBuffer::Gathered> epochs;
    const LogEpoch complete = buffer_.gather(epochs);
    for (; !epochs.empty(); epochs.pop()) {
      for (; at_ < epochs.front().end; at_ = at_ + kRecordBytes) {
        std::array<std::byte, kRecordBytes> record;
        buffer_.read(at_, record);
        const Lsn lsn = RecordHeader::decode(record.data()).lsn;
        const bool is_whole =
            std::all_of(record.begin() + kRecordHeaderBytes, record.end(),
                        [&](std::byte each) { return each == static_cast<std::byte>(lsn.value + 1); });
        // A record that isn't whole, or not of this epoch, or comes twice, counts as none.
        if (is_whole && epoch_of(lsn) == epochs.front().epoch && !gathered.contains(lsn))
          gathered.insert(lsn);
      }
      buffer_.release(at_);
    }
    return complete;
  }

 private:
  LoggerBuffer buffer_;
  StreamPosition at_ = kFirstPosition;
};

// With the one subtle step the wrong way round: it scans the bounds, then loads the counter.
class ScansBeforeTheCounter : public Gathering {
 public:
  explicit ScansBeforeTheCounter(uint32_t members) : bounds_(std::make_unique<Atomic<uint64_t>[]>(members)) {
    members_ = members;
    for (uint32_t i = 0; i < members; ++i) bounds_[i].store(kNoBound, std::memory_order_relaxed);
  }
  Lsn reserve(uint32_t member) override {
    bounds_[member].store(counter.bound().value, std::memory_order_release);
    return counter.draw();
  }
  void fill(uint32_t member, Lsn lsn) override {
    filled_.insert(lsn);
    bounds_[member].store(kNoBound, std::memory_order_release);
  }
  LogEpoch gather(std::set<Lsn>& gathered) override {
    uint64_t lowest = kNoBound;
    for (uint32_t i = 0; i < members_; ++i)
      lowest = std::min(lowest, bounds_[i].load(std::memory_order_acquire));
    gathered = filled_;
    return epoch_of(Lsn{std::min(lowest, counter.drawn().value)});
  }

 private:
  static constexpr uint64_t kNoBound = ~uint64_t{0};
  uint32_t members_;
  std::unique_ptr<Atomic<uint64_t>[]> bounds_;
  std::set<Lsn> filled_;
};

using Make = std::function<std::unique_ptr<Gathering>(uint32_t members)>;

struct Case {
  uint32_t workers = 2;
  uint32_t records = 1;  // of each worker
};

class DrawAndGather : public Scenario {
 public:
  DrawAndGather(const Make& make, const Case& from) : case_(from), gathering_(make(from.workers)) {}

  std::vector<std::function<void()>> threads() override {
    std::vector<std::function<void()>> threads{[this] { log(); }, [this] { keep_time(); }};
    for (uint32_t w = 0; w < case_.workers; ++w) threads.push_back([this, w] { work(w); });
    return threads;
  }

  void examine() override {
    if (gathered_.size() != case_.workers * case_.records) violated("a record was never gathered");
  }

 private:
  void work(uint32_t worker) {
    for (uint32_t i = 0; i < case_.records; ++i) {
      const Lsn lsn = gathering_->reserve(worker);
      if (!drawn_.empty() && lsn <= *drawn_.rbegin())
        violated("an LSN is lower than one that was drawn before");
      drawn_.insert(lsn);
      interleaving::step(interleaving::Step::kRead);  // a transaction validates here
      gathering_->fill(worker, lsn);
    }
    ++done_;
    interleaving::step(interleaving::Step::kWrite);
  }

  // Ends an epoch at some moment, and another when all is drawn.
  void keep_time() {
    gathering_->counter.begin_next_epoch();
    while (done_ < case_.workers) interleaving::wait_for_others();
    gathering_->counter.begin_next_epoch();
  }

  void log() {
    LogEpoch before;
    while (gathered_.size() < case_.workers * case_.records) {
      const size_t had = gathered_.size();
      const LogEpoch complete = gathering_->gather(gathered_);
      if (complete < before) return violated("an epoch that was complete is no more");
      before = complete;
      for (const Lsn lsn : drawn_) {
        if (epoch_of(lsn) < complete && !gathered_.contains(lsn)) {
          return violated("a record of a complete epoch is missing");
        }
      }
      if (gathered_.size() == had) interleaving::wait_for_others();
    }
  }

  const Case case_;
  const std::unique_ptr<Gathering> gathering_;
  std::set<Lsn> drawn_;
  std::set<Lsn> gathered_;
  uint32_t done_ = 0;
};

template <typename Kind>
Exploration explore_gathering(const Case& from, uint32_t deviations) {
  constexpr uint64_t kMost = 400'000;
  const Make make = [](uint32_t members) { return std::make_unique<Kind>(members); };
  Exploration exploration =
      explore([&] { return std::make_unique<DrawAndGather>(make, from); }, deviations, kMost);
  std::printf("    %llu schedules%s\n", static_cast<unsigned long long>(exploration.schedules),
              exploration.complete ? ", all of them" : "");
  return exploration;
}

void expect_good(const Case& from, uint32_t deviations) {
  const Exploration exploration = explore_gathering<ByLoggerBuffer>(from, deviations);
  EXPECT_EQ(exploration.violation, std::nullopt);
  EXPECT_TRUE(exploration.complete);
}

TEST(LoggerBufferInterleaving, TwoWorkersClockAndLogger) {
  expect_good({}, 3);
}

TEST(LoggerBufferInterleaving, TwoWorkersWithTwoRecords) {
  expect_good({.records = 2}, 2);
}

TEST(LoggerBufferInterleaving, ThreeWorkersClockAndLogger) {
  expect_good({.workers = 3}, 2);
}

TEST(LoggerBufferInterleavingCanary, FindsAnEpochThatIsNotComplete) {
  ASSERT_TRUE(explore_gathering<ScansBeforeTheCounter>({}, 3).violation.has_value());
}

}  // namespace
}  // namespace mneme
