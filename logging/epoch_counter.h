// EpochCounter: the commit sequence of a log that is divided into epochs: one word, from which every record's LSN is
// drawn and which every epoch begins.
//
// Invariants  each draw and each begin of an epoch is a read-modify-write of this word, so all of them lie in one order,
//             and LSNs rise along it: whoever draws after an epoch has begun draws in it or a later one.
// Order       what happens before a draw is visible after any later draw (acq_rel over a chain of read-modify-writes):
//             what a commit needs (commit_log.h).
// Threads     draw: workers. begin_next_epoch: who keeps the epochs (epoch_clock.h). The rest: any.
#pragma once

#include "base/atomic.h"
#include "base/cache_line.h"
#include "logging/epoch_lsn.h"

namespace mneme {

class EpochCounter {
 public:
  explicit EpochCounter(Lsn begin) : next_(begin.value) {}

  Lsn draw() { return Lsn{next_->fetch_add(1, std::memory_order_acq_rel)}; }
  // Returns what the new epoch's first draw returns.
  Lsn begin_next_epoch() {
    return Lsn{next_->fetch_add(kPlacesPerEpoch, std::memory_order_acq_rel)} + kPlacesPerEpoch;
  }

  // No higher than what a later draw() of this thread returns. Relaxed: an old value is a lower bound, too.
  Lsn bound() const { return Lsn{next_->load(std::memory_order_relaxed)}; }
  // Every LSN below it is drawn, and its worker's bound, stored before it was, is visible (logger_buffer.h).
  Lsn drawn() const { return Lsn{next_->load(std::memory_order_acquire)}; }

 private:
  // Written by draw() and begin_next_epoch(), read by all. acq_rel, acquire: the reasons are above and at drawn().
  CachePadded<Atomic<uint64_t>> next_;
};

}  // namespace mneme
