#include "logging/directory/reused_segment.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/check.h"
#include "base/memory/aligned_bytes.h"
#include "base/memory/huge_pages.h"

namespace mneme {

namespace {

constexpr size_t kStretchBytes = size_t{1} << 20;  // at once, at most

bool has_other_names(const File& file) {
  struct stat facts {};
  return ::fstat(file.descriptor(), &facts) != 0 || facts.st_nlink != 1;
}

// Returns a file that isn't open, if it can't serve.
File open_spare(const SpareSegment& spare, uint64_t database_id, const SegmentFileOptions& options,
                std::span<std::byte> page) {
  auto file = File::open_own(spare.path, O_RDWR | (options.direct_io ? O_DIRECT : 0));
  if (!file.ok()) return {};
  file->close_in_child();
  if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0 || has_other_names(*file)) return {};
  const auto count = file->read_at(page, 0);
  if (!count.ok()) return {};
  const auto header = SegmentHeader::decode(ByteSpan(page).first(*count), spare.path);
  if (!header.ok() || header->database_id != database_id || header->number != spare.number) return {};
  const bool is_of_blocks = !header->nvm && !header->is_ring && !header->is_destaged;
  const size_t blocks = options.segment_bytes / kBlockBytes - 1;
  const bool has_size =
      header->former ? header->former->blocks == blocks : header->file_bytes == options.segment_bytes;
  if (!is_of_blocks || !has_size) return {};
  const auto size = file->size();
  if (!size.ok() || *size != header->file_bytes) return {};
  return std::move(*file);
}

// Notes what the blocks hold. Returns false if they can't be read; fails if that is given up.
Result<bool> note_blocks(const File& file, const SegmentFileOptions& options, std::span<std::byte> buffer,
                         FormerSectors& former) {
  for (size_t at = kSegmentHeaderBytes; at < options.segment_bytes;) {
    const size_t asked = options.next_stretch ? options.next_stretch() : kStretchBytes;
    if (asked == 0) return failed("{} was not finished", file.path());
    const size_t stretch = std::min({asked, buffer.size(), options.segment_bytes - at}) / kBlockBytes;
    const auto bytes = buffer.first(std::max<size_t>(stretch, 1) * kBlockBytes);
    const auto count = file.read_at(bytes, at);
    if (!count.ok() || *count < bytes.size()) return false;
    former.note(static_cast<uint32_t>((at - kSegmentHeaderBytes) / kBlockBytes), bytes);
    at += bytes.size();
  }
  return true;
}

Result<void> write_table_and_header(const File& file, const FormerSectors& former, SegmentHeader& header,
                                    const SegmentFileOptions& options) {
  const auto blocks = static_cast<uint32_t>(options.segment_bytes / kBlockBytes - 1);
  const AlignedBytes table(former_table_bytes(blocks));
  header.former = former.encode(table.span().first(former_table_bytes(blocks)));
  header.file_bytes = options.segment_bytes + former_table_bytes(blocks);
  RETURN_IF_ERROR(file.write_at(table.span().first(former_table_bytes(blocks)), options.segment_bytes));
  // Before the header page that speaks of it. The file may have grown by it.
  if (::fsync(file.descriptor()) != 0) return file_error("sync", file.path(), errno);
  const AlignedBytes page(kBlockBytes);
  header.encode(page.data());
  RETURN_IF_ERROR(file.write_at(page.span().first(kBlockBytes), 0));
  return file.sync_data();
}

// Returns whether the spare has become the segment.
Result<bool> reuse(const File& file, const std::string& path, SegmentHeader& header,
                   const SegmentFileOptions& options, std::span<std::byte> buffer) {
  FormerSectors former(static_cast<uint32_t>(options.segment_bytes / kBlockBytes - 1));
  const Result<bool> noted = note_blocks(file, options, buffer, former);
  if (!noted.ok() || !*noted) return noted;
  if (!write_table_and_header(file, former, header, options).ok()) return false;
  return std::rename(file.path().c_str(), path.c_str()) == 0;
}

}  // namespace

bool may_be_reused(const Manifest& manifest, const SegmentEntry& entry) {
  return entry.incarnation == manifest.incarnations.back().number && !entry.is_ring;
}

Result<File> reuse_segment(const SpareSegment& spare, const std::string& path, SegmentHeader header,
                           const SegmentFileOptions& options) {
  CHECK(options.behind_header.empty());
  const AlignedBytes buffer(std::max(kStretchBytes, kHugePageBytes));
  const auto bytes = buffer.span().first(kStretchBytes);
  File file = open_spare(spare, header.database_id, options, bytes.first(kSegmentHeaderBytes));
  std::error_code unknown;
  // What has the segment's name is looked at by whoever makes a fresh file.
  const bool is_free = !std::filesystem::exists(std::filesystem::symlink_status(path, unknown));
  Result<bool> done = false;
  if (file.is_open() && is_free) done = reuse(file, path, header, options, bytes);
  if (!done.ok() || !*done) {
    ::unlink(spare.path.c_str());
    if (!done.ok()) return done.error();
    return File();
  }
  file.renamed_to(path);
  return file;
}

std::optional<FormerSectors> read_former_sectors(const File& file, const FormerBlocks& former) {
  const auto size = file.size();
  if (!size.ok() || *size != block_offset(former.blocks) + former_table_bytes(former.blocks))
    return std::nullopt;
  std::vector<std::byte> table(former_table_bytes(former.blocks));
  const auto count = file.read_at(table, block_offset(former.blocks));
  if (!count.ok()) return std::nullopt;
  return FormerSectors::decode(ByteSpan(table).first(*count), former);
}

Result<bool> holds_other_than_former(const File& file, const FormerBlocks& former) {
  const auto sectors = read_former_sectors(file, former);
  if (!sectors) return true;
  std::vector<std::byte> chunk(kStretchBytes);
  for (uint64_t at = block_offset(0); at < block_offset(former.blocks); at += chunk.size()) {
    const auto bytes =
        std::span(chunk).first(std::min<uint64_t>(chunk.size(), block_offset(former.blocks) - at));
    const auto count = file.read_at(bytes, at);
    if (!count.ok()) return count.error();
    if (*count < bytes.size()) return true;
    if (!sectors->hold(static_cast<uint32_t>((at - kSegmentHeaderBytes) / kBlockBytes), bytes)) return true;
  }
  return false;
}

}  // namespace mneme
