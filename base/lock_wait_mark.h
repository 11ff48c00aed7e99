// LockWaitMark: notes for other threads, while it lives, whether this thread's transaction waits for others:
// for their locks, or for its turn after a conflict with them.
//
// Threads     its constructor's; the one that was made last counts. Any thread may read the mark, which
//             outlives it.
#pragma once

#include <atomic>

namespace mneme {

class LockWaitMark {
 public:
  // Relaxed: a note to look at, which orders nothing.
  explicit LockWaitMark(std::atomic<bool>& mark) : before_(current) { current = &mark; }
  ~LockWaitMark() { current = before_; }
  LockWaitMark(const LockWaitMark&) = delete;
  LockWaitMark& operator=(const LockWaitMark&) = delete;

  // Lives as long as the wait.
  class Waiting {
   public:
    Waiting() { note(true); }
    ~Waiting() { note(false); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
  };

 private:
  static void note(bool waits) {
    if (current != nullptr) current->store(waits, std::memory_order_relaxed);
  }

  static inline thread_local std::atomic<bool>* current = nullptr;

  std::atomic<bool>* const before_;
};

}  // namespace mneme
