// For tests: whole blocks that lie in reused segments, and that a former segment left there: what no reader
// may take for this log's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/file/file.h"
#include "logging/directory/manifest.h"
#include "logging/record/block_format.h"

namespace mneme::test {

// Counts those in the segments that the manifest lists.
inline uint64_t count_stale_blocks(const std::string& directory, const Manifest& manifest) {
  uint64_t count = 0;
  for (const SegmentEntry& entry : manifest.segments) {
    const std::string path = path_in(directory, entry.file);
    if (!std::filesystem::exists(path)) continue;
    const auto bytes = read_text_file(path);
    if (!bytes.ok() || bytes->size() < kSegmentHeaderBytes) continue;
    const auto header = SegmentHeader::decode(as_bytes(*bytes).first(kSegmentHeaderBytes), path);
    if (!header.ok() || !header->former) continue;
    for (uint32_t index = 0; index < header->former->blocks; ++index) {
      const ByteSpan bytes_of_block = as_bytes(*bytes).subspan(block_offset(index), kBlockBytes);
      const auto block = BlockHeader::decode(bytes_of_block);
      const bool is_stale = block && block->segment != entry.number && block->index == index;
      if (is_stale && block->payload_is_intact(bytes_of_block)) ++count;
    }
  }
  return count;
}

}  // namespace mneme::test
