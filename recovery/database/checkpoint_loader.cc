#include "recovery/database/checkpoint_loader.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "recovery/database/checkpoint_chunks.h"

namespace mneme {
namespace {

class ParallelLoader {
 public:
  ParallelLoader(Database& database, const OpenedCheckpoint& checkpoint,
                 const std::function<bool()>& is_interrupted)
      : reader_(database, checkpoint, ChunkReader::kNothingChanged),
        chunks_(checkpoint.chunks),
        is_interrupted_(is_interrupted),
        row_bytes_(checkpoint.row_bytes()) {}

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
    std::vector<Row*> rows;
    while (!is_interrupted_ || !is_interrupted_()) {
      const size_t next = next_chunk_.fetch_add(1, std::memory_order_relaxed);
      if (next >= chunks_.size()) return;
      const Result<void> loaded = reader_.read(chunks_[next], ChunkReader::kAnySlot, payload, rows);
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

  const ChunkReader reader_;
  const std::vector<CheckpointChunkHeader>& chunks_;
  const std::function<bool()>& is_interrupted_;
  const uint64_t row_bytes_;  // in all chunks

  // Drawn from by all threads; relaxed, it hands out numbers and nothing else.
  std::atomic<size_t> next_chunk_{0};
  // Added to by all threads, read by the caller's; relaxed: numbers for people.
  std::atomic<uint64_t> bytes_done_{0};
  std::atomic<uint64_t> rows_done_{0};
  std::atomic<size_t> chunks_done_{0};

  std::mutex error_mutex_;
  std::optional<Error> error_;  // guarded by error_mutex_ while threads run
};

}  // namespace

Result<LoadedCheckpoint> load_checkpoint(Database& database, const std::string& directory,
                                         const Manifest& manifest, uint32_t threads,
                                         const std::function<void(uint64_t, uint64_t)>& progress,
                                         const std::function<bool()>& is_interrupted) {
  const Result<OpenedCheckpoint> opened =
      open_checkpoint(directory, manifest, database.schema().catalog().tables().size());
  if (!opened) return opened.error();
  ParallelLoader loader(database, *opened, is_interrupted);
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
