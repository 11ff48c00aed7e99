// DurableCacheHorizon: the CommitHorizon of streams in persistent memory behind caches that are durable, too:
// what a worker has stored survives, with no fence and no daemon. What passive group commit is to be compared
// with.
//
// Invariants  a record is durable once its stores have left the store buffer, and x86 doesn't reorder stores;
//             so one that is settled is. Which all are, below which number, tells a scan of the workers'
//             bounds (bound_set.h), by the asking thread: rows are unlocked before their record is stored,
//             so a transaction has to wait for lower numbers whose workers are storing them just now, here
//             too.
// Threads     as CommitHorizon says.
// Waiting     await(), for a worker that is storing its record: a microsecond, unless it is taken off its
//             processor.
// Price       a thread that asks reads a line a worker.
// Source      Wang, Johnson: "Scalable Logging through Emerging Non-Volatile Memory" (VLDB'14), section 4.2.
#pragma once

#include <atomic>

#include "base/cache_line.h"
#include "logging/buffer/bound_set.h"
#include "logging/commit/commit_horizon.h"
#include "logging/commit/sequence_counter.h"

namespace mneme {

class DurableCacheHorizon final : public CommitHorizon {
 public:
  DurableCacheHorizon(Lsn begin, uint32_t appenders);

  Lsn draw(WorkerId worker) override {
    bounds_.publish(worker.value, counter_.bound().value);
    return counter_.draw();
  }
  void settled(WorkerId worker, Lsn, RecordKind) override { bounds_.clear(worker.value); }

  Lsn drawn() const override { return counter_.drawn(); }
  Lsn durable() const override;
  bool await(Lsn lsn) override;
  void fail() override { failed_.store(true, std::memory_order_release); }
  bool has_failed() const override { return failed_.load(std::memory_order_acquire); }

 private:
  SequenceCounter counter_;
  BoundSet<> bounds_;  // of each worker's drawn record that is not stored yet
  // The highest that a scan has found: bounds may be late, and old ones low. Raised by a scan (release),
  // read by all (acquire).
  mutable CachePadded<std::atomic<uint64_t>> durable_;
  std::atomic<bool> failed_{false};  // written by fail() (release), read by all (acquire)
};

}  // namespace mneme
