// EarliestError: of the errors that several threads meet, the one of the lowest LSN: the others may be its
// consequence.
//
// Threads     keep, is_set, is_at_or_before: any. take: once they have ended.
#pragma once

#include <atomic>
#include <limits>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "logging/record/lsn.h"

namespace mneme {

class EarliestError {
 public:
  // False, so that a failing thread can return it.
  bool keep(Lsn lsn, Error error) {
    const std::lock_guard lock(mutex_);
    if (!is_at_or_before(lsn)) {
      error_ = std::move(error);
      lsn_.store(lsn.value, std::memory_order_relaxed);
    }
    return false;
  }
  bool is_set() const { return lsn_.load(std::memory_order_relaxed) != kNone; }
  // Whether another at this LSN would be for nothing.
  bool is_at_or_before(Lsn lsn) const { return lsn_.load(std::memory_order_relaxed) <= lsn.value; }
  const std::optional<Error>& take() const { return error_; }

 private:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  // The error's. Written under mutex_ by a failing thread, read by all, which then stop or pass over what
  // comes behind it: relaxed, because no other data depends on it; a thread that reads it late does some work
  // in vain.
  std::atomic<uint64_t> lsn_{kNone};
  std::mutex mutex_;
  std::optional<Error> error_;  // guarded by mutex_ while threads run
};

}  // namespace mneme
