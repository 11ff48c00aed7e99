// Table: the rows of one table, in slots of fixed size.
//
// Layout      chunks of 2 MiB (a power of two more, for very wide rows), aligned to their size, so that a
//             row's address gives its chunk, whose first cache line holds the number of its first slot. Slot
//             s is row s % slots of chunk s / slots.
//             The first is on small pages as long as it is rather empty (huge_pages.h).
// NUMA        a run of slots that a thread takes lies in a chunk of the node that it runs on.
// Invariants  slot numbers and row addresses never change; memory of a row stays a row of this table for
//             ever. Where a log names rows by their slots, recovery gives them the same ones: restore(). Each
//             slot's text cells own what they point to (long_text.h), be it used or not: a slot gives its
//             texts back when it is freed, or when another row is written into it.
// Threads     allocate, free: any thread, each with a SlotCache of its own. A cache takes runs of 64 slots,
//             which begin and end on cache lines, so threads that insert share none. at, slot_of, restore:
//             any.
// Waiting     once in a chunk and node, for the mutex that guards adding one.
// Errors      no memory: allocate() gives nullptr.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "base/memory/huge_pages.h"
#include "engine/index/row.h"

namespace mneme {

// Free slots of one table that one thread keeps at hand.
struct SlotCache {
  uint64_t next = 0;  // of the run taken last, whose slots were never used
  uint64_t end = 0;
  std::byte* next_row = nullptr;  // where slot `next` is
  std::vector<Row*> freed;
};

class Table {
 public:
  // `text_cells`: where they lie in an image.
  Table(size_t image_bytes, HugePageSource& memory, std::vector<uint32_t> text_cells = {});
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  size_t image_bytes() const { return image_bytes_; }
  size_t image_words() const { return image_bytes_ / 8; }
  // Returns the bytes that a row takes, its header and gap included.
  size_t slot_bytes() const { return stride_; }

  // Returns a row that no other thread has; its word is RowWord::incoming().
  Row* allocate(SlotCache& cache) {
    if (cache.freed.empty() && cache.next < cache.end) [[likely]]
      return take_next(cache);
    return allocate_again(cache);
  }
  // `row` is free by its word (whose last owner made it so), in no index, and no running transaction can hold
  // it.
  void free(SlotCache& cache, Row* row) {
    if (!text_cells_.empty()) [[unlikely]]
      release_texts(row);
    cache.freed.push_back(row);
  }
  // Passes what is left in a cache on to others, when its thread is done.
  void give_back(SlotCache& cache);

  // The row at a slot that the caller knows of from elsewhere, in an empty table, before anything is
  // allocated: its chunk is made where there is none. nullptr: no memory, or a number that no slot has.
  Row* restore(uint64_t slot);
  // Every slot that was restored is below this, and every one below this, of chunks that there are, is to be
  // looked at. To be asked once all have restored theirs.
  uint64_t restored_end() const { return restored_end_.load(std::memory_order_relaxed); }
  // Restoring is over: `free` are those below restored_end() that hold no row.
  void end_restoring(std::span<Row* const> free);

  // Every slot ever used is below this.
  uint64_t slot_end() const;
  // nullptr for a slot whose chunk does not exist.
  Row* at(uint64_t slot) const;
  uint64_t slot_of(const Row* row) const;
  // Returns the memory of all chunks.
  size_t memory_bytes() const;

  // Calls visit(row) for every live row with its slot in [begin, end). The table is at rest.
  template <typename Visit>
  void for_each_live(uint64_t begin, uint64_t end, Visit&& visit) const {
    for (uint64_t slot = begin; slot < end; ++slot) {
      Row* row = at(slot);
      if (row != nullptr && row->word().is_live()) visit(row);
    }
  }

 private:
  static constexpr uint64_t kRunSlots = 64;
  // restored_end() goes up by so many: seldom, as all that restore read it.
  static constexpr uint64_t kRestoredSlots = 16 * kRunSlots;
  static constexpr size_t kChunkHeaderBytes = kCacheLineBytes;
  // Chunks are found through two levels, so that an empty table costs 2 KiB and a full one holds 128 GiB.
  static constexpr size_t kGroups = 256;
  static constexpr size_t kChunksInGroup = 256;

  struct ChunkHeader {
    uint64_t first_slot;
  };
  struct Group {
    std::array<std::atomic<std::byte*>, kChunksInGroup> chunks{};
  };

  // One of the run at hand, which is not at its end.
  Row* take_next(SlotCache& cache) const {
    auto* row = reinterpret_cast<Row*>(cache.next_row);
    cache.next_row += stride_;  // a run lies in one chunk
    ++cache.next;
    row->set_word(RowWord::incoming());
    return row;
  }
  // A freed one, or the first of a new run.
  Row* allocate_again(SlotCache& cache);
  bool take_shared(SlotCache& cache);
  bool take_run(SlotCache& cache);
  std::byte* chunk(uint64_t index) const;
  bool add_chunk(uint32_t node);
  bool make_chunk(uint64_t index, uint32_t node);
  void raise_restored_end(uint64_t slot);
  void release_texts(Row* row) const;
  void use_up_to(uint64_t slot);

  const size_t image_bytes_;
  const std::vector<uint32_t> text_cells_;
  const size_t stride_;
  const size_t chunk_bytes_;
  const uint64_t slots_in_chunk_;
  HugePageSource& memory_;

  // By node: the next run of the chunk that its threads fill; none is left where that is a chunk's first
  // slot. Advanced by the thread that takes a run (release, so that slot_end() orders a walk after it;
  // acquire: the chunk is there), and set to the first run of a new chunk under mutex_ (release: the chunk
  // comes before). Slots are never used again as runs, so a value comes once.
  const std::unique_ptr<CachePadded<std::atomic<uint64_t>>[]> next_run_;
  // Freed slots that no thread keeps. The count lets allocate() look without the mutex; stale is harmless,
  // the slots are only found later.
  alignas(kCacheLineBytes) std::atomic<size_t> shared_count_{0};

  alignas(kCacheLineBytes) std::mutex mutex_;
  std::vector<Row*> shared_;  // guarded by mutex_
  // Above the numbers of all chunks; of restored ones some may be missing. Raised under mutex_ (relaxed: the
  // chunks themselves are found through groups_); others read a number.
  std::atomic<uint64_t> chunk_count_{0};
  // The first chunk, while little of it is in use. The thread that uses more of it takes it out by an
  // exchange. All accesses are relaxed: they pass on an address, and no memory behind it.
  std::atomic<std::byte*> small_chunk_{nullptr};
  // A multiple of kRunSlots. Raised by the thread that restores a slot beyond it (relaxed: what ends their
  // threads orders the rest).
  alignas(kCacheLineBytes) std::atomic<uint64_t> restored_end_{0};
  // Set under mutex_ (release: the chunk's header comes before), read by all (acquire).
  std::array<std::atomic<Group*>, kGroups> groups_{};
};

}  // namespace mneme
