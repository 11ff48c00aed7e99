// The scan buffer: a bitmap with a bit for each byte of the ring says what is written; the flusher walks
// along it.
//
// Flow        reserve: fetch_add the tail.  publish: set the record's bits.
//             contiguous_prefix: walk over set bits, and clear them for the ring's next round.
// Invariants  a bit is set by the worker that wrote the byte and cleared by the flusher that walked over it,
//             before the byte may be reserved again. Bits are set from the record's end to its begin: where
//             the first one is set, all are, so that the walk ends on a record boundary.
// Threads     as LogBuffer says.
// Waiting     none.
// Order       that of the watermark buffer: one fetch_add (acq_rel) draws.
// Source      the baseline of ELEDA (Jung et al., PVLDB 2017), section 6.5.4. `scan_bits` 1 sets and tests
//             bit by bit; 64 does so by words, where the paper sees "nontrivial effort".
#pragma once

#include <memory>

#include "base/atomic.h"
#include "base/cache_line.h"
#include "logging/buffer/log_buffer.h"

namespace mneme {

class ScanBuffer : public LogBuffer {
 public:
  explicit ScanBuffer(const LogBufferOptions& options);

  StreamPosition reserve(WorkerId worker, size_t bytes) override;
  void publish(WorkerId worker, StreamPosition position, size_t bytes) override;
  StreamPosition contiguous_prefix() override;
  bool quiescent(StreamPosition upto) override;

 protected:
  StreamPosition reserved() const override { return StreamPosition{tail_->load(std::memory_order_relaxed)}; }

 private:
  Atomic<uint64_t>& word_of(uint64_t position) const { return words_[position % capacity() / 64]; }
  static uint64_t mask_of(uint64_t position, uint64_t bits);
  uint64_t bits_set_from(uint64_t position) const;

  const uint64_t step_bits_;
  // Read-modify-written by reserve() and quiescent() (acq_rel: watermark_buffer.h has the reasons).
  CachePadded<Atomic<uint64_t>> tail_;
  // Bits set by workers (release, after the bytes) and cleared by the flusher (relaxed: a worker sets one
  // anew only after release() let it reserve the byte); read by the flusher (acquire). Neighbours share
  // words, so every change is a read-modify-write.
  const std::unique_ptr<Atomic<uint64_t>[]> words_;
  CachePadded<uint64_t> prefix_;  // the flusher's: all below is walked over
};

}  // namespace mneme
