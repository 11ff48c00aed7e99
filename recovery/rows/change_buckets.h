// Change buckets: logged changes on their way to the threads that install them, gathered by table and key.
//
// Layout      a bucket is a list of chunks; in each lie changes, every one followed by the words of its key.
//             All changes of a bucket are of one table, so they are of one size. A change points into the log
//             for its columns.
// Memory      16 bytes and the key for a change: chunks grow from 256 bytes to 16 KiB, so that thousands of
//             small buckets cost little, and lie on huge pages, so that writing to all buckets in turn costs
//             no page walks.
// Threads     a bucket and a BucketMemory have one owner while changes are added; then they are constant, for
//             any thread.
// Source      PACMAN (SIGMOD 2017), section 4.5: shuffling write sets by table and key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/memory/huge_pages.h"
#include "engine/schema/change_codec.h"

namespace mneme {

struct alignas(uint64_t) ShuffledChange {
  static constexpr size_t kMaxColumnBytes = (size_t{1} << 30) - 1;

  const std::byte* columns;
  uint32_t record;  // its number among those that are replayed
  uint32_t column_bytes : 30;
  uint32_t action_bits : 2;

  ByteSpan bytes() const { return {columns, column_bytes}; }
  ChangeAction action() const { return static_cast<ChangeAction>(action_bits); }
  const uint64_t* key() const { return reinterpret_cast<const uint64_t*>(this + 1); }
};
static_assert(sizeof(ShuffledChange) == 16);
static_assert(kChangeActions <= 4);

// Gives out pieces of huge pages, all of which live as long as their source.
class BucketMemory {
 public:
  explicit BucketMemory(HugePageSource& source) : source_(source) {}

  // A multiple of 8 bytes, at most a huge page. nullptr: no memory.
  std::byte* take(size_t bytes);

 private:
  HugePageSource& source_;
  std::byte* at_ = nullptr;
  size_t left_ = 0;
};

class ChangeBucket {
 public:
  // False: no memory.
  bool add(const ShuffledChange& change, std::span<const uint64_t> key, BucketMemory& memory) {
    const size_t bytes = sizeof change + key.size_bytes();
    if (static_cast<size_t>(end_ - at_) < bytes && !next_chunk(memory, bytes)) return false;
    std::memcpy(at_, &change, sizeof change);
    std::ranges::copy(key, reinterpret_cast<uint64_t*>(at_ + sizeof change));
    at_ += bytes;
    ++count_;
    return true;
  }

  size_t count() const { return count_; }

  // Calls visit(const ShuffledChange*) for each, in the order in which they were added.
  template <typename Visit>
  void for_each(size_t key_words, Visit&& visit) const {
    const size_t bytes = sizeof(ShuffledChange) + 8 * key_words;
    for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next) {
      const std::byte* end = chunk == last_ ? at_ : chunk->filled_to;
      for (const std::byte* at = reinterpret_cast<const std::byte*>(chunk + 1); at < end; at += bytes)
        visit(reinterpret_cast<const ShuffledChange*>(at));
    }
  }

 private:
  static constexpr size_t kFirstChunkBytes = 256;
  static constexpr size_t kMaxChunkBytes = 16 * 1024;

  struct Chunk {
    Chunk* next = nullptr;
    const std::byte* filled_to = nullptr;  // but for the last chunk's
  };
  static_assert(kMaxChunkBytes >= sizeof(Chunk) + sizeof(ShuffledChange) + 8 * kMaxKeyWords);

  // One with room for so many bytes.
  bool next_chunk(BucketMemory& memory, size_t room);

  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  uint32_t count_ = 0;
  uint32_t chunk_bytes_ = 0;
};

}  // namespace mneme
