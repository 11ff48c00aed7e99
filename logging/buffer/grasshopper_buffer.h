// The grasshopper buffer: each worker lists what it has written; the flusher advances the prefix along these
// lists, crawling from record to record or, where a whole range is written, hopping over it.
//
// Flow        reserve: fetch_add the position sequencer.
//             publish: append to the own c-list and h-list, then count the bytes in the hopping index.
//             contiguous_prefix: hop over full ranges, crawl where the first range is not full.
//             collect: the worker's gc follows the SDL, invoking the callbacks of its commits.
// Invariants  the SBL is the prefix. H-index[i] counts the bytes that are published of the ranges r = i
//             modulo its size.
//             Spec1, Spec2  grasshopper_list.h.
//             Spec3  SDL <= SBL: nothing past the prefix is released (LogBuffer::release asserts it).
// Threads     ELEDA's three kinds. The database thread: a worker. The ELEDA worker and the flusher are one,
//             the thread that calls contiguous_prefix(): the thread that needs the SBL advances it. Table 2:
//                                 head  tail  gc   SBL  SDL  H-index
//                 worker           -     W     W    -    R    W
//                 flusher          W     R     -    W,R  W    R
// Waiting     none.
// Order       that of the watermark buffer: one fetch_add (acq_rel) draws.
// Source      ELEDA (Jung et al., PVLDB 2017), section 4, Algorithm 1, Table 2, Spec 1 to 3.
//
// Where Algorithm 1 leaves something open:
//   It resets a full entry (line 6), which Table 2 forbids to the ELEDA worker, and which would lose a count:
//   the crawler may pass a record before its worker has counted it. Here entries only grow, and the flusher
//   remembers what a full one must hold. A late count of an earlier range keeps its successor from looking
//   full, no longer. A record that lies across ranges is counted in each for its part there, so that full
//   means 2^H exactly. A hop ends at the boundary, or at the end of the record across it: exactly one list
//   holds the record before the boundary (line 12). `hop` alone never confirms the last range that is not
//   full: it is there to be measured, not for a durable log.
#pragma once

#include <memory>
#include <vector>

#include "base/atomic.h"
#include "base/cache_line.h"
#include "logging/buffer/grasshopper_list.h"
#include "logging/buffer/log_buffer.h"

namespace mneme {

class GrasshopperBuffer : public LogBuffer {
 public:
  explicit GrasshopperBuffer(const LogBufferOptions& options);

  StreamPosition reserve(WorkerId worker, size_t bytes) override;
  void publish(WorkerId worker, StreamPosition position, size_t bytes) override {
    publish(worker, position, bytes, {});
  }
  // A commit that waits: `callback` is invoked by the worker's collect() once the record is durable.
  void publish(WorkerId worker, StreamPosition position, size_t bytes, const CommitCallback& callback);
  // Moves the worker's gc to `sdl`, the storage-durable position. Returns how many callbacks it invoked.
  size_t collect(WorkerId worker, StreamPosition sdl) { return lists_[worker.value]->collect(sdl); }

  StreamPosition contiguous_prefix() override;
  bool quiescent(StreamPosition upto) override;

  // The part of the prefix that was crawled, not hopped (Figure 20): by the flusher, or when it has stopped.
  double crawling_ratio() const;

 protected:
  StreamPosition reserved() const override { return StreamPosition{tail_->load(std::memory_order_relaxed)}; }

 private:
  struct Pending {
    StreamPosition begin;
    uint32_t list;
  };

  void count(StreamPosition position, uint64_t bytes);
  bool is_full(uint64_t range) const;
  void advance(StreamPosition sbl);
  bool hop();
  bool crawl();
  void push_heads();
  void push_head(uint32_t list);

  const GrasshopperMode mode_;
  const uint32_t hop_shift_;   // H
  const uint64_t index_size_;  // ranges that may hold records not yet confirmed, and one

  // Read-modify-written by reserve() and quiescent() (acq_rel: watermark_buffer.h has the reasons).
  CachePadded<Atomic<uint64_t>> tail_;
  // Added to by workers (release: the record stands in its list), read by the flusher (acquire).
  const std::unique_ptr<CachePadded<Atomic<uint64_t>>[]> hopping_index_;
  std::vector<std::unique_ptr<GrasshopperList>> lists_;  // one a worker

  // The flusher's, on lines of its own.
  alignas(kCacheLineBytes) StreamPosition sbl_;
  std::vector<uint64_t> full_;     // what each entry of the index holds when its next range is full
  std::vector<Pending> lsn_heap_;  // the first pending record of each list, the lowest position on top
  std::vector<uint8_t> in_heap_;   // by list
  uint64_t crawled_bytes_ = 0;
  uint64_t hopped_bytes_ = 0;
};

}  // namespace mneme
