// EventCount: sleep until a condition that others make true, where they pay one atomic add and no lock to say
// so.
//
// Flow        waiter: await(condition).  notifier: makes the condition true, then notify_all().
// Invariants  a waiter that saw the condition false before a notify_all() began is woken by it. Why: both
//             sides read-modify-write state_. Whichever comes first in its order is seen by the other: either
//             the notifier counts the waiter, or the waiter, looking once more after its own step, sees the
//             condition.
// Threads     any.
// Waiting     await() on a futex, so an idle thread costs nothing.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace mneme {

class EventCount {
 public:
  // Returns once `condition()` holds. The condition must read what it needs with acquire.
  template <typename Condition>
  void await(Condition condition) {
    while (!condition()) {
      const uint64_t before = state_.fetch_add(kOneWaiter, std::memory_order_acq_rel);
      if (!condition()) sleep(epoch_of(before));
      state_.fetch_sub(kOneWaiter, std::memory_order_relaxed);
    }
  }

  void notify_all() {
    const uint64_t before = state_.fetch_add(kOneEpoch, std::memory_order_acq_rel);
    if (static_cast<uint32_t>(before) != 0) {
      syscall(SYS_futex, epoch_word(), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
  }

  // A hint: whether a thread waits just now.
  bool has_waiters() const { return static_cast<uint32_t>(state_.load(std::memory_order_relaxed)) != 0; }

 private:
  static constexpr uint64_t kOneWaiter = 1;
  static constexpr uint64_t kOneEpoch = uint64_t{1} << 32;

  static uint32_t epoch_of(uint64_t state) { return static_cast<uint32_t>(state >> 32); }
  // The kernel compares 32 bits: the epoch, the upper half of a little-endian word.
  uint32_t* epoch_word() { return reinterpret_cast<uint32_t*>(&state_) + 1; }

  // The kernel returns at once when the epoch has moved on; a spurious return only looks at the condition
  // again.
  void sleep(uint32_t epoch) {
    syscall(SYS_futex, epoch_word(), FUTEX_WAIT_PRIVATE, epoch, nullptr, nullptr, 0);
  }

  // Low half: threads between their announcement and their return. High half: the number of notifications.
  // Written by both sides, always as a read-modify-write: the total order of those is the whole argument
  // above.
  std::atomic<uint64_t> state_{0};
};

}  // namespace mneme
