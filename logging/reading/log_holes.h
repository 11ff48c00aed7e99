// LogHoles: the holes that are found while a log in persistent memory (nvm_log.h) is followed.
//
// Invariants  a gap before a block is a hole where a crash may have left one: in the last incarnation, unless
//             it was closed in order, or where the manifest notes it, of former ones. Another gap is none.
// Threads     one.
// Errors      check() refuses more or longer holes than the last incarnation's workers can have left:
//             kDamaged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "logging/directory/loaded_segment.h"
#include "logging/directory/manifest.h"
#include "logging/record/log_contents.h"
#include "logging/record/log_hole.h"

namespace mneme {

class LogHoles {
 public:
  // `manifest` outlives it.
  explicit LogHoles(const Manifest& manifest) : manifest_(manifest) {}

  // Whether the gap before a block of the segment, of that incarnation, is a hole.
  bool may_be(const LogHole& gap, const LoadedSegment& segment, uint32_t incarnation) const;
  // `place`: where its first record is missing.
  void add(const LogHole& hole, const LogContents::Place& place);
  // Forgets all holes: what was followed so far is not in the log.
  void clear();

  // `last`: the segment that comes last.
  Result<void> check(const std::string& directory, const LoadedSegment& last) const;
  const std::vector<LogHole>& holes() const { return holes_; }

 private:
  bool is_new(const LogHole& hole) const {
    return one_stream_lsn(hole.begin) >= manifest_.incarnations.back().begin;
  }

  const Manifest& manifest_;
  std::vector<LogHole> holes_;  // in log order
  std::optional<LogContents::Place>
      first_new_;  // of the last incarnation's, which the manifest does not note yet
};

}  // namespace mneme
