// BoundSet: how a reader finds up to where numbers that many workers draw from one counter are published,
// with no lock and no list of what is missing. The watermark buffer, the loggers of epochs, the horizons of
// streams and the space in persistent memory all rest on it.
//
// Flow        worker: publish(a lower bound of the number to come) -> draw the number -> write what belongs
//             to it -> clear(). reader: load the counter -> lowest(what it loaded).
// Counter     a word that draws alone change, by read-modify-writes (acq_rel), and that readers load
//             (acquire).
// Invariants  while a worker's number r is drawn and not cleared, its bound is at most r. Every number below
//             lowest() that was drawn has been cleared, and what its worker wrote before is visible.
// Threads     publish, clear, is_clear: the worker that they name. lowest, has_cleared: any.
// Cost        a worker stores twice to a cache line of its own; a reader loads a line a worker.
// Source      the idea behind Border-Collie (Kim et al., SIGMOD 2019): wait-free, no list and no heap of
//             holes.
//
// Why it is right. Let the reader load the counter as T and then scan, and let a number r < T be uncleared at
// the time its worker's bound is read. The counter's modification order is a chain of acq_rel
// read-modify-writes, so the acquire load of T synchronizes with the one that drew r, which the same worker's
// store of a bound b <= r precedes. Hence the scan reads that store or a later one of this worker. A later
// one would be either the clearing of r, which has not happened yet, or a bound for a later number, which
// comes after that clearing. So the scan reads b <= r, and lowest() is at most r. Where the scan does read a
// later store, that store is a release and comes after what the worker wrote: whatever lies below lowest() is
// visible. In the other order, scan and then counter, a number drawn in between and not cleared would lie
// below T and under no bound that the scan saw.
//
// lowest() may fall: a worker may load the counter for its bound, be held up, and publish that old value
// late. What lies below an earlier lowest() is cleared nonetheless, so a reader keeps the highest that it has
// found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "base/atomic.h"
#include "base/cache_line.h"

namespace mneme {

struct NothingBeside {};

// Beside: what else each worker publishes, on the cache line of its bound. A worker stores it (release)
// before it clears its bound, and a reader loads it (acquire) after lowest(): so it covers each number below.
template <typename Beside = NothingBeside>
class BoundSet {
 public:
  explicit BoundSet(uint32_t workers)
      : workers_(workers), slots_(std::make_unique<CachePadded<Slot>[]>(workers)) {}

  uint32_t workers() const { return workers_; }

  // Before the worker draws. `bound` is no higher than what it draws: the counter, loaded in any order, as an
  // old value is a lower bound, too.
  void publish(uint32_t worker, uint64_t bound) {
    slots_[worker]->bound.store(bound, std::memory_order_release);
  }
  void clear(uint32_t worker) { slots_[worker]->bound.store(kNoBound, std::memory_order_release); }
  // Whether the worker has no number that is not cleared, as it knows itself.
  bool is_clear(uint32_t worker) const {
    return slots_[worker]->bound.load(std::memory_order_relaxed) == kNoBound;
  }
  // The same as another thread sees it: what the worker wrote before is visible.
  bool has_cleared(uint32_t worker) const {
    return slots_[worker]->bound.load(std::memory_order_acquire) == kNoBound;
  }

  // `drawn`: the counter, loaded before (acquire).
  uint64_t lowest(uint64_t drawn) const {
    for (uint32_t worker = 0; worker < workers_; ++worker) {
      drawn = std::min(drawn, slots_[worker]->bound.load(std::memory_order_acquire));
    }
    return drawn;
  }

  Beside& beside(uint32_t worker) { return slots_[worker]->beside; }
  const Beside& beside(uint32_t worker) const { return slots_[worker]->beside; }

 private:
  static constexpr uint64_t kNoBound = std::numeric_limits<uint64_t>::max();

  struct Slot {
    // Its worker's alone to write (release: before its draw, or after what it wrote), the reader's to load
    // (acquire).
    Atomic<uint64_t> bound{kNoBound};
    [[no_unique_address]] Beside beside;
  };

  const uint32_t workers_;
  const std::unique_ptr<CachePadded<Slot>[]> slots_;
};

}  // namespace mneme
