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
// Readers     threads that are no workers, as a checkpoint's, which follow what rows point to (long_text.h):
//             each holds one of a few places, for as long as it reads one row.
// Threads     a worker enters and leaves its own slot; a Limbo belongs to one worker; scanning slots: any
//             worker.
// Source      Fraser, "Practical lock-freedom" (2004), section 5.2.3; Silo (SOSP'13), section 4.8.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
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

  // Is inside like a running transaction while it lives. Waits for a place where others have all. It is held
  // briefly: what is retired meanwhile stays.
  class Reader {
   public:
    explicit Reader(EpochManager& epochs, size_t preferred);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    EpochManager& epochs_;
    const size_t place_;
    const std::lock_guard<std::mutex> lock_;
  };

  // Starts a new epoch and returns the old one.
  uint64_t seal();
  // The earliest epoch that a running transaction announces; the greatest number when none runs.
  uint64_t oldest_running();

 private:
  static constexpr size_t kReaders = 4;

  // The place's number among the slots.
  WorkerId reader(size_t place) const {
    return WorkerId{static_cast<uint32_t>(slots_.size() - kReaders + place)};
  }

  // Written by seal() (acq_rel: a batch's unlinking comes before its tag; read by enter() (acquire).
  alignas(kCacheLineBytes) std::atomic<uint64_t> epoch_{1};
  // 0: idle. Exchanged by the worker's enter() (acq_rel), stored by its leave() (release: its reads end
  // before); looked at by oldest_running() with a read-modify-write (acq_rel), see Soundness.
  // The workers', and behind them the readers'.
  std::vector<CachePadded<std::atomic<uint64_t>>> slots_;
  std::array<std::mutex, kReaders> readers_;  // each held by who has the place
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
  // Frees all that there is. No transaction runs, and none will.
  void free_all();
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
