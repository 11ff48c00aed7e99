#include "recovery/database/checkpoint_chunks.h"

#include <array>
#include <filesystem>

#include "base/crc32c.h"

namespace mneme {

namespace {

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
                   file.path(), header->lsn.value, manifest.checkpoint_lsn.value,
                   ChunkReader::kNothingChanged);
  }
  const Result<uint64_t> size = file.size();
  if (!size) return size.error();
  if (header->bounds_offset > header->file_bytes) {
    return damaged("{}: the header page puts the chunks' bounds behind the file's end; {}", file.path(),
                   ChunkReader::kNothingChanged);
  }
  if (*size != header->file_bytes) {
    return damaged("{} has {} bytes, and {} were written; {}", file.path(), *size, header->file_bytes,
                   ChunkReader::kNothingChanged);
  }
  return header;
}

// Returns the encoded bounds of all chunks; empty where the file has none.
Result<std::vector<std::byte>> read_bounds(const File& file, const CheckpointHeader& header) {
  std::vector<std::byte> bounds(header.file_bytes - header.chunks_end());
  const Result<size_t> read = file.read_at(bounds, header.chunks_end());
  if (!read) return read.error();
  if (*read != bounds.size() || (header.bounds_offset != 0 && crc32c(bounds) != header.bounds_checksum)) {
    return damaged("{}: the chunks' bounds at offset {} fail their checksum; {}", file.path(),
                   header.bounds_offset, ChunkReader::kNothingChanged);
  }
  return bounds;
}

// Where each chunk is and what it holds.
Result<std::vector<CheckpointChunkHeader>> read_chunk_headers(const File& file,
                                                              const CheckpointHeader& header, size_t tables) {
  std::vector<CheckpointChunkHeader> chunks;
  uint64_t offset = kCheckpointHeaderBytes;
  uint64_t rows = 0;
  while (offset < header.chunks_end()) {
    std::array<std::byte, kCheckpointChunkHeaderBytes> bytes;
    const Result<size_t> read = file.read_at(bytes, offset);
    if (!read) return read.error();
    const auto chunk = CheckpointChunkHeader::decode(ByteSpan(bytes).first(*read));
    if (!chunk)
      return damaged("{}: the chunk header at offset {} fails its checksum; {}", file.path(), offset,
                     ChunkReader::kNothingChanged);
    const uint64_t end = offset + kCheckpointChunkHeaderBytes + chunk->payload_bytes;
    if (chunk->offset != offset || chunk->table >= tables || end > header.chunks_end()) {
      return damaged("{}: the chunk header at offset {} does not belong there; {}", file.path(), offset,
                     ChunkReader::kNothingChanged);
    }
    rows += chunk->rows;
    chunks.push_back(*chunk);
    offset = end;
  }
  if (chunks.size() != header.chunks || rows != header.rows) {
    return damaged("{}: {} chunks with {} rows are there, and {} with {} were written; {}", file.path(),
                   chunks.size(), rows, header.chunks, header.rows, ChunkReader::kNothingChanged);
  }
  return chunks;
}

}  // namespace

uint64_t OpenedCheckpoint::row_bytes() const {
  uint64_t bytes = 0;
  for (const CheckpointChunkHeader& chunk : chunks) bytes += chunk.payload_bytes;
  return bytes;
}

Result<OpenedCheckpoint> open_checkpoint(const std::string& directory, const Manifest& manifest,
                                         size_t tables) {
  const std::string path = path_in(directory, manifest.checkpoint_file);
  if (!std::filesystem::exists(path)) {
    return damaged("the checkpoint {} is missing, which the manifest names; {}", path,
                   ChunkReader::kNothingChanged);
  }
  Result<File> file = File::open_in(directory, manifest.checkpoint_file);
  if (!file) return file.error();
  const Result<CheckpointHeader> header = read_header(*file, directory, manifest);
  if (!header) return header.error();
  Result<std::vector<CheckpointChunkHeader>> chunks = read_chunk_headers(*file, *header, tables);
  if (!chunks) return chunks.error();
  Result<std::vector<std::byte>> bounds = read_bounds(*file, *header);
  if (!bounds) return bounds.error();
  return OpenedCheckpoint{*std::move(file), *header, *std::move(chunks), *std::move(bounds)};
}

Result<void> ChunkReader::read(const CheckpointChunkHeader& chunk, uint64_t slot_end,
                               std::vector<std::byte>& payload, std::vector<Row*>& rows) const {
  const std::string& path = checkpoint_.file.path();
  payload.resize(chunk.payload_bytes);
  const uint64_t offset = chunk.offset + kCheckpointChunkHeaderBytes;
  const Result<size_t> read = checkpoint_.file.read_at(payload, offset);
  if (!read) return read.error();
  if (*read != payload.size() || crc32c(payload) != chunk.payload_checksum) {
    return damaged("{}: the {} bytes at offset {} fail their checksum; {}", path, payload.size(), offset,
                   advice_);
  }
  const TableDefinition& table = database_.catalog().table(TableId{chunk.table});
  const RowCodec codec(database_.schema().layout(table.id));
  ByteReader reader(payload);
  rows.clear();
  rows.reserve(chunk.rows);
  uint64_t slot = 0;
  for (uint32_t r = 0; r < chunk.rows; ++r, ++slot) {
    slot += static_cast<uint64_t>(reader.get_signed());
    Row* row = nullptr;
    switch (slot < slot_end ? put(table.id, slot, codec, reader, row) : Outcome::kNoRow) {
      case Outcome::kOk:
        rows.push_back(row);
        break;
      case Outcome::kNoRow:
        return damaged("{}: row {} of the chunk at offset {} is no row of table {}; {}", path, r,
                       chunk.offset, table.name, advice_);
      case Outcome::kTwice:
        return damaged("{}: the chunk at offset {} holds a row of table {} that is there twice; {}", path,
                       chunk.offset, table.name, advice_);
      case Outcome::kOutOfMemory:
        return failed("no memory is left to load {}; nothing on disk was changed: recover with more memory",
                      path);
    }
  }
  if (reader.remaining() > 0) {
    return damaged("{}: the chunk at offset {} has bytes after its last row; {}", path, chunk.offset,
                   advice_);
  }
  return {};
}

ChunkReader::Outcome ChunkReader::put(TableId table, uint64_t slot, const RowCodec& codec, ByteReader& reader,
                                      Row*& row) const {
  row = database_.table(table).rows().restore(slot);
  if (row == nullptr) return Outcome::kOutOfMemory;
  if (!row->try_change(RowWord(), RowWord::incoming())) return Outcome::kTwice;
  if (!codec.decode(reader, row->image(), ImageOwner::kRow)) return Outcome::kNoRow;
  row->set_word(RowWord::live(checkpoint_.header.lsn));
  return Outcome::kOk;
}

}  // namespace mneme
