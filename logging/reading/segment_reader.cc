#include "logging/reading/segment_reader.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/file/file.h"
#include "base/memory/huge_advice.h"
#include "logging/directory/reused_segment.h"
#include "logging/nvm/nvm_ring.h"
#include "logging/nvm/nvm_segment_reader.h"

namespace mneme {

namespace {

constexpr size_t kReadBytes = size_t{1} << 20;
static_assert(kReadBytes % kBlockBytes == 0);

Result<void> check_header(const SegmentHeader& header, const std::string& directory, const Manifest& manifest,
                          const SegmentEntry& entry, const std::string& path) {
  if (header.database_id != manifest.database_id) {
    return damaged(
        "{} belongs to another database: its id is {:016x}, and that of {}/MANIFEST {:016x}; nothing was "
        "changed: put the right one back",
        path, header.database_id, directory, manifest.database_id);
  }
  if (header.catalog_hash != manifest.catalog_hash) {
    return damaged("{} was written under another catalog: its hash is {:016x}, the manifest's {:016x}", path,
                   header.catalog_hash, manifest.catalog_hash);
  }
  if (header.logger != entry.logger) {
    return damaged("{} belongs to another logger than the manifest says: put the right file back", path);
  }
  if (header.is_ring != entry.is_ring) {
    return damaged(
        "{} is a ring in persistent memory where the manifest says a segment, or the other way round: put "
        "the "
        "right file back",
        path);
  }
  if (header.number != entry.number || header.incarnation != entry.incarnation) {
    return damaged(
        "{} is segment {} of incarnation {}, where the manifest expects segment {} of incarnation {}: put "
        "the right file back",
        path, header.number, header.incarnation, entry.number, entry.incarnation);
  }
  return {};
}

bool is_of_last(const Manifest& manifest, const SegmentEntry& entry) {
  return !manifest.incarnations.empty() && entry.incarnation == manifest.incarnations.back().number;
}

// The header of the block at this place. A block of another place is a write that went astray: as bad as no
// block.
std::optional<BlockHeader> block_header_of(ByteSpan block, uint32_t index, const SegmentEntry& entry) {
  auto header = BlockHeader::decode(block);
  const bool is_of_place = header && header->segment == entry.number &&
                           header->incarnation == entry.incarnation && header->index == index;
  return is_of_place ? header : std::nullopt;
}

// Adds the block at `index` to the segment, if it is intact and in the range. `former`: of a reused segment.
void take_block(ByteSpan bytes, uint32_t index, const SegmentEntry& entry, StreamPosition begin,
                StreamPosition end, const std::optional<FormerSectors>& former, LoadedSegment& to) {
  const auto header = block_header_of(bytes, index, entry);
  const bool is_intact = header && header->payload_is_intact(bytes);
  if (!is_intact && !to.rotten_at) {
    const bool torn = former ? former->may_be_torn(index, bytes, header) : may_be_torn(bytes, header);
    if (!torn) to.rotten_at = block_offset(index);
  }
  if (!header || header->begin < begin || header->begin >= end) return;
  LoadedBlock block;
  block.begin = header->begin;
  block.used_bytes = static_cast<uint32_t>(std::min(header->end(), end).value - header->begin.value);
  block.offset = block_offset(index) + kBlockHeaderBytes;
  block.payload_is_intact = is_intact;
  to.blocks.push_back(block);
  to.durable = std::max(to.durable, header->durable);
  to.progress = std::max(to.progress, header->progress);
  // Where the file was cut short inside the block, the missing bytes count as zeros.
  const size_t there = std::min<size_t>(bytes.size() - kBlockHeaderBytes, block.used_bytes);
  to.bytes.insert(to.bytes.end(), bytes.begin() + kBlockHeaderBytes,
                  bytes.begin() + kBlockHeaderBytes + there);
  to.bytes.resize(to.bytes.size() + block.used_bytes - there);
}

}  // namespace

// A killed process is gone before its last requests to the device are: each of those holds the segment's open
// file, and with it the writer's lock. So the file is quiet once the lock can be had.
Result<LoadedSegment> load_segment(const std::string& directory, const Manifest& manifest,
                                   const SegmentEntry& entry, StreamPosition begin, StreamPosition end,
                                   std::chrono::milliseconds patience) {
  const std::string path = path_in(directory, entry.file);
  if (!std::filesystem::exists(path)) {
    return damaged(
        "log segment {} is missing, and {}/MANIFEST lists it: put the file back; nothing was changed", path,
        directory);
  }
  auto file = File::open_in(directory, entry.file);
  if (!file.ok()) return file.error();
  RETURN_IF_ERROR(wait_until_quiet(*file, patience));

  LoadedSegment segment;
  const auto size = file->size();
  if (!size.ok()) return size.error();
  // At once, rather than copying what is there already whenever it has doubled.
  segment.bytes.reserve(*size);
  advise_huge_pages(segment.bytes.data(), segment.bytes.capacity());
  std::vector<std::byte> chunk(kReadBytes);
  std::optional<FormerSectors> former;
  uint64_t blocks_end = std::numeric_limits<uint64_t>::max();
  for (uint64_t offset = 0;; offset += kReadBytes) {
    auto count = file->read_at(chunk, offset);
    if (!count.ok()) return count.error();
    const ByteSpan read = ByteSpan(chunk).first(*count);
    segment.file_bytes += *count;
    if (offset == 0) {
      auto header = SegmentHeader::decode(read.first(std::min(kBlockBytes, read.size())), path);
      if (!header.ok()) return header.error();
      RETURN_IF_ERROR(check_header(*header, directory, manifest, entry, path));
      if (header->file_bytes > 0 && *size != header->file_bytes) {
        return damaged(
            "{} has {} bytes, and {} were written; nothing was changed: put the file back from a copy of the "
            "directory",
            path, *size, header->file_bytes);
      }
      segment.is_sized = header->file_bytes > 0;
      if (header->nvm) return load_nvm_segment(*file, *header, begin, end);
      if (header->is_ring) return load_nvm_ring(*file, *header);
      if (header->is_destaged) {
        segment.layout = ring_layout(header->database_id, header->incarnation, header->logger.value_or(0));
      }
      if (header->former) {
        blocks_end = block_offset(header->former->blocks);
        // The table is for the last segment: for segments of former incarnations the manifest says which
        // blocks matter (refuse_rot()).
        if (is_of_last(manifest, entry)) {
          former = read_former_sectors(*file, *header->former);
          if (!former) {
            return damaged(
                "{} is damaged at byte {}: the table of what its blocks held before doesn't match its "
                "checksum; nothing was changed: put the file back from a copy of the directory",
                path, blocks_end);
          }
        }
      }
    }
    for (size_t at = offset == 0 ? kBlockBytes : 0; at < read.size() && offset + at < blocks_end;
         at += kBlockBytes) {
      const auto index = static_cast<uint32_t>((offset + at) / kBlockBytes - 1);
      take_block(read.subspan(at, std::min(kBlockBytes, read.size() - at)), index, entry, begin, end, former,
                 segment);
    }
    if (*count < kReadBytes) return segment;
  }
}

Result<void> refuse_rot(const std::string& directory, const Manifest& manifest, const SegmentEntry& entry,
                        const LoadedSegment& loaded) {
  const bool is_destaged = loaded.layout.is_seeded_by_place;
  if (!is_of_last(manifest, entry) || is_destaged || !loaded.rotten_at) return {};
  return damaged(
      "the log is damaged: {}/{} at byte {}: the block is not what was written, and no crash leaves it so: a "
      "disk writes a sector of {} "
      "bytes whole or not at all; nothing was changed",
      directory, entry.file, *loaded.rotten_at, kSectorBytes);
}

}  // namespace mneme
