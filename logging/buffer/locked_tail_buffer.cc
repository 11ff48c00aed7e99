#include "logging/buffer/locked_tail_buffer.h"

#include "base/check.h"
#include "base/spin.h"

namespace mneme {

LockedTailBuffer::LockedTailBuffer(const LogBufferOptions& options)
    : LogBuffer(options), tail_(options.begin.value), prefix_(options.begin.value) {}

bool LockedTailBuffer::quiescent(StreamPosition upto) {
  if (!lock_->try_lock()) return false;
  const bool nothing_reserved = reserved() == upto;
  lock_->unlock();
  return nothing_reserved;
}

StreamPosition LockedTailBuffer::draw(size_t bytes) {
  const StreamPosition begin = reserved();
  tail_->store(begin.value + bytes, std::memory_order_relaxed);
  return begin;
}

void LockedTailBuffer::await_turn(StreamPosition begin) const {
  for (uint32_t tries = 0; prefix_->load(std::memory_order_acquire) != begin.value; ++tries)
    spin_pause(tries);
}

void LockedTailBuffer::raise_prefix(StreamPosition begin, uint64_t bytes) {
  DCHECK(prefix_->load(std::memory_order_relaxed) == begin.value);
  prefix_->store(begin.value + bytes, std::memory_order_release);
}

}  // namespace mneme
