// The extents buffer: each worker writes into an extent of the ring that is its own; the position, drawn
// apart from the place, says where in the stream the record belongs. No two workers write one cache line but
// the position's.
//
// Flow        reserve: fetch_add the position sequencer; note the position in the own extent.
//             publish: move the extent's end on.  contiguous_prefix: merge the extents by position.
//             read: gather the stream from where its records lie.
// Invariants  positions are positions in a stream without gaps, as with every buffer; only the bytes lie
//             elsewhere. So the device, the log on disk and recovery know nothing of extents. In an extent
//             positions rise. The record at the prefix is the first unmerged one of the worker that drew it.
//             Extents are equal shares of the ring, cut into entries: position and length, then the record's
//             bytes, padded.
// Threads     as LogBuffer says.
// Waiting     await_space() waits while the worker's own extent is full. Nothing else waits.
// Order       that of the watermark buffer: one fetch_add (acq_rel) draws. The prefix needs no bounds: a
//             record that is reserved and not published is missing from the merge.
// Source      ours. The merge is ELEDA's crawling (section 4.2.2) without lists: the entries lie in the ring.
//
// A sequence number from a synchronised time-stamp counter instead of the shared one was considered and
// rejected: see docs/performance.md, "Log buffers".
#pragma once

#include <memory>
#include <vector>

#include "base/atomic.h"
#include "base/cache_line.h"
#include "base/fifo_queue.h"
#include "logging/buffer/log_buffer.h"

namespace mneme {

class ExtentsBuffer : public LogBuffer {
 public:
  explicit ExtentsBuffer(const LogBufferOptions& options);

  StreamPosition reserve(WorkerId worker, size_t bytes) override;
  void write(WorkerId worker, StreamPosition at, ByteSpan bytes) override;
  void publish(WorkerId worker, StreamPosition position, size_t bytes) override;
  StreamPosition contiguous_prefix() override;
  void read(StreamPosition at, std::span<std::byte> into) const override;
  void release(StreamPosition upto) override;
  bool quiescent(StreamPosition upto) override;

 protected:
  StreamPosition reserved() const override { return StreamPosition{tail_->load(std::memory_order_relaxed)}; }
  bool has_room(WorkerId worker) const override;

 private:
  // The header of each record in its extent.
  struct EntryHeader {
    uint64_t position = 0;
    uint64_t bytes = 0;
  };
  // Where an entry begins in its extent.
  struct Position {
    uint64_t count = 0;   // bytes of entries before it, since the beginning
    uint64_t offset = 0;  // count modulo the extent's size, without the division
  };
  // A record that is merged and not released.
  struct Piece {
    StreamPosition begin;
    uint64_t bytes = 0;
    uint32_t extent = 0;
    Position entry;
  };
  struct Extent {
    // The worker's: the entry of its next record, or of the one that it has reserved.
    struct Own {
      Position entry;
      StreamPosition position;
    };
    CachePadded<Own> own;
    // Written by the worker (release: the entry below is complete), read by the flusher (acquire).
    CachePadded<Atomic<uint64_t>> published{0};
    // Written by the flusher after its last read of the bytes below (release), read by the worker (acquire).
    CachePadded<Atomic<uint64_t>> released{0};
  };

  static uint64_t entry_bytes(uint64_t record_bytes);
  void move_on(Position& position, uint64_t bytes) const;
  uint64_t offset_behind(const Position& entry, uint64_t bytes) const;
  std::byte* place_of(uint32_t extent, uint64_t offset) const {
    return ring_memory() + extent * extent_bytes_ + offset;
  }
  size_t piece_at(StreamPosition at) const;
  void copy_out(const Piece& piece, uint64_t from, std::span<std::byte> into) const;
  bool look_at(uint32_t extent);
  void merge(uint32_t extent);

  const uint64_t extent_bytes_;
  const uint64_t largest_entry_bytes_;
  // Read-modify-written by reserve() and quiescent() (acq_rel: watermark_buffer.h has the reasons).
  CachePadded<Atomic<uint64_t>> tail_;
  const std::unique_ptr<Extent[]> extents_;  // one a worker

  // The flusher's, on lines of its own.
  alignas(kCacheLineBytes) StreamPosition prefix_;
  std::vector<uint64_t>
      heads_;  // by extent: the position of its first unmerged record; kNone: none that was seen
  std::vector<Position> merged_;     // by extent: behind its last merged entry
  std::vector<uint64_t> published_;  // by extent: what was read of `published` last
  FifoQueue<Piece> pieces_;          // in position order
  mutable size_t last_read_ = 0;     // in pieces_: the stream is read in order
};

}  // namespace mneme
