#include "logging/device/lossy_queue.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace mneme {

namespace {

int write_through(int descriptor, ByteSpan bytes, uint64_t offset) {
  const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (written < 0) return errno;
  return static_cast<size_t>(written) == bytes.size() ? 0 : ENOSPC;
}

}  // namespace

LossyQueue::LossyQueue(uint64_t seed)
    : random_(seed),
      cache_([this](int name, uint64_t offset, ByteSpan bytes) { return write(name, offset, bytes); }, seed),
      thread_([this] { run(); }) {}

LossyQueue::~LossyQueue() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
    work_.notify_all();
  }
  thread_.join();
}

int LossyQueue::attach(int handle) {
  const std::lock_guard guard(mutex_);
  files_[next_name_] = std::make_shared<const File>(File::duplicate(handle));
  return next_name_++;
}

void LossyQueue::detach(int name) {
  const std::lock_guard guard(mutex_);
  files_.erase(name);
}

void LossyQueue::submit(const IoChain& chain) {
  const std::lock_guard guard(mutex_);
  submitted_.push_back(chain);
  work_.notify_one();
}

void LossyQueue::run() {
  std::unique_lock guard(mutex_);
  while (true) {
    work_.wait(guard, [this] { return closing_ || !submitted_.empty(); });
    if (closing_) return;
    const size_t chosen = random_() % submitted_.size();
    const IoChain chain = submitted_[chosen];
    submitted_.erase(submitted_.begin() + static_cast<ptrdiff_t>(chosen));
    guard.unlock();
    box_.put(run_chain(chain));
    guard.lock();
  }
}

IoCompletion LossyQueue::run_chain(const IoChain& chain) {
  using Failure = IoCompletion::Failure;
  if (const int error = cache_.put(chain.file, chain.offset, chain.bytes); error != 0)
    return {chain.tag, Failure::kWrite, error};
  if (random_() % 4 == 0) {
    if (const int error = cache_.write_back_early(); error != 0) return {chain.tag, Failure::kWrite, error};
  }
  if (chain.durability == IoChain::Durability::kNone) return {chain.tag, Failure::kNone, 0};
  std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
  if (chain.durability == IoChain::Durability::kWriteThrough) {
    const int error = write(chain.file, chain.offset, chain.bytes);
    return {chain.tag, error == 0 ? Failure::kNone : Failure::kWrite, error};
  }
  const int error = cache_.sync(chain.file);
  return {chain.tag, error == 0 ? Failure::kNone : Failure::kSync, error};
}

// Writes to a file that is attached. What is cached of another is lost.
int LossyQueue::write(int name, uint64_t offset, ByteSpan bytes) {
  std::shared_ptr<const File> file;
  {
    const std::lock_guard guard(mutex_);
    const auto found = files_.find(name);
    if (found == files_.end()) return 0;
    file = found->second;
  }
  return write_through(file->descriptor(), bytes, offset);
}

}  // namespace mneme
