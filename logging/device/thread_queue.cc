#include "logging/device/thread_queue.h"

#include "logging/device/inline_queue.h"

namespace mneme {

ThreadQueue::ThreadQueue(uint32_t threads) {
  for (uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

ThreadQueue::~ThreadQueue() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
    work_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadQueue::submit(const IoChain& chain) {
  const std::lock_guard guard(mutex_);
  submitted_.push_back(chain);
  work_.notify_one();
}

void ThreadQueue::run() {
  std::unique_lock guard(mutex_);
  while (true) {
    work_.wait(guard, [this] { return closing_ || !submitted_.empty(); });
    if (submitted_.empty()) return;
    const IoChain chain = submitted_.front();
    submitted_.pop_front();
    guard.unlock();
    box_.put(run_chain(chain));
    guard.lock();
  }
}

}  // namespace mneme
