// CompletionBox: where the threads of an IoQueue leave the chains that ended, and its owner waits for them.
//
// Threads  put, wake: any. wait: the queue's owner.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "logging/device/io_queue.h"

namespace mneme {

class CompletionBox {
 public:
  void put(const IoCompletion& completion) {
    const std::lock_guard guard(mutex_);
    ended_.push_back(completion);
    changed_.notify_one();
  }
  void wake() {
    const std::lock_guard guard(mutex_);
    woken_ = true;
    changed_.notify_one();
  }
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) {
    std::unique_lock guard(mutex_);
    changed_.wait_for(guard, limit, [this] { return woken_ || !ended_.empty(); });
    woken_ = false;
    ended.insert(ended.end(), ended_.begin(), ended_.end());
    ended_.clear();
  }

 private:
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<IoCompletion> ended_;
  bool woken_ = false;
};

}  // namespace mneme
