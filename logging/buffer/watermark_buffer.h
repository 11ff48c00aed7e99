// The watermark buffer: one fetch_add draws an LSN, and each worker's own low watermark says what it hasn't
// written.
//
// Flow        reserve: publish a lower bound of the LSN to come, then fetch_add the tail.
//             publish: clear the bound.
//             contiguous_prefix: load the tail, then scan the bounds; the minimum of all is the prefix.
// Invariants  while a worker's record at r is reserved and unpublished, its bound is at most r.
// Source      the idea behind Border-Collie (Kim et al., SIGMOD 2019): wait-free, no list and no heap of
//             holes.
//
// Why the prefix is right. Let the reader load the tail as T and then scan, and let a record at r < T be
// unpublished at the time its worker's bound is read. The tail's modification order is a chain of acq_rel
// read-modify-writes, so the acquire load of T synchronizes with the fetch_add that drew r, which the same
// worker's store of a bound b <= r precedes. Hence the scan reads that store or a later one of this worker. A
// later one would be either the clearing after r was published, which isn't yet, or a bound for a later
// record, which comes after that clearing. So it reads b <= r, and the prefix is at most r. Where the scan
// does read a later store, that store is a release and comes after the record's bytes were written: whatever
// the prefix covers is visible. In the other order, scan then tail, a record drawn and left unwritten in
// between would lie below T and under no bound that the scan saw: the prefix would cover a hole.
//
// The minimum may fall: a worker may load the tail for its bound, be held up, and publish that old value
// late. What lies below an earlier prefix is written nonetheless, so the reader keeps the highest prefix that
// it has found. Every value of the tail is a record boundary, every bound is a value of the tail, and so is
// the prefix.
#pragma once

#include <limits>
#include <memory>

#include "logging/buffer/log_buffer.h"

namespace mneme {

class WatermarkBuffer : public LogBuffer {
 public:
  explicit WatermarkBuffer(const LogBufferOptions& options);

  Lsn reserve(WorkerId worker, size_t bytes) override;
  void publish(WorkerId worker, Lsn lsn, size_t bytes) override;
  Lsn contiguous_prefix() override;
  bool quiescent(Lsn upto) override;

 protected:
  Lsn reserved() const override { return Lsn{tail_->load(std::memory_order_relaxed)}; }

 private:
  // A bound that bounds nothing: the worker has no unwritten record.
  static constexpr uint64_t kNoBound = std::numeric_limits<uint64_t>::max();

  // Read-modify-written by reserve() and quiescent() (acq_rel); loaded by contiguous_prefix() (acquire).
  //   release: the worker's bound is visible to whoever sees the LSN drawn (the argument above). acquire: a
  //   worker sees what the drawers of lower LSNs saw, above all that the flusher released its bytes; and it
  //   sees the flusher's announcement of sleep where quiescent() came first.
  CachePadded<Atomic<uint64_t>> tail_;
  // One a worker: written by it alone (release, after its record's bytes), read by contiguous_prefix()
  // (acquire).
  const std::unique_ptr<CachePadded<Atomic<uint64_t>>[]> bounds_;
  CachePadded<uint64_t> prefix_;  // the flusher's: the highest prefix found so far
};

}  // namespace mneme
