#include "logging/device/thread_queue.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace mneme {

namespace {

IoCompletion run_chain(const IoChain& chain) {
  const iovec bytes{const_cast<std::byte*>(chain.bytes.data()), chain.bytes.size()};
  ssize_t written;
  do {
    written = ::pwritev2(chain.file, &bytes, 1, static_cast<off_t>(chain.offset),
                         chain.durability == IoChain::Durability::kWriteThrough ? RWF_DSYNC : 0);
  } while (written < 0 && errno == EINTR);
  if (written < 0) return {chain.tag, IoCompletion::Failure::kWrite, errno};
  if (static_cast<size_t>(written) < chain.bytes.size())
    return {chain.tag, IoCompletion::Failure::kShortWrite, 0};
  if (chain.durability == IoChain::Durability::kSync && ::fdatasync(chain.file) != 0)
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
