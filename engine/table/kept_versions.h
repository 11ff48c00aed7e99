// Kept versions: one worker's list of what rows were before it wrote over them, for a checkpoint to pick up.
//
// Flow        worker: append() -> (the row's word is released).  checkpointer: drain(), again and again.
// Invariants  versions come out in the order in which they were appended, each once. What was appended before
//             the worker released a row's word is seen by the drainer after it has read that word. Images lie
//             in chunks of some hundred KiB, which are used again once they have been drained: the list takes
//             no more memory than what waits to be drained.
// Threads     append: the worker. drain: one thread at a time. reset: while no thread does either.
// Waiting     none, but for the pool's mutex, once a chunk.
// Errors      no memory: append() returns false, and the version is lost; the checkpoint is then to be given
//             up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/function_ref.h"
#include "engine/schema/catalog.h"
#include "logging/record/lsn.h"

namespace mneme {

// A row as it was from `version` on, until `successor` was installed over it.
struct KeptVersion {
  TableId table;
  uint64_t slot = 0;
  Lsn version;
  Lsn successor;
  const std::byte* image = nullptr;
};

// A stretch of a list. The bytes lie behind the header.
class KeptChunk {
 public:
  explicit KeptChunk(size_t capacity) : capacity_(capacity), bytes_(new std::byte[capacity]) {}

 private:
  friend class KeptVersions;

  const size_t capacity_;
  const std::unique_ptr<std::byte[]> bytes_;
  // Raised by the worker (release: the bytes below come first), read by the drainer (acquire).
  std::atomic<size_t> filled_{0};
  // Set once by the worker, when nothing more comes into this chunk (release), read by the drainer (acquire).
  std::atomic<KeptChunk*> next_{nullptr};
};

// Chunks that no list uses. Any thread.
class KeptChunkPool {
 public:
  // `chunk_bytes`: of each.
  explicit KeptChunkPool(size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

  // nullptr: no memory.
  KeptChunk* take();
  void give_back(KeptChunk* chunk);

  size_t chunk_bytes() const { return chunk_bytes_; }
  // Return the memory of the chunks that lists use now, and the most since the last forget_peak().
  size_t bytes_in_use() const;
  size_t peak_bytes() const;
  void forget_peak();

 private:
  const size_t chunk_bytes_;
  mutable std::mutex mutex_;  // guards all below
  std::vector<std::unique_ptr<KeptChunk>> chunks_;
  std::vector<KeptChunk*> free_;
  size_t peak_in_use_ = 0;
};

class KeptVersions {
 public:
  explicit KeptVersions(KeptChunkPool& pool) : pool_(pool) {}

  // `kept.image` has `image_bytes`, whole words.
  bool append(const KeptVersion& kept, size_t image_bytes);
  // Calls visit for what was appended and has not been drained yet; the image is good until it returns.
  void drain(FunctionRef<void(const KeptVersion&)> visit);
  // Empties the list, and gives its memory back.
  void reset();

 private:
  struct Entry {
    uint32_t table;
    uint32_t image_bytes;
    uint64_t slot;
    Lsn version;
    Lsn successor;
  };

  KeptChunkPool& pool_;
  // The first chunk. Set by the worker when there is none (release: the chunk's content), read by the drainer
  // (acquire), which owns it from then on.
  std::atomic<KeptChunk*> first_{nullptr};
  KeptChunk* filling_ = nullptr;   // the worker's
  KeptChunk* draining_ = nullptr;  // the drainer's, like the next
  size_t drained_bytes_ = 0;       // of that chunk
};

}  // namespace mneme
