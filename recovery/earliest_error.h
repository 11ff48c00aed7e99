// EarliestError: of the errors that several threads meet, the one of the lowest LSN: the others may be its consequence.
//
// Threads     keep, is_set: any. take: once they have ended.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "logging/lsn.h"

namespace mneme {

class EarliestError {
 public:
  // False, so that who fails can return it.
  bool keep(Lsn lsn, Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || lsn < lsn_) {
      error_ = std::move(error);
      lsn_ = lsn;
    }
    is_set_.store(true, std::memory_order_relaxed);
    return false;
  }
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }
  const std::optional<Error>& take() const { return error_; }

 private:
  // Set by who fails, read by others, who then stop: relaxed, for nothing is read on its account.
  std::atomic<bool> is_set_{false};
  std::mutex mutex_;
  std::optional<Error> error_;  // guarded by mutex_ while threads run, as is the next
  Lsn lsn_;
};

}  // namespace mneme
