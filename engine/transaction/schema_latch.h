// SchemaLatch: many sessions' transactions side by side, or one change of the schema, alone.
//
// Flow        a session: enter -> its transaction -> leave
//             a change: Change -> what can be done beside transactions -> stop -> what can't -> ~Change
//             a transaction that must be alone: Change -> stop_workers -> the transaction -> ~Change
// Invariants  from stop() to the Change's end no thread is inside, from stop_workers() on none in a worker's
//             slot. A thread that is inside sees all that former changes did.
// Soundness   A session announces itself by an exchange of its slot, and looks only then whether it may stay.
//             stop() first forbids entering, and then looks at each slot, by a read-modify-write as well. Two
//             of these on one slot have an order: where the session's is the first, stop() sees it and waits
//             for it; where it is the second, it synchronizes with stop()'s, and the session sees that it may
//             not stay.
// Cost        a locked instruction a transaction, on a cache line that is the session's own. Where the schema
//             stays, as during `mneme run`, sessions do without the latch.
// Threads     a slot has one user at a time: a worker's session, or one of the log's helpers
//             (DurableLogOptions). Changes: any thread. A slot knows the thread that used it last, unless the
//             transaction rests, so that a thread never waits for a transaction that only this thread could
//             end.
// Waiting     enter() waits until a change has ended, a Change for the one before it, stop() for all that are
//             inside, but no longer than its caller says for those of the workers.
// Errors      what would wait for the waiting thread itself is refused: Entered, Stopped.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/cache_line.h"
#include "base/strong_id.h"

namespace mneme {

class SchemaLatch {
 public:
  // The first `workers` slots are those of sessions, whose users may think, and forget.
  SchemaLatch(uint32_t workers, uint32_t slots) : workers_(workers), inside_(slots) {}

  // kOwnBlock: a change waits for a transaction of this thread, in another slot, and it would have to wait
  // for that change.
  enum class Entered { kInside, kOwnBlock };
  [[nodiscard]] Entered enter(WorkerId slot);
  // Enters like enter(), but returns false where that would have to wait.
  [[nodiscard]] bool try_enter(WorkerId slot);
  // The transaction in the slot, which is entered, goes on, on this thread.
  void go_on(WorkerId slot);
  // The transaction in the slot rests, and goes on on any thread: this one is not inside for its sake any
  // more.
  void rest(WorkerId slot);
  void leave(WorkerId slot);

  // Whether a session was kept out since the last call.
  bool take_refused() { return has_refused_.exchange(false, std::memory_order_relaxed); }

  // Whether the thread is inside, in any slot.
  bool is_inside() const;

  class Change {
   public:
    explicit Change(SchemaLatch& latch) : latch_(latch), one_at_a_time_(latch.changing_) {}
    ~Change();
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    enum class Stopped { kStopped, kOwnBlock, kTimedOut };
    // Anything but kStopped: others are inside, and go on once this Change ends. Nothing for `longest`: for
    // as long as it takes.
    [[nodiscard]] Stopped stop(std::optional<std::chrono::milliseconds> longest = {}) {
      return stop(longest, static_cast<uint32_t>(latch_.inside_.size()));
    }
    // The same, but a checkpoint goes on beside.
    [[nodiscard]] Stopped stop_workers(std::chrono::milliseconds longest) {
      return stop(longest, latch_.workers_);
    }

   private:
    Stopped stop(std::optional<std::chrono::milliseconds> longest, uint32_t slots);

    SchemaLatch& latch_;
    const std::lock_guard<std::mutex> one_at_a_time_;
  };

 private:
  void set_closed(bool closed);

  std::mutex changing_;
  std::mutex mutex_;  // orders is_closed_ with its waiters
  std::condition_variable opened_;
  // Written by a Change (release: what it did comes before its end), read by enter() (acquire), see
  // Soundness.
  alignas(kCacheLineBytes) std::atomic<bool> is_closed_{false};
  // Set by try_enter() where it fails, taken by who stops sessions often (relaxed: a hint).
  std::atomic<bool> has_refused_{false};
  const uint32_t workers_;
  // The thread that is inside; 0: none. Exchanged by its user's enter() (acq_rel), stored by go_on() and
  // rest() (relaxed: it stays other than 0), by leave() (release: the transaction ends before), looked at by
  // stop() with a read-modify-write (acq_rel), see Soundness.
  std::vector<CachePadded<std::atomic<uint32_t>>> inside_;
};

}  // namespace mneme
