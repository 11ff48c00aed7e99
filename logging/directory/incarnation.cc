#include "logging/directory/incarnation.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "logging/directory/volatile_tail.h"

namespace mneme {

namespace {

// Returns whether no block of the segment belongs to the log. The reader keeps only blocks that do in a log
// of several streams.
bool is_unused(const LogContents& log, const LogContents::Segment& segment) {
  return segment.blocks.empty() || (!log.streams && one_stream_lsn(segment.blocks.front().begin) >= log.end);
}

// Returns whether bytes that were read of the segment may not be durable. In a log of several streams any of
// them may hold what lies past the durable end. All that loggers' streams hold was durable when the pepoch
// covered it.
bool may_be_volatile(const LogContents& log, const LogContents::Segment& segment) {
  if (log.streams) return log.end > log.durable_seen;
  return one_stream_lsn(segment.blocks.back().end()) > log.durable_seen;
}

// Whether the last incarnation may be forgotten: the log ends where it began, so one before it ends there,
// too.
bool left_nothing(const Manifest& manifest, Lsn end, const std::vector<std::string>& unused) {
  if (manifest.incarnations.size() < 2 || manifest.incarnations.back().begin != end) return false;
  return std::ranges::none_of(manifest.segments, [&](const SegmentEntry& entry) {
    return entry.incarnation == manifest.incarnations.back().number &&
           std::ranges::count(unused, entry.file) == 0;
  });
}

}  // namespace

Result<void> begin_incarnation(ManifestFile& manifest, const LogContents& log, uint32_t least_number) {
  std::vector<std::string> unused;
  for (const LogContents::Segment& segment : log.segments) {
    if (segment.is_below) continue;
    if (is_unused(log, segment)) {
      unused.push_back(segment.file);
      continue;
    }
    if (may_be_volatile(log, segment))
      RETURN_IF_ERROR(make_tail_durable(path_in(manifest.directory(), segment.file), log, segment));
  }
  RETURN_IF_ERROR(manifest.update([&](Manifest& m) {
    const uint32_t next = m.incarnations.empty() ? 1 : m.incarnations.back().number + 1;
    const uint32_t number = std::max(next, least_number);
    CHECK(m.incarnations.empty() || m.incarnations.back().begin <= log.end);
    if (log.streams && !m.incarnations.empty()) m.incarnations.back().stream_ends = log.streams->ends;
    if (left_nothing(m, log.end, unused)) m.incarnations.pop_back();
    m.incarnations.push_back({number, log.end});
    // Those of segments that have been removed, or passed over, stay: a copy of the whole log may be read
    // with them.
    const StreamPosition begin = one_stream_position(log.begin());
    std::erase_if(m.holes, [&](const LogHole& hole) { return hole.end > begin; });
    m.holes.insert(m.holes.end(), log.holes.begin(), log.holes.end());
    std::erase_if(m.segments, [&](const SegmentEntry& entry) {
      return std::find(unused.begin(), unused.end(), entry.file) != unused.end();
    });
  }));
  // No longer listed, so no reader opens them. A file that stays behind is removed at a later opening.
  for (const std::string& file : unused) ::unlink(path_in(manifest.directory(), file).c_str());
  return {};
}

}  // namespace mneme
