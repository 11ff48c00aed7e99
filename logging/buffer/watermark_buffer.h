// The watermark buffer: one fetch_add draws a position, and each worker's own low watermark says what it
// hasn't written.
//
// Flow        reserve: publish a lower bound of the position to come, then fetch_add the tail.
//             publish: clear the bound.
//             contiguous_prefix: load the tail, then scan the bounds; the minimum of all is the prefix.
// Invariants  every value of the tail is a record boundary, every bound is a value of the tail, and so is the
//             prefix. The prefix never falls.
// Source      Border-Collie (Kim et al., SIGMOD 2019). Why the prefix is right: bound_set.h.
#pragma once

#include "logging/buffer/bound_set.h"
#include "logging/buffer/log_buffer.h"

namespace mneme {

class WatermarkBuffer : public LogBuffer {
 public:
  explicit WatermarkBuffer(const LogBufferOptions& options);

  StreamPosition reserve(WorkerId worker, size_t bytes) override;
  void publish(WorkerId worker, StreamPosition position, size_t bytes) override;
  StreamPosition contiguous_prefix() override;
  bool quiescent(StreamPosition upto) override;

 protected:
  StreamPosition reserved() const override { return StreamPosition{tail_->load(std::memory_order_relaxed)}; }

 private:
  // Read-modify-written by reserve() and quiescent() (acq_rel); loaded by contiguous_prefix() (acquire).
  //   release: the worker's bound is visible to a thread that sees the position drawn (bound_set.h). acquire:
  //   a worker sees what the drawers of lower positions saw, above all that the flusher released its bytes;
  //   and it sees the flusher's announcement of sleep where quiescent() came first.
  CachePadded<Atomic<uint64_t>> tail_;
  BoundSet<> bounds_;             // of each worker's reserved and unpublished record
  CachePadded<uint64_t> prefix_;  // the flusher's: the highest prefix found so far
};

}  // namespace mneme
