#include "recovery/database/checkpoint_loader.h"

#include <fcntl.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/crc32c.h"
#include "base/file/file.h"
#include "engine/schema/row_codec.h"

namespace mneme {
namespace {

// Where the checkpoint is not what was written.
constexpr std::string_view kAdvice = "nothing was changed: put the file back from a copy of the directory";

Result<CheckpointHeader> read_header(const File& file, const std::string& directory,
                                     const Manifest& manifest) {
  std::vector<std::byte> page(kCheckpointHeaderBytes);
  const Result<size_t> read = file.read_at(page, 0);
  if (!read) return read.error();
  Result<CheckpointHeader> header = CheckpointHeader::decode(ByteSpan(page).first(*read), file.path());
  if (!header) return header;
  if (header->database_id != manifest.database_id ||
      header->catalog_hash != manifest.checkpoint_catalog_hash) {
    return damaged(
        "{} belongs to another database than {}/MANIFEST; nothing was changed: put the right one back",
        file.path(), directory);
  }
  if (header->lsn != manifest.checkpoint_lsn) {
    return damaged("{} is the checkpoint at LSN {}, and the manifest names the one at LSN {}; {}",
                   file.path(), header->lsn.value, manifest.checkpoint_lsn.value, kAdvice);
  }
  const Result<uint64_t> size = file.size();
  if (!size) return size.error();
  if (*size != header->file_bytes) {
    return damaged("{} has {} bytes, and {} were written; {}", file.path(), *size, header->file_bytes,
                   kAdvice);
  }
  return header;
}

// Where each chunk is and what it holds.
Result<std::vector<CheckpointChunkHeader>> read_chunk_headers(const File& file,
                                                              const CheckpointHeader& header, size_t tables) {
  std::vector<CheckpointChunkHeader> chunks;
  uint64_t offset = kCheckpointHeaderBytes;
  uint64_t rows = 0;
  while (offset < header.file_bytes) {
    std::array<std::byte, kCheckpointChunkHeaderBytes> bytes;
    const Result<size_t> read = file.read_at(bytes, offset);
    if (!read) return read.error();
    const auto chunk = CheckpointChunkHeader::decode(ByteSpan(bytes).first(*read));
    if (!chunk)
      return damaged("{}: the chunk header at offset {} fails its checksum; {}", file.path(), offset,
                     kAdvice);
    const uint64_t end = offset + kCheckpointChunkHeaderBytes + chunk->payload_bytes;
    if (chunk->offset != offset || chunk->table >= tables || end > header.file_bytes) {
      return damaged("{}: the chunk header at offset {} does not belong there; {}", file.path(), offset,
                     kAdvice);
    }
    rows += chunk->rows;
    chunks.push_back(*chunk);
    offset = end;
  }
  if (chunks.size() != header.chunks || rows != header.rows) {
    return damaged("{}: {} chunks with {} rows are there, and {} with {} were written; {}", file.path(),
                   chunks.size(), rows, header.chunks, header.rows, kAdvice);
  }
  return chunks;
}

// The result of loading a row.
enum class LoadOutcome : uint8_t { kOk, kNoRow, kTwice, kOutOfMemory };

class ParallelLoader {
 public:
  ParallelLoader(Database& database, const File& file, const CheckpointHeader& header,
                 std::vector<CheckpointChunkHeader> chunks, const std::function<bool()>& is_interrupted)
      : database_(database),
        file_(file),
        lsn_(header.lsn),
        chunks_(std::move(chunks)),
        is_interrupted_(is_interrupted) {
    for (const CheckpointChunkHeader& chunk : chunks_) row_bytes_ += chunk.payload_bytes;
  }

  Result<void> load(uint32_t threads, const std::function<void(uint64_t, uint64_t)>& progress) {
    if (progress) progress(0, row_bytes_);
    std::vector<std::thread> others;
    for (uint32_t t = 1; t < threads; ++t) others.emplace_back([this] { work({}); });
    work(progress);
    for (std::thread& thread : others) thread.join();
    if (error_) return *error_;
    if (progress && !is_partial()) progress(row_bytes_, row_bytes_);
    return {};
  }

  // After load().
  bool is_partial() const { return chunks_done_.load(std::memory_order_relaxed) < chunks_.size(); }
  uint64_t bytes_done() const { return bytes_done_.load(std::memory_order_relaxed); }
  uint64_t rows_done() const { return rows_done_.load(std::memory_order_relaxed); }

 private:
  void work(const std::function<void(uint64_t, uint64_t)>& progress) {
    std::vector<std::byte> payload;
    while (!is_interrupted_ || !is_interrupted_()) {
      const size_t next = next_chunk_.fetch_add(1, std::memory_order_relaxed);
      if (next >= chunks_.size()) return;
      const Result<void> loaded = load_chunk(chunks_[next], payload);
      if (loaded) {
        chunks_done_.fetch_add(1, std::memory_order_relaxed);
        rows_done_.fetch_add(chunks_[next].rows, std::memory_order_relaxed);
        const uint64_t bytes = payload.size();
        const uint64_t done = bytes_done_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        if (progress) progress(done, row_bytes_);
        continue;
      }
      std::lock_guard lock(error_mutex_);
      error_ = loaded.error();
      // No thread begins another chunk.
      next_chunk_.store(chunks_.size(), std::memory_order_relaxed);
      return;
    }
  }

