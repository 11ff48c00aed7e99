#include "logging/record/log_contents.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {

uint64_t LogContents::hole_bytes() const {
  uint64_t bytes = 0;
  for (const LogHole& hole : holes) bytes += hole.bytes();
  return bytes;
}

const LogContents::Run* LogContents::run_of(StreamPosition at) const {
  const auto after = std::ranges::upper_bound(runs, at, {}, &Run::begin);
  if (after == runs.begin() || std::prev(after)->end <= at) return nullptr;
  return &*std::prev(after);
}

LogContents::Place LogContents::place_of(StreamPosition at) const {
  const Run* run = run_of(at);
  CHECK(run != nullptr);
  const Segment& segment = segments[run->segment];
  const auto first = segment.blocks.begin() + static_cast<ptrdiff_t>(run->first_block);
  const auto after = std::upper_bound(first, first + static_cast<ptrdiff_t>(run->block_count), at,
                                      [](StreamPosition p, const Block& block) { return p < block.begin; });
  CHECK(after != first);
  const Block& block = *std::prev(after);
  return {segment.file, block.offset + (at.value - block.begin.value)};
}

StreamPosition LogContents::Segment::position_at(size_t index) const {
  // Only what lay in persistent memory has gaps.
  if (blocks.back().end().value - blocks.front().begin.value <= bytes.size())
    return blocks.front().begin + index;
  auto block = blocks.begin();
  for (; index >= block->used_bytes; ++block) index -= block->used_bytes;
  return block->begin + index;
}

LogContents::Place LogContents::Segment::place_at(size_t index) const {
  const StreamPosition at = position_at(index);
  const Block& block = *std::prev(std::ranges::upper_bound(blocks, at, {}, &Block::begin));
  return {file, block.offset + (at.value - block.begin.value)};
}

LogContents::Place LogContents::place_of(const RecordView& record) const {
  if (!streams) return place_of(record.lsn);
  const auto whole = std::ranges::find_if(
      joined, [&](const Joined& each) { return each.payload.data() == record.payload.data(); });
  const ByteSpan payload = whole != joined.end() ? whole->first_part.payload : record.payload;
  const std::byte* at = payload.data() - kRecordHeaderBytes;
  const auto segment = std::ranges::find_if(segments, [at](const Segment& each) {
    return !each.bytes.empty() && at >= each.bytes.data() && at < each.bytes.data() + each.bytes.size();
  });
  CHECK(segment != segments.end());
  return segment->place_at(static_cast<size_t>(at - segment->bytes.data()));
}

}  // namespace mneme
