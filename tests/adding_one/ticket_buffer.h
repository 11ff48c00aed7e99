// The ticket buffer: workers put records into the ring one at a time, in the order of tickets that they draw.
// An example: docs/HACKING.md adds it.
//
// Flow        reserve: draw a ticket, wait for its turn, draw the LSN.  publish: raise the prefix, serve the
//             next ticket.
// Invariants  at most one record is reserved and unpublished, and it is the served ticket's.
// Waiting     reserve() waits while a worker with an earlier ticket has a record reserved and unpublished.
#pragma once

#include "base/atomic.h"
#include "base/cache_line.h"
#include "logging/buffer/log_buffer.h"

namespace mneme {

class TicketBuffer : public LogBuffer {
 public:
  explicit TicketBuffer(const LogBufferOptions& options);

  StreamPosition reserve(WorkerId worker, size_t bytes) override;
  void publish(WorkerId worker, StreamPosition at, size_t bytes) override;
  StreamPosition contiguous_prefix() override {
    return StreamPosition{prefix_->load(std::memory_order_acquire)};
  }
  bool quiescent(StreamPosition upto) override;

 protected:
  StreamPosition reserved() const override { return StreamPosition{tail_->load(std::memory_order_relaxed)}; }

 private:
  CachePadded<Atomic<uint64_t>> next_{uint64_t{0}};  // the next ticket to draw
  // The ticket whose turn it is: stored by its worker (release), loaded by the one that waits (acquire).
  CachePadded<Atomic<uint64_t>> served_{uint64_t{0}};
  CachePadded<Atomic<uint64_t>> tail_;    // changed by the served worker alone
  CachePadded<Atomic<uint64_t>> prefix_;  // as tail_, after the record's bytes (release)
};

}  // namespace mneme
