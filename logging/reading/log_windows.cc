#include "logging/reading/log_windows.h"

#include <fcntl.h>

#include <algorithm>

#include "base/check.h"
#include "base/file/file.h"
#include "logging/record/record_walk.h"

namespace mneme {

namespace {

using Block = LogContents::Block;
using Part = LogContents::Window::Part;

// The blocks of the segment that hold the part's bytes.
std::span<const Block> blocks_of(const LogContents::Segment& segment, const Part& part) {
  const auto after_begin = std::ranges::upper_bound(segment.blocks, part.begin, {}, &Block::begin);
  CHECK(after_begin != segment.blocks.begin());
  const auto first = std::prev(after_begin);
  const auto end = std::lower_bound(first, segment.blocks.end(), part.end,
                                    [](const Block& block, StreamPosition at) { return block.begin < at; });
  return {first, end};
}

// Appends the part's bytes to the window's. One read brings its blocks with all that lies between them.
Result<void> read_part(const std::string& directory, const LogContents::Segment& segment, const Part& part,
                       std::vector<std::byte>& bytes) {
  const std::span<const Block> blocks = blocks_of(segment, part);
  const auto from = [&](const Block& block) { return std::max(block.begin, part.begin); };
  const auto to = [&](const Block& block) { return std::min(block.end(), part.end); };
  const auto offset_of = [](const Block& block, StreamPosition at) {
    return block.offset + (at.value - block.begin.value);
  };
  const uint64_t file_begin = offset_of(blocks.front(), from(blocks.front()));
  const uint64_t file_end = offset_of(blocks.back(), to(blocks.back()));
  const auto file = File::open_in(directory, segment.file);
  if (!file) return file.error();
  std::vector<std::byte> read(file_end - file_begin);
  const auto count = file->read_at(read, file_begin);
  if (!count) return count.error();
  for (const Block& block : blocks) {
    const uint64_t begin = offset_of(block, from(block)) - file_begin;
    const uint64_t size = to(block).value - from(block).value;
    bytes.insert(bytes.end(), read.begin() + static_cast<ptrdiff_t>(begin),
                 read.begin() + static_cast<ptrdiff_t>(begin + size));
  }
  return {};
}

}  // namespace

Result<LogWindow> read_window(const std::string& directory, const LogContents& log, size_t window) {
  const LogContents::Window& from = log.windows[window];
  LogWindow read;
  uint64_t size = 0;
  for (const Part& part : from.parts) size += part.end.value - part.begin.value;
  read.bytes.reserve(size);
  read.records.reserve(from.records);
  for (const Part& part : from.parts) {
    const LogContents::Segment& segment = log.segments[part.segment];
    const size_t begin = read.bytes.size();
    RETURN_IF_ERROR(read_part(directory, segment, part, read.bytes));
    const RecordWalk walk = walk_records(part.begin, ByteSpan(read.bytes).subspan(begin), segment.layout,
                                         [&](const RecordHeader& header, ByteSpan payload) {
                                           if (header.kind == RecordKind::kSkip) return;
                                           read.records.push_back({header.lsn, header.kind, payload});
                                         });
    if (walk.is_whole) continue;
    const LogContents::Place place = log.place_of(walk.end);
    return damaged(
        "the log has changed while it was being replayed: {}/{} at byte {}: the record at LSN {} is not what "
        "was "
        "there; see that nobody writes to the files, and recover again",
        directory, place.file, place.offset, walk.end.value);
  }
  if (read.records.size() == from.records) return read;
  return damaged(
      "the log has changed while it was being replayed: {} records stand below LSN {}, where {} did; see "
      "that nobody writes to the files, and recover again",
      read.records.size(), from.parts.back().end.value, from.records);
}

}  // namespace mneme
