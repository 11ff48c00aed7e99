// SchemaLatch: many sessions' transactions side by side, or one change of the schema, alone.
//
// Flow        a session: enter -> its transaction -> leave
//             a change: Change -> what can be done beside transactions -> stop -> what can't -> ~Change
// Invariants  from stop() to the Change's end nobody is inside. Who is inside sees all that former changes did.
// Soundness   A session announces itself by an exchange of its slot, and looks only then whether it may stay. stop() says
//             first that nobody may, and then looks at each slot, by a read-modify-write as well. Two of these on one slot
//             have an order: where the session's is the first, stop() sees it and waits for it; where it is the second, it
//             synchronizes with stop()'s, and the session sees that it may not stay.
// Cost        a locked instruction a transaction, on a cache line that is the session's own. Where the schema stays, as
//             during `mneme run`, sessions do without the latch.
// Threads     a slot has one user at a time: a worker's session, or one of the log's helpers (DurableLogOptions). Changes: any
//             thread that is not inside.
// Waiting     enter() waits until a change has ended, a Change for the one before it, stop() for all who are inside.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/cache_line.h"
#include "base/strong_id.h"

namespace mneme {

class SchemaLatch {
 public:
  explicit SchemaLatch(uint32_t slots) : inside_(slots) {}

  void enter(WorkerId slot);
  void leave(WorkerId slot);

  class Change {
   public:
    explicit Change(SchemaLatch& latch) : latch_(latch), one_at_a_time_(latch.changing_) {}
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    void stop();

   private:
    SchemaLatch& latch_;
    const std::lock_guard<std::mutex> one_at_a_time_;
  };

 private:
  void set_closed(bool closed);

  std::mutex changing_;
  std::mutex mutex_;  // orders is_closed_ with those who wait for it
  std::condition_variable opened_;
  // Written by a Change (release: what it did comes before its end), read by enter() (acquire), see Soundness.
  alignas(kCacheLineBytes) std::atomic<bool> is_closed_{false};
  // 1: inside. Exchanged by its user's enter() (acq_rel), stored by leave() (release: the transaction ends before), looked at
  // by stop() with a read-modify-write (acq_rel), see Soundness.
  std::vector<CachePadded<std::atomic<uint32_t>>> inside_;
};

}  // namespace mneme
