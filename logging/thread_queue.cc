#include "logging/thread_queue.h"

#include <unistd.h>

#include <cerrno>

namespace mneme {

namespace {

IoCompletion run_chain(const IoChain& chain) {
  ssize_t written;
  do {
    written =
        ::pwrite(chain.descriptor, chain.bytes.data(), chain.bytes.size(), static_cast<off_t>(chain.offset));
  } while (written < 0 && errno == EINTR);
  if (written < 0) return {chain.tag, IoCompletion::Failure::kWrite, errno};
  if (static_cast<size_t>(written) < chain.bytes.size())
    return {chain.tag, IoCompletion::Failure::kShortWrite, 0};
  if (chain.sync && ::fdatasync(chain.descriptor) != 0)
    return {chain.tag, IoCompletion::Failure::kSync, errno};
  return {chain.tag, IoCompletion::Failure::kNone, 0};
}

}  // namespace

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
