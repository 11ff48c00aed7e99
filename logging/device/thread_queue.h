// ThreadQueue: chains run by a few threads with pwrite and fdatasync, where io_uring is not to be had.
//
// Threads  as IoQueue says, and `threads` of its own. The destructor finishes the chains that were submitted.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "logging/device/completion_box.h"
#include "logging/device/io_queue.h"

namespace mneme {

class ThreadQueue : public IoQueue {
 public:
  explicit ThreadQueue(uint32_t threads);
  ~ThreadQueue() override;

  void submit(const IoChain& chain) override;
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) override {
    box_.wait(limit, ended);
  }
  void wake() override { box_.wake(); }

 private:
  void run();

  CompletionBox box_;
  std::mutex mutex_;  // guards submitted_ and closing_
  std::condition_variable work_;
  std::deque<IoChain> submitted_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mneme
