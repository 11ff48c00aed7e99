#include "logging/reading/log_holes.h"

#include <algorithm>

namespace mneme {

bool LogHoles::may_be(const LogHole& gap, const LoadedSegment& segment, uint32_t incarnation) const {
  if (!segment.nvm || gap.begin >= gap.end) return false;
  const Incarnation& last = manifest_.incarnations.back();
  if (incarnation == last.number && is_new(gap)) return !last.closed;
  return std::ranges::find(manifest_.holes, gap) != manifest_.holes.end();
}

void LogHoles::add(const LogHole& hole, const LogContents::Place& place) {
  if (!first_new_ && is_new(hole)) first_new_ = place;
  holes_.push_back(hole);
}

void LogHoles::clear() {
  holes_.clear();
  first_new_.reset();
}

Result<void> LogHoles::check(const std::string& directory, const LoadedSegment& last) const {
  if (!first_new_) return {};
  uint64_t count = 0;
  uint64_t bytes = 0;
  uint64_t all_bytes = 0;
  for (const LogHole& hole : holes_) {
    all_bytes += hole.bytes();
    if (!is_new(hole)) continue;
    ++count;
    bytes += hole.bytes();
  }
  const NvmExtent& extent = *last.nvm;
  if (count <= extent.writers &&
      bytes <= extent.writers * last.layout.stream_bytes(extent.longest_record_bytes))
    return {};
  return damaged(
      "the log is damaged: {}/{} at byte {}: a record is missing, and others after it, {} bytes in {} "
      "places, which "
      "is more than a crash of {} workers can leave; nothing was changed",
      directory, first_new_->file, first_new_->offset, all_bytes, holes_.size(), extent.writers);
}

}  // namespace mneme
