// Epoch: when may a freed row be used again? Once no transaction that could still hold a pointer to it is
// running.
//
// Flow        worker: enter() -> reads -> leave().  unlink a row -> Limbo::retire() -> Limbo::collect() ->
//             free.
// Invariants  a retired object is handed back only when every transaction that was running when it was
//             unlinked has ended. Objects must be unlinked (no new reader can find them) before they are
//             retired.
// Soundness   A batch is sealed by a fetch_add on the global epoch, whose old value is the batch's tag, and
//             freed once every worker is idle or announces a later epoch. A worker that announces a later one
//             has read the epoch from that fetch_add or a successor, and so has seen the unlinking. One that
//             was idle when its slot was looked at has, on entering, exchanged the slot after that look (both
//             are read-modify-writes of one word, so they have an order and the later one synchronizes with
//             the earlier) and has seen it as well.
// Threads     a worker enters and leaves its own slot; a Limbo belongs to one worker; scanning slots: any
//             worker.
// Source      Fraser, "Practical lock-freedom" (2004), section 5.2.3; Silo (SOSP'13), section 4.8.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/cache_line.h"
#include "base/fifo_queue.h"
#include "base/strong_id.h"

namespace mneme {

class EpochManager {
 public:
  explicit EpochManager(uint32_t worker_count);

  void enter(WorkerId worker);
  void leave(WorkerId worker);

  // Starts a new epoch and returns the old one.
  uint64_t seal();
  // The earliest epoch that a running transaction announces; the greatest number when none runs.
  uint64_t oldest_running();

 private:
  // Written by seal() (acq_rel: a batch's unlinking comes before its tag; read by enter() (acquire).
  alignas(kCacheLineBytes) std::atomic<uint64_t> epoch_{1};
  // 0: idle. Exchanged by the worker's enter() (acq_rel), stored by its leave() (release: its reads end
  // before); looked at by oldest_running() with a read-modify-write (acq_rel), see Soundness.
  std::vector<CachePadded<std::atomic<uint64_t>>> slots_;
};

// The objects that one worker has unlinked and may not free yet.
class Limbo {
 public:
  using Free = void (*)(void* context, void* object);

  explicit Limbo(EpochManager& epochs) : epochs_(epochs) {}

  void retire(void* object, Free free, void* context);
  // The next `count` calls of retire() allocate nothing.
  void make_room(size_t count) {
    if (open_.size() + count > open_.capacity()) open_.reserve(2 * (open_.size() + count));
  }
  // Frees what no running transaction can hold. Call outside of a transaction, now and then.
  void collect();
  size_t size() const { return size_; }

 private:
  struct Retired {
    void* object;
    Free free;
    void* context;
  };
  struct Batch {
    uint64_t epoch = 0;
    std::vector<Retired> objects;
  };

  EpochManager& epochs_;
  std::vector<Retired> open_;
  FifoQueue<Batch> sealed_;
  size_t size_ = 0;
  std::vector<std::vector<Retired>>
      spare_;  // emptied batches, kept so that the steady state allocates nothing
};

}  // namespace mneme
