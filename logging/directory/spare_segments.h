// SpareSegments: segment files that a checkpoint has passed, kept until the log takes them again.
//
// Flow        the log serves a directory, one for each device that writes there -> a checkpoint keeps what it
//             has passed (keep()) -> a segment is due: take(), and the file becomes that segment
//             (reused_segment.h) -> the last device leaves the directory: what is left is removed
// Invariants  a spare is listed in no manifest, durably, and has no other name. A directory has no more
//             spares than segments were begun there between the last two checkpoints, nor than kMost: that is
//             how many the log will ask for until the next one, and its files take no more room than they
//             took right before the checkpoint. What is beyond is removed at once.
// Crash       leaves spares under their former names. They are not listed, so no reader opens them, and the
//             next opening for work removes them (log_truncation.h).
// Threads     any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace mneme {

struct SpareSegment {
  std::string directory;  // as the log's devices name it (SegmentFileOptions::directory)
  std::string path;
  uint32_t number = 0;  // in its header page
};

class SpareSegments {
 public:
  static constexpr size_t kMost = 64;  // in a directory

  // A device begins to write to the directory, and ends.
  void serve(const std::string& directory);
  void leave(const std::string& directory);

  // The manifest lists these files no more, and that is durable: they are kept, or removed.
  void keep(const std::vector<SpareSegment>& passed);
  // A segment of the directory is due: returns the spare that was kept longest. The caller owns its file.
  std::optional<SpareSegment> take(const std::string& directory);

 private:
  struct Place {
    uint32_t devices = 0;
    size_t begun = 0;  // segments, since the last keep()
    std::deque<SpareSegment> spares;
  };

  std::mutex mutex_;  // guards places_
  std::map<std::string, Place> places_;
};

}  // namespace mneme
