// SequenceCounter: the commit sequence of a log of several streams: one word, from which every record's LSN
// is drawn.
//
// Order       what happens before a draw is visible after any later draw (acq_rel over a chain of
//             read-modify-writes): what a commit needs (commit_log.h).
// Bounds      it is the counter of a BoundSet (bound_set.h): a worker publishes bound() before it draws, and
//             a reader loads drawn() before it scans.
// Threads     draw: workers. The rest: any.
#pragma once

#include "base/atomic.h"
#include "base/cache_line.h"
#include "logging/record/lsn.h"

namespace mneme {

class SequenceCounter {
 public:
  explicit SequenceCounter(Lsn begin) : next_(begin.value) {}

  Lsn draw() { return Lsn{next_->fetch_add(1, std::memory_order_acq_rel)}; }
  // No higher than what a later draw() of this thread returns. Relaxed: an old value is a lower bound, too.
  Lsn bound() const { return Lsn{next_->load(std::memory_order_relaxed)}; }
  // Every LSN below it is drawn, and its worker's bound, stored before it was, is visible.
  Lsn drawn() const { return Lsn{next_->load(std::memory_order_acquire)}; }

 protected:
  // Written by draw(), and by a class that moves the sequence on in another way; read by all. acq_rel,
  // acquire: the reasons are above and at drawn().
  CachePadded<Atomic<uint64_t>> next_;
};

}  // namespace mneme
