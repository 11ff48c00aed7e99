// The mutex buffer: one lock over reservation and fill. The baseline that the others are measured against.
//
// Flow        reserve: take the lock, draw.  publish: raise the prefix, give up the lock.
// Invariants  at most one record is reserved and unpublished.
// Waiting     reserve() waits while any worker has a record reserved and unpublished. A stopped worker stops
//             all.
// Source      Aether, appendix A.1, Algorithm 1. The lock is held over what a transaction does between its
//             reservation and its fill as well (validation): the position must be drawn before it.
#pragma once

#include "logging/buffer/locked_tail_buffer.h"

namespace mneme {

class MutexBuffer : public LockedTailBuffer {
 public:
  using LockedTailBuffer::LockedTailBuffer;

  StreamPosition reserve(WorkerId, size_t bytes) override {
    lock_->lock();
    return draw(bytes);
  }
  void publish(WorkerId, StreamPosition position, size_t bytes) override {
    raise_prefix(position, bytes);
    lock_->unlock();
  }
};

}  // namespace mneme
