// For tests: the log after a checkpoint, which needs no rows here.
#pragma once

#include <algorithm>
#include <string>

#include "logging/reading/log_truncation.h"
#include "logging/testing/test_log.h"

namespace mneme::test {

// Names a checkpoint at that LSN and releases the segments that lie below it. Returns how many those were.
inline size_t take_checkpoint(const std::string& directory, ManifestFile& manifest, Lsn lsn) {
  const Manifest before = manifest.current();
  const auto below = must(segments_below(directory, before, lsn));
  must(manifest.update([&](Manifest& changed) {
    changed.checkpoint_lsn = lsn;
    std::erase_if(changed.segments, [&](const SegmentEntry& each) {
      return std::ranges::any_of(below, [&](const SegmentEntry& old) { return old.number == each.number; });
    });
  }));
  release_segments(manifest, before, below, Passed::kReused);
  return below.size();
}

}  // namespace mneme::test
