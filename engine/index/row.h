// Row: one header word and the image of a row's columns, in a table's slot.
//
//     offset 0  uint64  word: bit 63 locked, 62 live, 61 claimed, bits 0..60 the LSN of the last commit
//     offset 8  image   (row_layout.h), whole words
//
// States      free       all bits 0; linked in no index. Fresh memory is free rows.
//             claimed    one transaction alone may change the row, and the index entries that lead to it.
//                        Readers pass a claim; it is no version. Claimed and not live, LSN 0: a row that is
//                        being inserted.
//             locked     its transaction commits: readers wait, or give up.
//             live       LSN 0: from the checkpoint.
//             tombstone  not live, LSN > 0: deleted by that commit. Unlinked and freed once that is durable.
// Invariants  an image changes only under the lock. The word's version (live bit and LSN) changes with every
//             commit that writes the row. A row in an index always belongs to the same primary key.
// Orders      Reading: word (acquire), image words (acquire), word again: were one image word newer than the
//             first word, its acquire would make the writer's lock visible to the second read. So no fence is
//             needed. Writing: lock (compare-exchange, acquire), image words (release), word (release).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/spin.h"
#include "engine/schema/image_parts.h"
#include "logging/record/lsn.h"

namespace mneme {

class RowWord {
 public:
  constexpr RowWord() = default;
  constexpr explicit RowWord(uint64_t bits) : bits_(bits) {}

  static constexpr RowWord live(Lsn lsn) { return RowWord(kLive | lsn.value); }
  static constexpr RowWord tombstone(Lsn lsn) { return RowWord(lsn.value); }
  // A row that is being inserted.
  static constexpr RowWord incoming() { return RowWord(kClaimed); }

  constexpr uint64_t bits() const { return bits_; }
  constexpr bool is_locked() const { return (bits_ & kLocked) != 0; }
  constexpr bool is_live() const { return (bits_ & kLive) != 0; }
  constexpr bool is_claimed() const { return (bits_ & kClaimed) != 0; }
  constexpr bool is_free() const { return bits_ == 0; }
  constexpr Lsn lsn() const { return Lsn{bits_ & kLsnMask}; }

  constexpr RowWord locked() const { return RowWord(bits_ | kLocked); }
  constexpr RowWord claimed() const { return RowWord(bits_ | kClaimed); }
  constexpr RowWord unclaimed() const { return RowWord(bits_ & ~kClaimed); }
  // Returns the part of the word that two reads of an unchanged row have in common.
  constexpr RowWord version() const { return RowWord(bits_ & ~(kLocked | kClaimed)); }
  constexpr bool operator==(const RowWord&) const = default;

 private:
  static constexpr uint64_t kLocked = uint64_t{1} << 63;
  static constexpr uint64_t kLive = uint64_t{1} << 62;
  static constexpr uint64_t kClaimed = uint64_t{1} << 61;
  static constexpr uint64_t kLsnMask = kClaimed - 1;

  uint64_t bits_ = 0;
};

class Row {
 public:
  RowWord word() const { return RowWord(word_.load(std::memory_order_acquire)); }

  // Takes the claim or the lock of a row whose word is still `expected`. Acquire: what the last owner wrote
  // is seen.
  bool try_change(RowWord expected, RowWord desired) {
    uint64_t bits = expected.bits();
    return word_.compare_exchange_strong(bits, desired.bits(), std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  // By the owner of the lock or claim, which this gives up or keeps. Release: image and index entries come
  // before it.
  void set_word(RowWord word) { word_.store(word.bits(), std::memory_order_release); }

  // Copies `parts` of a consistent image to their places in `to` and returns the image's word, which may be
  // claimed; copies nothing of a row that is not live. The word is locked where the row stayed locked all the
  // while that we were willing to wait.
  RowWord read(std::byte* to, ImageParts parts, size_t image_words) const {
    for (uint32_t tries = 0;; ++tries) {
      const RowWord before = word();
      if (before.is_locked()) {
        if (tries == kMaxReadTries) return before;
        spin_pause(tries);
        continue;
      }
      if (!before.is_live()) return before;
      parts.for_each_run(image_words, [&](size_t begin, size_t end) { copy_words(to, begin, end); });
      const RowWord after = word();
      if (after.unclaimed() == before.unclaimed()) return before;
      if (tries == kMaxReadTries) return after.locked();
    }
  }
  // The same, whatever state the row is in: the parts may be half written, of a deleted row, or of another
  // one by now.
  void peek(std::byte* to, ImageParts parts, size_t image_words) const {
    parts.for_each_run(image_words, [&](size_t begin, size_t end) { copy_words(to, begin, end); });
  }
  // Under the lock.
  void write(const std::byte* from, ImageParts parts, size_t image_words) {
    parts.for_each_run(image_words, [&](size_t begin, size_t end) {
      for_each_word(begin, end, [&](size_t i) {
        uint64_t value;
        std::memcpy(&value, from + 8 * i, 8);
        image_word(i).store(value, std::memory_order_release);
      });
    });
  }

  // Direct access, for callers that have the row to themselves: loaders, replay, digests of a database at
  // rest.
  std::byte* image() { return reinterpret_cast<std::byte*>(this) + sizeof(Row); }
  const std::byte* image() const { return reinterpret_cast<const std::byte*>(this) + sizeof(Row); }

 private:
  // A commit holds a lock for about a microsecond; when its thread has lost the processor, better run
  // something else.
  static constexpr uint32_t kMaxReadTries = 300;

  void copy_words(std::byte* to, size_t begin, size_t end) const {
    for_each_word(begin, end, [&](size_t i) {
      const uint64_t value = image_word(i).load(std::memory_order_acquire);
      std::memcpy(to + 8 * i, &value, 8);
    });
  }
  // A part's words without a loop, which would cost more than they do: seven, as the first part has, and what
  // is left.
  template <typename Visit>
  static void for_each_word(size_t begin, size_t end, Visit&& visit) {
    constexpr size_t kAtOnce = ImageParts::kPartBytes / 8 - 1;
    if (end - begin >= kAtOnce) {
      [&]<size_t... kWord>(std::index_sequence<kWord...>) {
        (visit(begin + kWord), ...);
      }(std::make_index_sequence<kAtOnce>());
      begin += kAtOnce;
    }
    for (; begin < end; ++begin) visit(begin);
  }
  std::atomic_ref<uint64_t> image_word(size_t i) const {
    auto* words = reinterpret_cast<uint64_t*>(const_cast<Row*>(this)->image());
    return std::atomic_ref<uint64_t>(words[i]);
  }

  // Written by claimers and lockers (compare-exchange acquire, store release), read by all (acquire).
  std::atomic<uint64_t> word_{0};
};
static_assert(sizeof(Row) == ImageParts::kHeaderBytes);

}  // namespace mneme