  Result<void> load_chunk(const CheckpointChunkHeader& chunk, std::vector<std::byte>& payload) {
    payload.resize(chunk.payload_bytes);
    const uint64_t offset = chunk.offset + kCheckpointChunkHeaderBytes;
    const Result<size_t> read = file_.read_at(payload, offset);
    if (!read) return read.error();
    if (*read != payload.size() || crc32c(payload) != chunk.payload_checksum) {
      return damaged("{}: the {} bytes at offset {} fail their checksum; {}", file_.path(), payload.size(),
                     offset, kAdvice);
    }
    const TableDefinition& table = database_.catalog().table(TableId{chunk.table});
    const RowCodec codec(database_.schema().layout(table.id));
    ByteReader reader(payload);
    uint64_t slot = 0;
    for (uint32_t r = 0; r < chunk.rows; ++r, ++slot) {
      slot += static_cast<uint64_t>(reader.get_signed());
      switch (put(table.id, slot, codec, reader)) {
        case LoadOutcome::kOk:
          break;
        case LoadOutcome::kNoRow:
          return damaged("{}: row {} of the chunk at offset {} is no row of table {}; {}", file_.path(), r,
                         chunk.offset, table.name, kAdvice);
        case LoadOutcome::kTwice:
          return damaged("{}: the chunk at offset {} holds a row of table {} that is there twice; {}",
                         file_.path(), chunk.offset, table.name, kAdvice);
        case LoadOutcome::kOutOfMemory:
          return failed("no memory is left to load {}; nothing on disk was changed: recover with more memory",
                        file_.path());
      }
    }
    if (reader.remaining() > 0) {
      return damaged("{}: the chunk at offset {} has bytes after its last row; {}", file_.path(),
                     chunk.offset, kAdvice);
    }
    return {};
  }

  LoadOutcome put(TableId table, uint64_t slot, const RowCodec& codec, ByteReader& reader) {
    Row* row = database_.table(table).rows().restore(slot);
    if (row == nullptr) return LoadOutcome::kOutOfMemory;
    if (!row->try_change(RowWord(), RowWord::incoming())) return LoadOutcome::kTwice;
    if (!codec.decode(reader, row->image())) return LoadOutcome::kNoRow;
    row->set_word(RowWord::live(lsn_));
    return LoadOutcome::kOk;
  }

  Database& database_;
  const File& file_;
  const Lsn lsn_;
  const std::vector<CheckpointChunkHeader> chunks_;
  const std::function<bool()>& is_interrupted_;
  uint64_t row_bytes_ = 0;  // in all chunks

  // Drawn from by all threads; relaxed, it hands out numbers and nothing else.
  std::atomic<size_t> next_chunk_{0};
  // Added to by all threads, read by the caller's; relaxed: numbers for people.
  std::atomic<uint64_t> bytes_done_{0};
  std::atomic<uint64_t> rows_done_{0};
  std::atomic<size_t> chunks_done_{0};

  std::mutex error_mutex_;
  std::optional<Error> error_;  // guarded by error_mutex_ while threads run
};

// The file that a manifest names, and what its headers say.
struct OpenedCheckpoint {
  File file;
  CheckpointHeader header;
  std::vector<CheckpointChunkHeader> chunks;
};

Result<OpenedCheckpoint> open_checkpoint(const std::string& directory, const Manifest& manifest,
                                         size_t tables) {
  const std::string path = path_in(directory, manifest.checkpoint_file);
  if (!std::filesystem::exists(path)) {
    return damaged("the checkpoint {} is missing, which the manifest names; {}", path, kAdvice);
  }
  Result<File> file = File::open_in(directory, manifest.checkpoint_file);
  if (!file) return file.error();
  const Result<CheckpointHeader> header = read_header(*file, directory, manifest);
  if (!header) return header.error();
  Result<std::vector<CheckpointChunkHeader>> chunks = read_chunk_headers(*file, *header, tables);
  if (!chunks) return chunks.error();
  return OpenedCheckpoint{*std::move(file), *header, *std::move(chunks)};
}

}  // namespace

Result<LoadedCheckpoint> load_checkpoint(Database& database, const std::string& directory,
                                         const Manifest& manifest, uint32_t threads,
                                         const std::function<void(uint64_t, uint64_t)>& progress,
                                         const std::function<bool()>& is_interrupted) {
  Result<OpenedCheckpoint> opened =
      open_checkpoint(directory, manifest, database.schema().catalog().tables().size());
  if (!opened) return opened.error();
  ParallelLoader loader(database, opened->file, opened->header, std::move(opened->chunks), is_interrupted);
  RETURN_IF_ERROR(loader.load(threads, progress));
  if (loader.is_partial()) return LoadedCheckpoint{loader.bytes_done(), loader.rows_done(), true};
  return LoadedCheckpoint{opened->header.file_bytes, opened->header.rows};
}

Result<CheckpointSummary> summarize_checkpoint(const std::string& directory, const Manifest& manifest,
                                               size_t tables) {
  const Result<OpenedCheckpoint> opened = open_checkpoint(directory, manifest, tables);
  if (!opened) return opened.error();
  CheckpointSummary summary{opened->header.file_bytes, std::vector<CheckpointSummary::Table>(tables)};
  for (const CheckpointChunkHeader& chunk : opened->chunks) {
    summary.tables[chunk.table].rows += chunk.rows;
    summary.tables[chunk.table].bytes += chunk.payload_bytes;
  }
  return summary;
}

}  // namespace mneme
