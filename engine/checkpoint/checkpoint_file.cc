#include "engine/checkpoint/checkpoint_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/crc32c.h"

namespace mneme {

namespace {

// So far behind the chunk that is written pages are dropped: most are on the disk by then, and the others
// stay. No thread waits.
constexpr uint64_t kDropBehindBytes = uint64_t{16} << 20;
constexpr uint64_t kPageBytes = 4096;

}  // namespace

Result<std::unique_ptr<CheckpointFile>> CheckpointFile::create(const std::string& directory,
                                                               const CheckpointIdentity& identity,
                                                               CachedPages cached) {
  std::string name = fmt::format("checkpoint-{:016x}", identity.lsn.value);
  DirectoryChanges changes(directory);
  auto file = File::make(directory + "/" + name);
  if (!file) return file.error();
  return std::unique_ptr<CheckpointFile>(
      new CheckpointFile(std::move(changes), std::move(name), identity, cached, std::move(*file)));
}

CheckpointFile::~CheckpointFile() {
  if (!is_complete_) ::unlink(file_.path().c_str());
}

Result<void> CheckpointFile::write_chunk(TableId table, uint32_t rows, ByteSpan payload,
                                         CheckpointChunkBounds bounds) {
  CheckpointChunkHeader header;
  header.table = table.value;
  header.rows = rows;
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.payload_checksum = crc32c(payload);
  const uint64_t bytes = kCheckpointChunkHeaderBytes + payload.size();
  header.offset = next_offset_.fetch_add(bytes, std::memory_order_relaxed);
  std::array<std::byte, kCheckpointChunkHeaderBytes> encoded;
  header.encode(encoded.data());
  RETURN_IF_ERROR(file_.write_at(encoded, header.offset));
  RETURN_IF_ERROR(file_.write_at(payload, header.offset + kCheckpointChunkHeaderBytes));
  write_back(header.offset, bytes);
  chunks_.fetch_add(1, std::memory_order_relaxed);
  rows_.fetch_add(rows, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  bounds_.emplace(header.offset, std::move(bounds));
  return {};
}

void CheckpointFile::write_back(uint64_t offset, uint64_t bytes) const {
  const int file = file_.descriptor();
  // Begun at once: else all would come with the last sync, and the log's writes behind them.
  (void)::sync_file_range(file, static_cast<off64_t>(offset), static_cast<off64_t>(bytes),
                          SYNC_FILE_RANGE_WRITE);
  if (cached_ == CachedPages::kStay || offset < kDropBehindBytes + kPageBytes) return;
  // Only whole pages are dropped: with one more in front, those that two chunks share are, too.
  const auto begin = static_cast<off64_t>(offset - kDropBehindBytes - kPageBytes);
  const auto length = static_cast<off64_t>(bytes + kPageBytes);
  (void)::posix_fadvise(file, begin, length, POSIX_FADV_DONTNEED);
}

Result<WrittenCheckpoint> CheckpointFile::complete() {
  CHECK(!is_complete_);
  std::vector<std::byte> bounds;
  for (const auto& [offset, of_chunk] : bounds_) of_chunk.append_to(bounds);
  const uint64_t chunks_end = next_offset_.load(std::memory_order_relaxed);
  RETURN_IF_ERROR(file_.write_at(bounds, chunks_end));
  // The header vouches for the chunks and their bounds: they must be there first.
  RETURN_IF_ERROR(file_.sync_data());
  CheckpointHeader header;
  header.database_id = identity_.database_id;
  header.catalog_hash = identity_.catalog_hash;
  header.lsn = identity_.lsn;
  header.chunks = chunks_.load(std::memory_order_relaxed);
  header.rows = rows_.load(std::memory_order_relaxed);
  header.file_bytes = chunks_end + bounds.size();
  header.bounds_offset = chunks_end;
  header.bounds_checksum = crc32c(bounds);
  std::vector<std::byte> page(kCheckpointHeaderBytes);
  header.encode(page.data());
  RETURN_IF_ERROR(file_.write_at(page, 0));
  RETURN_IF_ERROR(file_.sync_data());
  RETURN_IF_ERROR(directory_changes_.sync());
  is_complete_ = true;
  return WrittenCheckpoint{name_, header.file_bytes, header.rows};
}

CheckpointRows::CheckpointRows(const Database& database, CheckpointFile& file, size_t chunk_bytes)
    : database_(database), file_(file), chunk_bytes_(chunk_bytes) {
  for (const TableDefinition& table : database.catalog().tables())
    chunks_.push_back({RowCodec(database.table(table.id).layout()), {}, 0, 0, {}});
}

void CheckpointRows::widen(CheckpointChunkBounds& bounds, const IndexedTable& table, uint64_t slot,
                           const std::byte* image) const {
  const bool is_first = bounds.slot_end == 0;
  bounds.slot_end = std::max(bounds.slot_end, slot + 1);
  size_t at = 0;
  for (const TableIndex& index : table.indexes()) {
    const IndexKey key = index.codec->of_row(image, slot);
    const std::span<const uint64_t> words = key.span();
    if (is_first) {
      bounds.words.insert(bounds.words.end(), words.begin(), words.end());
      bounds.words.insert(bounds.words.end(), words.begin(), words.end());
    }
    const std::span<uint64_t> low = std::span(bounds.words).subspan(at, words.size());
    const std::span<uint64_t> high = std::span(bounds.words).subspan(at + words.size(), words.size());
    if (std::ranges::lexicographical_compare(words, low)) std::ranges::copy(words, low.begin());
    if (std::ranges::lexicographical_compare(high, words)) std::ranges::copy(words, high.begin());
    at += 2 * words.size();
  }
}

Result<void> CheckpointRows::add(TableId table, uint64_t slot, const std::byte* image) {
  Chunk& chunk = chunks_[table.value];
  chunk.payload.put_signed(static_cast<int64_t>(slot - chunk.next_slot));
  chunk.next_slot = slot + 1;
  chunk.codec.encode(image, chunk.payload);
  ++chunk.rows;
  widen(chunk.bounds, database_.table(table), slot, image);
  if (chunk.payload.size() < chunk_bytes_) return {};
  return write(table);
}

Result<void> CheckpointRows::flush() {
  for (uint32_t table = 0; table < chunks_.size(); ++table) {
    if (chunks_[table].rows > 0) RETURN_IF_ERROR(write(TableId{table}));
  }
  return {};
}

Result<void> CheckpointRows::write(TableId table) {
  Chunk& chunk = chunks_[table.value];
  const Result<void> written =
      file_.write_chunk(table, chunk.rows, chunk.payload.span(), std::exchange(chunk.bounds, {}));
  chunk.payload.clear();
  chunk.rows = 0;
  chunk.next_slot = 0;
  return written;
}

}  // namespace mneme
