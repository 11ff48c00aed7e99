// Segment reader: loads one segment file, of either kind, and finds which of its blocks are intact.
// log_reader.h decides which of them form the log, and where that ends.
//
// Threads  load_segment(): any, for several segments at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "base/result.h"
#include "logging/directory/loaded_segment.h"
#include "logging/directory/manifest.h"

namespace mneme {

// Loads the segment's blocks with positions in [begin, end), which is what its incarnation wrote of the log.
// Waits no longer than `patience` for the last requests of a process that was just killed.
// Errors: the file is missing, foreign, of another version, or of another place in this log.
Result<LoadedSegment> load_segment(const std::string& directory, const Manifest& manifest,
                                   const SegmentEntry& entry, StreamPosition begin, StreamPosition end,
                                   std::chrono::milliseconds patience);

// Returns kDamaged where one of the last incarnation's segments has a rotten block: it may have been durable,
// though no other block says so. For former incarnations the manifest says which blocks matter. A ring may
// still hold what was destaged from it.
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
