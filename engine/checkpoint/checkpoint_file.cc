#include "engine/checkpoint/checkpoint_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

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

Result<void> CheckpointFile::write_chunk(TableId table, uint32_t rows, ByteSpan payload) {
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
  // The header vouches for the chunks: they must be there first.
  RETURN_IF_ERROR(file_.sync_data());
  CheckpointHeader header;
  header.database_id = identity_.database_id;
  header.catalog_hash = identity_.catalog_hash;
  header.lsn = identity_.lsn;
  header.chunks = chunks_.load(std::memory_order_relaxed);
  header.rows = rows_.load(std::memory_order_relaxed);
  header.file_bytes = next_offset_.load(std::memory_order_relaxed);
  std::vector<std::byte> page(kCheckpointHeaderBytes);
  header.encode(page.data());
  RETURN_IF_ERROR(file_.write_at(page, 0));
  RETURN_IF_ERROR(file_.sync_data());
  RETURN_IF_ERROR(directory_changes_.sync());
  is_complete_ = true;
  return WrittenCheckpoint{name_, header.file_bytes, header.rows};
}

CheckpointRows::CheckpointRows(const Database& database, CheckpointFile& file) : file_(file) {
  for (const TableDefinition& table : database.catalog().tables())
    chunks_.push_back({RowCodec(database.table(table.id).layout()), {}, 0, 0});
}

Result<void> CheckpointRows::add(TableId table, uint64_t slot, const std::byte* image) {
  Chunk& chunk = chunks_[table.value];
  chunk.payload.put_signed(static_cast<int64_t>(slot - chunk.next_slot));
  chunk.next_slot = slot + 1;
  chunk.codec.encode(image, chunk.payload);
  ++chunk.rows;
  if (chunk.payload.size() < kCheckpointChunkBytes) return {};
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
  const Result<void> written = file_.write_chunk(table, chunk.rows, chunk.payload.span());
  chunk.payload.clear();
  chunk.rows = 0;
  chunk.next_slot = 0;
  return written;
}

}  // namespace mneme
