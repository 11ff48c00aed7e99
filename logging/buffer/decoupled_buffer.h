// The decoupled buffer (D): the lock covers the reservation alone; records are filled side by side.
//
// Flow        reserve: take the lock, draw, release it.
//             publish: wait for all earlier records, raise the prefix.
// Waiting     publish() waits until every record before it is published: one large record holds up the small
//             ones that follow.
// Source      Aether, section 5.2 and appendix A.3, Algorithm 3.
#pragma once

#include "logging/buffer/locked_tail_buffer.h"

namespace mneme {

class DecoupledBuffer : public LockedTailBuffer {
 public:
  using LockedTailBuffer::LockedTailBuffer;

  StreamPosition reserve(WorkerId, size_t bytes) override {
    lock_->lock();
    const StreamPosition position = draw(bytes);
    lock_->unlock();
    return position;
  }
  void publish(WorkerId, StreamPosition position, size_t bytes) override {
    await_turn(position);
    raise_prefix(position, bytes);
  }
};

}  // namespace mneme
