// EpochHorizon: how far an epoch log (epoch_log.h) is durable, and whether it has failed. Its threads wake
// each other through it.
//
// Invariants  durable() never falls. After fail() it stays, and every wait ends.
// Threads     any. rise: the pepoch thread alone.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "base/cache_line.h"
#include "base/event_count.h"
#include "base/result.h"
#include "logging/record/lsn.h"

namespace mneme {

class EpochHorizon {
 public:
  explicit EpochHorizon(Lsn begin) : durable_(begin.value) {}

  Lsn durable() const { return Lsn{durable_->load(std::memory_order_acquire)}; }
  void rise(Lsn durable) {
    durable_->store(durable.value, std::memory_order_release);
    risen_.notify_all();
  }
  // False: the log failed before the record at `lsn` was durable.
  bool await(Lsn lsn) {
    risen_.await([&] { return lsn < durable() || has_failed(); });
    return lsn < durable();
  }

  bool has_failed() const { return failed_.load(std::memory_order_acquire); }
  std::optional<Error> failure() const {
    const std::lock_guard guard(mutex_);
    return failure_;
  }
  void fail(Error error) {
    {
      const std::lock_guard guard(mutex_);
      if (!failure_) failure_ = std::move(error);
    }
    failed_.store(true, std::memory_order_release);
    risen_.notify_all();
    loggers_.notify_all();
  }

  // A logger has persisted more, or the log is being closed.
  void logger_came_on() { loggers_.notify_all(); }
  // To be called by the pepoch thread.
  template <typename Condition>
  void await_loggers(Condition condition) {
    loggers_.await([&] { return condition() || has_failed(); });
  }

 private:
  // Written by the pepoch thread (release: the records below are durable before anybody hears of it); read by
  // all (acquire).
  CachePadded<std::atomic<uint64_t>> durable_;
  std::atomic<bool> failed_{false};  // written by fail() (release), read by waiters and threads (acquire)
  EventCount risen_;                 // durable_ or failed_ changed
  EventCount loggers_;               // a logger came on

  mutable std::mutex mutex_;  // guards failure_
  std::optional<Error> failure_;
};

}  // namespace mneme
