// Goal: the clock of a distributed log's stream passes no record that is not durable, in every order of the
// steps of workers and flusher. Method: the horizon's own code over the stepping atomics of
// tests/interleaving; the stream is a number, to which workers add and of which the flusher makes one stretch
// durable after the other, as a device with two in flight does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "logging/layout/stream_horizon.h"
#include "tests/interleaving/scheduler.h"

namespace mneme {
namespace {

using interleaving::Exploration;
using interleaving::explore;
using interleaving::Scenario;

constexpr uint32_t kWorkers = 2;
constexpr uint32_t kRecords = 2;  // of each worker
constexpr uint32_t kRecordBytes = 100;
constexpr uint32_t kStream = 0;
constexpr Lsn kBegin{1000};

class WriteAndFlush : public Scenario {
 public:
  // One at a time holds the horizon's mutex: the flusher alone.
  std::vector<std::function<void()>> threads() override {
    std::vector<std::function<void()>> threads{[this] { flush(); }};
    for (uint32_t w = 0; w < kWorkers; ++w) {
      threads.push_back([this, w] { work(WorkerId{w}); });
    }
    return threads;
  }

  void examine() override {
    if (horizon_.durable() != kBegin + kWorkers * kRecords) violated("a record that is durable is not told");
  }

 private:
  struct Written {
    Lsn lsn;
    StreamPosition end;
  };

  void work(WorkerId worker) {
    for (uint32_t i = 0; i < kRecords; ++i) {
      const Lsn lsn = horizon_.draw(worker);
      horizon_.ends_in(worker, kStream);
      stream_end_ = stream_end_ + kRecordBytes;
      written_.push_back({lsn, stream_end_});
      horizon_.published(worker, kStream, stream_end_);
      horizon_.settled(worker, lsn, RecordKind::kCommand);
    }
  }

  // Takes what is there before what it took last is durable.
  void flush() {
    const StreamPosition all = kFirstPosition + kWorkers * kRecords * kRecordBytes;
    std::deque<StreamPosition> in_flight;
    StreamPosition taken = kFirstPosition;
    while (durable_ < all) {
      horizon_.gathers(kStream);
      if (stream_end_ > taken) in_flight.push_back(taken = stream_end_);
      if (in_flight.size() < 2 && taken < all) {
        interleaving::wait_for_others();
        continue;
      }
      durable_ = in_flight.front();
      in_flight.pop_front();
      horizon_.rose(kStream, durable_);
      judge();
    }
    while (!horizon_.may_sleep(kStream)) interleaving::wait_for_others();
    judge();
  }

  void judge() {
    for (const Written& each : written_) {
      if (each.lsn < horizon_.durable() && durable_ < each.end)
        return violated(fmt::format("record {} counts as durable, and its stream is up to {} alone",
                                    each.lsn.value, durable_.value));
    }
  }

  StreamHorizon horizon_{kBegin, 1, kWorkers};
  StreamPosition stream_end_ = kFirstPosition;  // what workers have put there
  StreamPosition durable_ = kFirstPosition;     // and the device has
  std::vector<Written> written_;
};

TEST(StreamHorizonInterleaving, NothingCountsAsDurableBeforeItIs) {
  const Exploration exploration = explore([] { return std::make_unique<WriteAndFlush>(); }, 3, 400'000);
  std::printf("    %llu schedules\n", static_cast<unsigned long long>(exploration.schedules));
  EXPECT_EQ(exploration.violation, std::nullopt);
  EXPECT_TRUE(exploration.complete);
}

}  // namespace
}  // namespace mneme
