// Checkpoint file: rows into chunks, chunks into a file, from several threads.
//
// Flow        create() -> a CheckpointRows for each thread: add() ..., flush() -> complete(): sync -> header
//             page -> sync, file and directory -> the caller makes it current in the manifest
// Invariants  until the manifest names the file, no recovery reads it: a crash in between leaves a file of no
//             consequence. One that was not completed is removed by the destructor.
// Threads     create, complete, the destructor: one. Chunks are written at offsets drawn from a counter by
//             any.
// Errors      the disk is full or fails: a sentence.
// Source      the format is checkpoint_format.h's.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file/directory.h"
#include "base/file/file.h"
#include "base/result.h"
#include "engine/checkpoint/checkpoint_format.h"
#include "engine/schema/row_codec.h"
#include "engine/transaction/database.h"

namespace mneme {

struct CheckpointIdentity {
  uint64_t database_id = 0;
  uint64_t catalog_hash = 0;
  Lsn lsn = kCheckpointLsn;
};

struct WrittenCheckpoint {
  std::string file;  // its name in the directory
  uint64_t bytes = 0;
  uint64_t rows = 0;
};

// Decides whether the file's pages stay in the system's cache once they are on the disk. Beside transactions
// they are dropped, so that the next chunk is copied to the same memory: on a virtual machine most of a
// checkpoint's processor time went into pages that had never been touched before. What a later recovery finds
// in the cache is worth less.
enum class CachedPages : uint8_t { kStay, kGo };

class CheckpointFile {
 public:
  static Result<std::unique_ptr<CheckpointFile>> create(const std::string& directory,
                                                        const CheckpointIdentity& identity,
                                                        CachedPages cached = CachedPages::kStay);
  ~CheckpointFile();
  CheckpointFile(const CheckpointFile&) = delete;
  CheckpointFile& operator=(const CheckpointFile&) = delete;

  Result<void> write_chunk(TableId table, uint32_t rows, ByteSpan payload, CheckpointChunkBounds bounds);
  // All rows have been added and flushed.
  Result<WrittenCheckpoint> complete();

 private:
  CheckpointFile(DirectoryChanges changes, std::string name, const CheckpointIdentity& identity,
                 CachedPages cached, File file)
      : directory_changes_(std::move(changes)),
        name_(std::move(name)),
        identity_(identity),
        cached_(cached),
        file_(std::move(file)) {}
  // Hints to the system, so what it answers is of no consequence.
  void write_back(uint64_t offset, uint64_t bytes) const;

  const DirectoryChanges directory_changes_;
  const std::string name_;
  const CheckpointIdentity identity_;
  const CachedPages cached_;
  const File file_;
  bool is_complete_ = false;

  std::mutex mutex_;
  std::map<uint64_t, CheckpointChunkBounds> bounds_;  // by the chunk's offset; guarded by mutex_

  // Counters that all threads draw from or add to. Relaxed: each stands alone, and the sums are read when all
  // are done.
  std::atomic<uint64_t> next_offset_{kCheckpointHeaderBytes};
  std::atomic<uint64_t> chunks_{0};
  std::atomic<uint64_t> rows_{0};
};

// The chunks that one thread fills, one a table.
class CheckpointRows {
 public:
  // `chunk_bytes`: a chunk is closed once its rows take so many.
  CheckpointRows(const Database& database, CheckpointFile& file, size_t chunk_bytes = kCheckpointChunkBytes);

  Result<void> add(TableId table, uint64_t slot, const std::byte* image);
  // Writes the chunks that are begun.
  Result<void> flush();

 private:
  struct Chunk {
    RowCodec codec;
    ByteBuffer payload;
    uint32_t rows = 0;
    uint64_t next_slot = 0;  // behind the row before
    CheckpointChunkBounds bounds;
  };

  void widen(CheckpointChunkBounds& bounds, const IndexedTable& table, uint64_t slot,
             const std::byte* image) const;
  Result<void> write(TableId table);

  const Database& database_;
  CheckpointFile& file_;
  const size_t chunk_bytes_;
  std::vector<Chunk> chunks_;  // by table
};

}  // namespace mneme
