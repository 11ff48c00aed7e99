// UnloadedCheckpoint: a checkpoint whose chunks are loaded as their rows are wanted (unloaded_base.h).
//
// Flow        open(): headers and bounds, a place for each table's slots -> load(), load_next(): a chunk is
//             read, checked and decoded, and its rows enter all indexes -> finish(): the other slots are free
// Finding     by index, chunks lie in the order of their lowest keys. From the last one that begins in or
//             before a range the search goes back, until no chunk before reaches up to the range. Where
//             chunks hold neighbours, that is a chunk or two; where their ranges overlap, all of them. Once a
//             table has no chunk left, no search is made.
// Slots       new rows get slots behind all those of the checkpoint: those between are known to be free only
//             when all chunks are loaded.
// Damage      headers and bounds are checked by open(), before anything is changed, and a chunk before any of
//             its rows is used. A chunk that proves damaged later ends all: no transaction is answered from
//             then on. Those that were had all that they read, and what led to it, from intact chunks. They
//             stand in the log behind its former end, so with the file put back nothing is lost.
// Memory      a chunk's bytes a thread, beside what the rows take; of each slot a bit.
// Threads     as UnloadedBase says. Whoever takes a chunk from kWaits to kLoads (acquire) loads it; its
//             kLoaded (release) shows its rows and their entries.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "recovery/database/checkpoint_chunks.h"
#include "recovery/demand/unloaded_base.h"

namespace mneme {

class UnloadedCheckpoint final : public UnloadedBase {
 public:
  // Opens the manifest's checkpoint for `database`, which is empty, has the checkpoint's catalog, and
  // outlives the object. Returns nullptr if the file does not say which keys its chunks have. Errors are
  // those of checkpoint_loader.h.
  static Result<std::unique_ptr<UnloadedCheckpoint>> open(Database& database, const std::string& directory,
                                                          const Manifest& manifest);

  uint64_t file_bytes() const { return checkpoint_.header.file_bytes; }
  uint64_t rows() const { return checkpoint_.header.rows; }

  bool load(IndexId index, const KeyRange& range) override;
  bool load_all(TableId table) override;
  bool load_next() override;
  bool finish() override;
  bool has_failed() const override { return has_failed_.load(std::memory_order_acquire); }
  Error error() const override;
  uint64_t chunk_count() const override { return chunks_.size(); }
  uint64_t loaded_count() const override { return loaded_.load(std::memory_order_relaxed); }
  uint64_t wanted_count() const override { return wanted_.load(std::memory_order_relaxed); }

 private:
  enum class State : uint8_t { kWaits, kLoads, kLoaded };
  struct Chunk {
    explicit Chunk(CheckpointChunkBounds of) : bounds(std::move(of)) {}

    CheckpointChunkBounds bounds;
    std::atomic<State> state{State::kWaits};
  };
  // Where an index's keys lie. Keys are `words` words each.
  struct KeyMap {
    size_t words = 0;
    std::vector<uint32_t> chunks;  // by their lowest keys
    std::vector<uint64_t> lowest;
    std::vector<uint64_t> highest;
    std::vector<uint64_t> reached;  // the highest key of the chunk and of all before it
  };
  struct TableChunks {
    std::vector<uint32_t> chunks;
    // Counted down by threads that have loaded one (release); at 0 (acquire) all rows are there.
    std::atomic<uint32_t> left{0};
    std::vector<KeyMap> maps;  // of its indexes, in their order
    uint64_t slot_end = 0;
    // A bit for each slot that has a row; relaxed, as what shows the last chunk orders it.
    std::unique_ptr<std::atomic<uint64_t>[]> used;
  };

  UnloadedCheckpoint(Database& database, OpenedCheckpoint checkpoint);
  Result<void> place();
  void map_keys(TableChunks& table, size_t index, size_t at, size_t words);
  bool load_wanted(uint32_t chunk);
  // Returns whether this thread has loaded it, or found it loaded.
  bool load_chunk(uint32_t chunk, bool is_wanted);
  Result<void> read(uint32_t number);
  Result<void> add_entries(const IndexedTable& table, uint32_t number, std::span<Row* const> rows) const;
  void fail(Error error);

  Database& database_;
  const OpenedCheckpoint checkpoint_;
  const ChunkReader reader_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<std::unique_ptr<TableChunks>> tables_;
  std::vector<size_t> place_of_;  // by IndexId: its place among its table's
  // Relaxed: it hands out numbers. The next two are for people.
  std::atomic<uint32_t> next_{0};
  std::atomic<uint64_t> loaded_{0};
  std::atomic<uint64_t> wanted_{0};
  // Set (release) before the thread that has failed goes on.
  std::atomic<bool> has_failed_{false};
  mutable std::mutex mutex_;  // guards error_
  std::optional<Error> error_;
};

}  // namespace mneme
