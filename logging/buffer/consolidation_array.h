// ConsolidationArray: where threads that find the tail's lock taken join their requests, so that one of them,
// the group's leader, takes the lock for all.
//
// Flow        join() -> leader, with the lock: close() -> draw -> notify();  others: await()
//             -> fill -> leave() -> the last to leave: release the group's region, free()
// Invariants  the life of a slot is Aether's Figure 17, in one integer:
//                 kReady + n   open: n bytes joined so far                  (n = 0: no group yet)
//                 kPending     closed: its leader draws the region
//                 kDone - n    copying: n bytes of the group not yet filled
//                 kDone        done: the last one to leave releases the region
//                 kFree        in the pool
//             with kDone < kFree < kPending < kReady. The array's slots are open, but for the moment between
//             a slot's closing and its readers' next look. A slot outside the array and not free has a member
//             that has not left, so `slots + workers` of them are enough and close() always finds a free one.
// Threads     close(), on the lock that the caller holds; free(), the last to leave; the rest, any worker.
// Waiting     await() waits for the leader; join() probes until it finds a slot open.
// Order       a member's offset is its place in the slot's modification order, so members that joined earlier
//             have lower positions, and the joins' read-modify-writes carry memory from each to the next. The
//             leader draws after it closed the slot, so after every member joined: if a reserve() returned
//             before a member's began, its draw came before the group's. The lock carries memory from group
//             to group, notify() to the members.
// Source      Aether, section 5.1, appendices A.2, A.4 and A.5, Algorithms 2 and 4.
#pragma once

#include <cstdint>
#include <memory>

#include "base/atomic.h"
#include "base/cache_line.h"
#include "base/strong_id.h"
#include "logging/record/stream_position.h"

namespace mneme {

class ConsolidationArray {
 public:
  struct Region {
    StreamPosition begin;
    uint64_t bytes = 0;
    uint64_t ticket = 0;  // the buffer's own, as it was passed to notify()
  };
  class Slot {
    friend class ConsolidationArray;
    // Written by members, each as a read-modify-write (acq_rel: they hand on what they did, and what they
    // filled), and by the leader; read by workers that join and wait (acquire).
    Atomic<int64_t> state_{kFree};
    // Written by the worker that puts the slot into the array, before it opens it; read by the leader.
    uint32_t index_ = 0;
    // Written by the leader before it says so in state_; read by members after.
    Region region_;
  };
  struct Place {
    Slot* slot = nullptr;
    uint64_t offset = 0;  // from the group's begin

    bool leads() const { return offset == 0; }
  };

  ConsolidationArray(uint32_t slots, uint32_t workers);

  // Joins an open slot, from a random place on. `random` is the worker's own number.
  Place join(uint64_t random, size_t bytes);
  // Closes the group and puts a free slot in its place. Returns the group's bytes. The caller holds the
  // tail's lock.
  uint64_t close(Slot& slot);
  // The leader drew this region for its group.
  void notify(Slot& slot, const Region& region);
  // Waits for notify(), and returns the region.
  Region await(const Slot& slot) const;
  // The caller's part is filled. True: it was the last, everybody's part is filled, and it must release the
  // region and free the slot.
  bool leave(Slot& slot, size_t bytes);
  const Region& region(const Slot& slot) const { return slot.region_; }
  void free(Slot& slot);

 private:
  static constexpr int64_t kReady = 0;
  static constexpr int64_t kPending = -1;
  static constexpr int64_t kFree = -2;
  static constexpr int64_t kDone = -3;
  static_assert(kDone < kFree && kFree < kPending && kPending < kReady);

  Slot& take_free();

  const uint32_t slots_;
  const uint32_t pool_size_;
  const std::unique_ptr<CachePadded<Slot>[]> pool_;
  // Written under the tail's lock (relaxed); read by workers that join (relaxed). A stale pointer leads to a
  // slot that is closed, and is refused by its state, or open again elsewhere in the array, and as good as
  // any.
  const std::unique_ptr<CachePadded<Atomic<Slot*>>[]> array_;
  uint32_t next_in_pool_ = 0;  // guarded by the tail's lock
};

}  // namespace mneme
