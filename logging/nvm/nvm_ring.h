// NvmRing: the log buffer of one stream of a distributed log, in persistent memory: a mapped file that the
// stream's records go round in. What is in it survives a crash, so records are durable there, and only
// destaged to segment files, in large writes and the background, so that their places can be used again.
//
//     file    header page (block_format.h) -> a page of marks -> the ring: the byte at position x of the
//             stream lies x modulo its size behind the marks
//     mark    lines 0 and 1 of their page, written in turns:
//             0 u32 CRC32C of the rest   4 u32 "MNMK"   8 u64 its number, from 1
//             16 u64 G: every record with a GSN below G was durable, in whichever stream
//             The first one is there before the manifest lists the ring: a ring without a mark has lost
//             what it held.
//
// Flow        store_record() by workers (nvm_ring_buffer.h) -> ... -> destaged by the stream's flusher ->
//             overwritten after a crash: the segment files hold the stream up to a position, the ring what
//             follows (stream_segments.h)
// Invariants  a record begins on a line, and fills whole lines, so a line has one writer. Its place in the
//             stream is in its checksum, so what a former lap left is none (nvm_format.h, ring_layout()).
//             What is overwritten has been durable in a segment file before
//             (LogFlusherOptions::keeps_until_durable). A ring is one incarnation's: the next one makes
//             others, and this one is kept as one of its segments.
// Threads     store_record: workers, for places that are theirs. mark: one at a time. The rest: any.
// Source      Wang, Johnson: "Scalable Logging through Emerging Non-Volatile Memory" (VLDB'14), sections 1, 3
//             and 5.1: a buffer in NVM for each log, de-staged when it is full; the delay on each insertion.
//             Section 3.1: the record stores its LSN, a place in one log, besides its GSN; here in the
//             checksum.
#pragma once

#include <memory>

#include "base/file/file.h"
#include "base/result.h"
#include "logging/directory/loaded_segment.h"
#include "logging/directory/manifest.h"
#include "logging/directory/segment_file.h"
#include "logging/nvm/persistent_memory.h"
#include "logging/record/log_contents.h"
#include "logging/record/nvm_format.h"

namespace mneme {

class NvmRing {
 public:
  // Makes the file, as segment `number` of the stream. `bytes`: of the ring, a power of two, at least a page.
  static Result<std::unique_ptr<NvmRing>> make(ManifestFile& manifest, uint32_t number, uint32_t stream,
                                               const std::string& directory, size_t bytes,
                                               const PersistentMemoryOptions& memory);

  const RecordLayout& layout() const { return layout_; }
  size_t capacity() const { return capacity_; }
  // The ring's bytes, as this process sees them.
  std::byte* view();
  PersistentMemory& memory() { return *memory_; }

  // Stores the record, which takes the memory's latency. It is durable once its writer has fenced it.
  void store_record(StreamPosition at, ByteSpan header, ByteSpan payload);
  // Calls `range` with where in memory() the record's bytes [at, at + bytes) lie: one stretch, or two.
  template <typename Range>
  void for_each_range(StreamPosition at, size_t bytes, Range range) const {
    const size_t offset = at.value & (capacity_ - 1);
    const size_t before_wrap = bytes < capacity_ - offset ? bytes : capacity_ - offset;
    range(kRingBegin + offset, before_wrap);
    if (before_wrap < bytes) range(kRingBegin, bytes - before_wrap);
  }
  // Notes that all records below the GSN are durable: then one of them that is missing is damage.
  void mark(Lsn durable_gsn);

 private:
  NvmRing(File file, std::unique_ptr<PersistentMemory> memory, const RecordLayout& layout)
      : file_(std::move(file)),
        memory_(std::move(memory)),
        layout_(layout),
        capacity_(memory_->size() - kRingBegin) {}

  const File file_;  // keeps its lock, which tells readers that somebody writes
  const std::unique_ptr<PersistentMemory> memory_;
  const RecordLayout layout_;
  const size_t capacity_;
  uint64_t marks_ = 1;  // the first one is made with the file
};

// Loads a ring's file: its bytes, and the highest mark as LoadedSegment::durable. Which records it holds is
// to be scanned for, once it is known where the stream's segment files end.
Result<LoadedSegment> load_nvm_ring(const File& file, const SegmentHeader& header);

// The records of a loaded ring from `begin` of the stream on, which is the end of a record, or of none, and
// below `end`: moves them into `to`, those that follow one another without a hole as one block.
void scan_nvm_ring(const LoadedSegment& ring, StreamPosition begin, StreamPosition end,
                   LogContents::Segment& to);

}  // namespace mneme
