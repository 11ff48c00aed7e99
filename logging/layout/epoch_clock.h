// EpochClock: ends the epochs of a log (epoch_log.h), every few milliseconds, by a thread of its own.
//
// Invariants  an epoch ends only if a record was drawn in it: an idle log stays where it is, and its loggers
//             asleep.
// Threads     a thread of its own. counter, hurry, await_past, wake: any.
// Waiting     await_past(): a logger, for the next epoch. hurry() ends the current epoch now: a waiter for
//             one record, or for space, doesn't wait for the rest of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/event_count.h"
#include "logging/layout/epoch_counter.h"

namespace mneme {

class EpochClock {
 public:
  EpochClock(Lsn begin, std::chrono::microseconds interval);
  ~EpochClock() { stop(); }

  EpochCounter& counter() { return counter_; }
  LogEpoch epoch() const { return epoch_of(counter_.drawn()); }

  void hurry();
  // Waits until an epoch past `epoch` has begun, or `ended` says so and wake() was called.
  template <typename Ended>
  void await_past(LogEpoch epoch, Ended ended) {
    ticks_.await([&] { return this->epoch() > epoch || ended(); });
  }
  void wake() { ticks_.notify_all(); }

  // Ends the thread and the current epoch. To be called once, after the last draw.
  void stop();

 private:
  void run();
  void end_epoch();

  const std::chrono::microseconds interval_;
  EpochCounter counter_;
  Lsn seen_;  // what the counter was when the current epoch began; run()'s, then stop()'s
  EventCount ticks_;

  std::mutex mutex_;  // guards the two below
  bool hurried_ = false;
  bool stopping_ = false;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace mneme
