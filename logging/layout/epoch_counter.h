// EpochCounter: a commit sequence that is divided into epochs: the word from which records' LSNs are drawn
// begins the epochs, too.
//
// Invariants  each draw and each begin of an epoch is a read-modify-write of this word, so all of them lie in
//             one order, and LSNs rise along it: a draw after an epoch has begun is in that epoch or a later
//             one.
// Order       as sequence_counter.h says.
// Threads     begin_next_epoch: the epoch clock (epoch_clock.h). The rest as SequenceCounter says.
#pragma once

#include "logging/commit/sequence_counter.h"
#include "logging/record/epoch_lsn.h"

namespace mneme {

class EpochCounter : public SequenceCounter {
 public:
  using SequenceCounter::SequenceCounter;

  // Returns what the new epoch's first draw returns.
  Lsn begin_next_epoch() {
    return Lsn{next_->fetch_add(kPlacesPerEpoch, std::memory_order_acq_rel)} + kPlacesPerEpoch;
  }
};

}  // namespace mneme
