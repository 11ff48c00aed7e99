// Segment reader: loads one segment file, of either kind, and tells which of its blocks are intact. Which of them form the log, and
// where that ends, is log_reader.h's to say.
//
// Threads  load_segment(): any, for several segments at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "logging/block_format.h"
#include "logging/manifest.h"
#include "logging/record_format.h"

namespace mneme {

// A block; of a segment in persistent memory, records that follow one another without a hole.
struct LoadedBlock {
  Lsn begin;
  uint32_t used_bytes = 0;  // cut where the incarnation ends
  uint64_t offset = 0;      // of its first payload byte in the file
  bool payload_is_intact = false;

  Lsn end() const { return begin + used_bytes; }
};

struct LoadedSegment {
  std::vector<LoadedBlock>
      blocks;  // with an intact header, in the order of their place; their LSNs need not be dense
  std::vector<std::byte> bytes;  // the blocks' payload bytes, one block's after the other's
  Lsn durable;                   // the highest durable LSN in their headers
  uint32_t progress = 0;  // the highest in their headers
  std::optional<uint64_t> rotten_at;  // where the first block lies that is not what was written, and that no crash leaves so
  uint64_t file_bytes = 0;
  bool is_sized = false;  // its header page says how large the file is: made by a program that begins pepoch.log with a slot
  RecordLayout layout;
  std::optional<NvmExtent> nvm;  // of a segment in persistent memory
  // Of a ring in persistent memory `bytes` are all of it, as they lie in the file, and there are no blocks (nvm_ring.h).
};

// Waits, no longer than `patience`, until nobody writes the file any more: its writer holds it locked.
Result<void> wait_until_quiet(const File& file, std::chrono::milliseconds patience);

// Loads the segment's blocks with LSNs in [begin, end), which is what its incarnation wrote of the log.
// Waits no longer than `patience` for the last requests of a process that was just killed.
// Errors: the file is missing, foreign, of another version, or of another place in this log.
Result<LoadedSegment> load_segment(const std::string& directory, const Manifest& manifest,
                                   const SegmentEntry& entry, Lsn begin, Lsn end,
                                   std::chrono::milliseconds patience);

// Damage, where one of the last incarnation's segments has a rotten block: it may have been durable, though no other block tells so.
// Of former incarnations' blocks that matter the manifest tells it; and what was destaged from a ring the ring may still have.
Result<void> refuse_rot(const std::string& directory, const Manifest& manifest, const SegmentEntry& entry,
                        const LoadedSegment& loaded);

// Counts, for LogReadOptions::progress, the segments that threads have loaded.
class LoadedCount {
 public:
  using Progress = std::function<void(uint64_t done, uint64_t segments)>;

  LoadedCount(uint64_t segments, const Progress& progress) : segments_(segments), progress_(progress) {
    if (progress_) progress_(0, segments_);
  }
  void one_more() {
    if (!progress_) return;
    std::lock_guard lock(mutex_);
    progress_(++loaded_, segments_);
  }

 private:
  const uint64_t segments_;
  const Progress& progress_;
  std::mutex mutex_;  // guards loaded_, and calls of progress_
  uint64_t loaded_ = 0;
};

}  // namespace mneme
