#include "logging/reading/log_truncation.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/file/directory.h"
#include "base/file/file.h"
#include "base/memory/aligned_bytes.h"
#include "logging/device/remote_options.h"
#include "logging/directory/database_files.h"
#include "logging/directory/reused_segment.h"
#include "logging/record/block_format.h"
#include "logging/record/epoch_lsn.h"
#include "logging/record/record_format.h"

namespace mneme {

namespace {

namespace fs = std::filesystem;

// All records of the segments before this one, of the same stream or directory, lie below; nothing while it
// has none itself. In one directory that is where its first record stands. A logger's stream holds epoch
// after epoch, but within an epoch no order: there it is the end of the first record's epoch. A stream of a
// distributed log has none at all, but its first block says how far the stream's clock stood before.
Result<std::optional<Lsn>> end_of_former(const std::string& path, LogLayout layout) {
  auto file = File::open(path, O_RDONLY | O_NONBLOCK);
  if (!file.ok()) return file.error();
  const AlignedBytes bytes(kSegmentHeaderBytes + kBlockBytes);
  const auto count = file->read_at(bytes.span(), 0);
  if (!count.ok()) return count.error();
  const ByteSpan read = ByteSpan(bytes.span()).first(*count);
  auto header = SegmentHeader::decode(read.first(std::min(kSegmentHeaderBytes, read.size())), path);
  if (!header.ok()) return header.error();
  if (header->nvm) return std::optional(one_stream_lsn(header->nvm->begin));
  if (read.size() < kSegmentHeaderBytes + kBlockBytes) return std::optional<Lsn>();
  const ByteSpan first = read.subspan(kSegmentHeaderBytes);
  auto block = BlockHeader::decode(first);
  // In a reused file it may be the former segment's, whose records lie lower.
  if (block && (block->segment != header->number || block->incarnation != header->incarnation)) block.reset();
  if (layout == LogLayout::kDistributed) {
    if (!block || block->progress == kUnknownProgress) return std::optional<Lsn>();
    return std::optional(block->durable + block->progress);
  }
  if (!block || !header->logger) return block ? std::optional(one_stream_lsn(block->begin)) : std::nullopt;
  if (!block->payload_is_intact(first) || block->used_bytes < kRecordHeaderBytes) return std::optional<Lsn>();
  const Lsn lsn = RecordHeader::decode(first.data() + kBlockHeaderBytes).lsn;
  return std::optional(begin_of(epoch_of(lsn).next()));
}

std::string directory_of(const SegmentEntry& entry) {
  return fs::path(entry.file).parent_path().string();
}

// Returns whether the segment is another database's. A user may have put it here; it is not ours to remove.
bool is_foreign(const std::string& path, const Manifest& manifest) {
  const auto file = File::open(path, O_RDONLY | O_NONBLOCK);
  if (!file.ok()) return false;
  std::vector<std::byte> page(kSegmentHeaderBytes);
  const auto count = file->read_at(page, 0);
  if (!count.ok()) return false;
  const auto header = SegmentHeader::decode(ByteSpan(page).first(*count), path);
  return header.ok() && header->database_id != manifest.database_id;
}

}  // namespace

Result<std::vector<SegmentEntry>> segments_below(const std::string& directory, const Manifest& manifest,
                                                 Lsn lsn) {
  uint32_t first_incarnation = 0;  // that may hold records at or above it
  for (const Incarnation& each : manifest.incarnations) {
    if (each.begin <= lsn) first_incarnation = each.number;
  }
  std::vector<SegmentEntry> below;
  // The directories, or the loggers' streams in them, that have a later segment which begins at or below it.
  std::set<std::pair<std::string, std::optional<uint32_t>>> passed;
  for (auto entry = manifest.segments.rbegin(); entry != manifest.segments.rend(); ++entry) {
    const auto place = std::pair(directory_of(*entry), entry->logger);
    if (entry->incarnation < first_incarnation || (passed.contains(place) && !entry->is_ring)) {
      below.push_back(*entry);
      continue;
    }
    if (entry->is_ring) continue;
    // In the log servers' memories: the log at work releases those by itself.
    if (is_in_memories(directory, *entry)) continue;
    const auto end = end_of_former(path_in(directory, entry->file), manifest.layout);
    if (!end.ok()) return end.error();
    if (*end && **end <= lsn) passed.insert(place);
  }
  return below;
}

void release_segments(ManifestFile& manifest, const Manifest& before, const std::vector<SegmentEntry>& below,
                      Passed passed) {
  std::vector<SpareSegment> spares;
  for (const SegmentEntry& each : below) {
    const std::string path = path_in(manifest.directory(), each.file);
    // A crash before they are gone leaves them to the next opening for work.
    if (passed == Passed::kReused && may_be_reused(before, each))
      spares.push_back({directory_of(each), path, each.number});
    else
      ::unlink(path.c_str());
  }
  manifest.spares().keep(spares);
}

void forget_former_lives(Manifest& manifest) {
  std::vector<Incarnation>& lives = manifest.incarnations;
  if (lives.empty()) return;
  const auto first = std::ranges::find_if(lives, [&](const Incarnation& life) {
    return life.number == lives.back().number ||
           std::ranges::count(manifest.segments, life.number, &SegmentEntry::incarnation) > 0;
  });
  lives.erase(lives.begin(), first);
  std::erase_if(manifest.holes,
                [&](const LogHole& hole) { return one_stream_lsn(hole.end) <= lives.front().begin; });
}

Result<std::vector<std::string>> unlisted_files(const std::string& directory, const Manifest& manifest) {
  std::set<std::string> listed{fs::path(path_in(directory, manifest.checkpoint_file)).lexically_normal()};
  std::set<std::string> places{""};
  for (const SegmentEntry& entry : manifest.segments) {
    listed.insert(fs::path(path_in(directory, entry.file)).lexically_normal());
    places.insert(directory_of(entry));
  }
  const std::string others = fmt::format("{:016x}-log-", manifest.database_id);
  std::vector<std::string> unlisted;
  for (const std::string& place : places) {
    const auto paths = paths_in(path_in(directory, place));
    if (!paths) return paths.error();
    for (const fs::path file : *paths) {
      const std::string name = file.filename();
      const bool is_ours = place.starts_with('/')
                               ? names_segment(name, others)
                               : names_segment(name, "log-") ||
                                     (place.empty() && (names_checkpoint(name) || name == kUnfinishedFile));
      const std::string path = file.lexically_normal();
      if (!is_ours || listed.contains(path)) continue;
      if (!names_checkpoint(name) && is_foreign(path, manifest)) continue;
      unlisted.push_back(path);
    }
  }
  return unlisted;
}

Result<void> remove_unlisted_files(ManifestFile& manifest) {
  const auto leftovers = unlisted_files(manifest.directory(), manifest.current());
  if (!leftovers.ok()) return leftovers.error();
  if (leftovers->empty()) return {};
  RETURN_IF_ERROR(manifest.update([](Manifest&) {}));
  for (const std::string& path : *leftovers) {
    std::error_code error;
    if (!fs::remove(path, error) && error) return failed("cannot remove {}: {}", path, error.message());
  }
  return {};
}

}  // namespace mneme
