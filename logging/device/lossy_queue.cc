#include "logging/device/lossy_queue.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "logging/record/block_format.h"

namespace mneme {

namespace {

// The cache's size: beyond it the oldest write reaches the file, as in a real disk.
constexpr size_t kCachedWrites = 256;

int write_through(int descriptor, ByteSpan bytes, uint64_t offset) {
  const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (written < 0) return errno;
  return static_cast<size_t>(written) == bytes.size() ? 0 : ENOSPC;
}

}  // namespace

LossyQueue::LossyQueue(uint64_t seed) : random_(seed), thread_([this] { run(); }) {}

LossyQueue::~LossyQueue() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
    work_.notify_all();
  }
  thread_.join();
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
  cache_.push_back(
      {chain.file, File::duplicate(chain.file), chain.offset, {chain.bytes.begin(), chain.bytes.end()}});
  if (random_() % 4 == 0) write_back_early();
  if (cache_.size() > kCachedWrites) {
    const CachedWrite oldest = std::move(cache_.front());
    cache_.pop_front();
    if (const int error = write_through(oldest.file.descriptor(), oldest.bytes, oldest.offset); error != 0) {
      return {chain.tag, IoCompletion::Failure::kWrite, error};
    }
  }
  if (chain.durability == IoChain::Durability::kNone) return {chain.tag, IoCompletion::Failure::kNone, 0};
  std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
  if (chain.durability == IoChain::Durability::kWriteThrough) {
    const int error = write_through(chain.file, chain.bytes, chain.offset);
    return {chain.tag, error == 0 ? IoCompletion::Failure::kNone : IoCompletion::Failure::kWrite, error};
  }
  const int error = sync(chain.file);
  return {chain.tag, error == 0 ? IoCompletion::Failure::kNone : IoCompletion::Failure::kSync, error};
}

void LossyQueue::write_back_early() {
  const CachedWrite& write = cache_[random_() % cache_.size()];
  for (size_t at = 0; at < write.bytes.size(); at += kSectorBytes) {
    if (random_() % 2 == 0) continue;
    const ByteSpan sector =
        ByteSpan(write.bytes).subspan(at, std::min(kSectorBytes, write.bytes.size() - at));
    // A failure shows again at the sync, which writes these sectors once more.
    write_through(write.file.descriptor(), sector, write.offset + at);
  }
}

int LossyQueue::sync(int descriptor) {
  std::shuffle(cache_.begin(), cache_.end(), random_);
  int error = 0;
  for (const CachedWrite& write : cache_) {
    if (write.descriptor == descriptor && error == 0)
      error = write_through(write.file.descriptor(), write.bytes, write.offset);
  }
  std::erase_if(cache_, [&](const CachedWrite& write) { return write.descriptor == descriptor; });
  return error;
}

}  // namespace mneme
