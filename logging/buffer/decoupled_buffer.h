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

  Lsn reserve(WorkerId, size_t bytes) override {
    lock_->lock();
    const Lsn lsn = draw(bytes);
    lock_->unlock();
    return lsn;
  }
  void publish(WorkerId, Lsn lsn, size_t bytes) override {
    await_turn(lsn);
    raise_prefix(lsn, bytes);
  }
};

}  // namespace mneme
