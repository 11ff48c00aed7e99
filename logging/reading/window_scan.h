// WindowScan: the windows (log_windows.h) of a log that is too long to be kept, cut while its segments are
// loaded.
//
// Flow        scan() each segment, which releases its bytes -> collect() along the log's runs of blocks
// Invariants  a run's windows begin and end with a record. A window of the log gathers windows of several
//             runs while they are short. A change of the schema is a window by itself.
// Threads     scan: any, for different segments at once. collect: one, after them.
#pragma once

#include <optional>
#include <vector>

#include "logging/directory/loaded_segment.h"
#include "logging/reading/log_reader.h"
#include "logging/record/log_contents.h"
#include "logging/record/record_walk.h"

namespace mneme {

class WindowScan {
 public:
  // `options` outlives it.
  WindowScan(size_t segments, const LogReadOptions& options) : options_(options), runs_(segments) {}

  // Walks the records of the segment, the manifest's `number`-th, and releases its bytes.
  void scan(size_t number, LoadedSegment& segment);
  // Fills the log's windows, and counts its skips, along its runs. Returns how the last of the intact records
  // came to an end; nullopt where the segments' runs are not those of the log, as several blocks claim one
  // place. `begin`: of the log.
  std::optional<RecordWalk> collect(StreamPosition begin, LogContents& log);

 private:
  // The summary of a run of blocks whose bytes are released.
  struct Run {
    StreamPosition begin;
    StreamPosition end;  // of its blocks
    RecordWalk walk;
    uint64_t skips = 0;
    std::vector<LogContents::Window> windows;  // of one part each
  };

  Run scan_run(size_t number, StreamPosition begin, ByteSpan bytes, const RecordLayout& layout) const;
  void add(LogContents::Window&& window, std::vector<LogContents::Window>& windows) const;

  const LogReadOptions& options_;
  std::vector<std::vector<Run>> runs_;  // by segment; in log order
};

}  // namespace mneme
