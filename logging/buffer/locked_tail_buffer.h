// LockedTailBuffer: the common part of Aether's buffers: a lock over the tail, and a prefix that workers
// raise.
//
// Flow        reserve: take the lock, draw(), release it now or when published.
//             publish: raise_prefix() in position order.
// Invariants  the lock's holder alone draws. The prefix is raised from one region's begin to its end, by one
//             worker at a time: regions leave in position order.
// Threads     as LogBuffer says.
// Order       draws are critical sections of one lock: the lower position's section comes first, so what its
//             drawer had done is visible to the later one.
// Source      Aether (Johnson et al., VLDB Journal 2012), appendix A.1 and A.3.
#pragma once

#include "base/atomic.h"
#include "logging/buffer/insert_lock.h"
#include "logging/buffer/log_buffer.h"

namespace mneme {

class LockedTailBuffer : public LogBuffer {
 public:
  explicit LockedTailBuffer(const LogBufferOptions& options);

  StreamPosition contiguous_prefix() override {
    return StreamPosition{prefix_->load(std::memory_order_acquire)};
  }
  // False as well while a worker holds the lock: a record is under way. With the lock in hand, a worker that
  // draws later sees what the flusher did before.
  bool quiescent(StreamPosition upto) override;

 protected:
  StreamPosition reserved() const override { return StreamPosition{tail_->load(std::memory_order_relaxed)}; }

  // The caller holds the lock.
  StreamPosition draw(size_t bytes);
  // Waits until everything below `begin` is published (Algorithm 3, line 8).
  void await_turn(StreamPosition begin) const;
  // The region is written, and it is its turn.
  void raise_prefix(StreamPosition begin, uint64_t bytes);

  CachePadded<InsertLock> lock_;

 private:
  // Written by the lock's holder (relaxed: the lock orders it); read by quiescent() under the lock, and by
  // await_space() without (a stale value is safe: log_buffer.h).
  CachePadded<Atomic<uint64_t>> tail_;
  // Written by the worker whose region's turn it is (release, after its bytes); read by the flusher and by
  // the worker whose region is next (acquire: it publishes on behalf of all earlier ones).
  CachePadded<Atomic<uint64_t>> prefix_;
};

}  // namespace mneme
