// InsertLock: the lock over a log buffer's tail.
//
// Threads   one holds it; another may give it up in its stead, which a std::mutex forbids and the
//           consolidation buffer needs (the last of a group to finish, not the leader that took it).
// Waiting   lock() spins, and gives the processor away now and then: with more threads than cores, the holder
//           may not be running.
#pragma once

#include "base/atomic.h"
#include "base/check.h"
#include "base/spin.h"

namespace mneme {

class InsertLock {
 public:
  bool try_lock() {
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acq_rel);
  }
  void lock() {
    for (uint32_t tries = 0; !try_lock(); ++tries) spin_pause(tries);
  }
  void unlock() {
    DCHECK(held_.load(std::memory_order_relaxed));
    held_.store(false, std::memory_order_release);
  }

 private:
  // Written by the thread that takes it (acquire: sees all that earlier holders did), and when it releases it
  // (release). The relaxed look before the exchange only spares the cache line.
  Atomic<bool> held_{false};
};

}  // namespace mneme
