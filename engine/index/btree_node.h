// BtreeNode: one node of a BtreeIndex, as a view of a block of words.
//
// Layout      word 0 version, word 1 count and level, then `capacity` keys, then the rows (leaf, level 0) or
//             count + 1 children (inner). A child i holds the keys k with key[i-1] <= k < key[i].
// Version     as node_lock.h says; bit 1: obsolete (out of the tree).
// Orders      as node_lock.h says, of all words.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/memory/prefetch.h"
#include "engine/index/index.h"
#include "engine/index/node_lock.h"

namespace mneme {

inline constexpr uint32_t kMostKnownWords = 4;  // wider keys' words are not known at compile time
inline constexpr size_t kSmallNodeBytes = 1024;
inline constexpr size_t kUsualNodeBytes = 2 * kSmallNodeBytes;

// Small nodes keep the shifting of entries short; wide keys need larger ones for their fan-out.
constexpr size_t btree_node_bytes(uint32_t key_words) {
  if (key_words <= kMostKnownWords) return kSmallNodeBytes;
  return key_words <= kUsualKeyWords ? kUsualNodeBytes : 4 * kUsualNodeBytes;
}

// kWords: words of a key where known at compile time, 0 otherwise.
template <uint32_t kWords>
class BtreeNode : public NodeLock<4> {
 public:
  static constexpr uint64_t kObsolete = 2;

  // The sizes that all nodes of a tree share.
  struct Shape {
    uint32_t key_words;
    uint32_t leaf_capacity;
    uint32_t inner_capacity;

    uint32_t words() const { return kWords != 0 ? kWords : key_words; }
    static constexpr Shape of(uint32_t key_words, size_t node_words) {
      return {key_words, static_cast<uint32_t>((node_words - 2) / (key_words + 1)),
              static_cast<uint32_t>((node_words - 3) / (key_words + 1))};
    }
  };

  // Asks for a node's lines, or for the first ones of a large node.
  static void prefetch(const NodeWord* block, size_t node_words) {
    static_assert(kWords <= kMostKnownWords);
    if constexpr (kWords != 0)
      prefetch_first_lines<kSmallNodeBytes / kCacheLineBytes>(block);
    else
      prefetch_lines(block, std::min(8 * node_words, kUsualNodeBytes));
  }

  BtreeNode() = default;
  explicit BtreeNode(NodeWord* block) : NodeLock(block) {}
  bool operator==(const BtreeNode&) const = default;

  void unlock_obsolete(uint64_t version) const {
    block_[0].store((version + kChange) | kObsolete, std::memory_order_release);
  }
  // Makes a block from the pool an empty, locked node, and returns the version to unlock it with.
  uint64_t begin_life(uint32_t level) const {
    const uint64_t next = (version() & ~(kLocked | kObsolete)) + kChange;
    block_[0].store(next | kLocked, std::memory_order_release);
    set_meta(0, level);
    return next;
  }

  // --- contents; of a node that is neither locked nor valid any more they may be anything ---
  uint32_t count() const { return static_cast<uint32_t>(block_[1].load(std::memory_order_acquire)); }
  uint32_t level() const { return static_cast<uint32_t>(block_[1].load(std::memory_order_acquire) >> 32); }
  void set_meta(uint32_t count, uint32_t level) const {
    block_[1].store(uint64_t{level} << 32 | count, std::memory_order_release);
  }
  static uint32_t capacity(const Shape& shape, uint32_t level) {
    return level == 0 ? shape.leaf_capacity : shape.inner_capacity;
  }

  NodeWord* key(const Shape& shape, uint32_t i) const { return block_ + 2 + size_t{i} * shape.words(); }
  NodeWord& value(const Shape& shape, uint32_t level, uint32_t i) const {
    return block_[2 + size_t{capacity(shape, level)} * shape.words() + i];
  }
  Row* row(const Shape& shape, uint32_t i) const {
    return reinterpret_cast<Row*>(value(shape, 0, i).load(std::memory_order_acquire));
  }
  BtreeNode child(const Shape& shape, uint32_t level, uint32_t i) const {
    return BtreeNode(reinterpret_cast<NodeWord*>(value(shape, level, i).load(std::memory_order_acquire)));
  }
  void set_value(const Shape& shape, uint32_t level, uint32_t i, const void* to) const {
    value(shape, level, i).store(reinterpret_cast<uint64_t>(to), std::memory_order_release);
  }

  void load_key(const Shape& shape, uint32_t i, uint64_t* to) const {
    const NodeWord* from = key(shape, i);
    for (uint32_t w = 0; w < shape.words(); ++w) to[w] = from[w].load(std::memory_order_acquire);
  }
  void store_key(const Shape& shape, uint32_t i, const uint64_t* from) const {
    NodeWord* to = key(shape, i);
    for (uint32_t w = 0; w < shape.words(); ++w) to[w].store(from[w], std::memory_order_release);
  }
  // The sign of key i - other.
  int compare(const Shape& shape, uint32_t i, const uint64_t* other) const {
    return compare(key(shape, i), other, shape.words());
  }

  // How many of the first `count` keys are below `key`; with or_equal, not above it.
  uint32_t rank(const Shape& shape, uint32_t count, const uint64_t* key, bool or_equal) const {
    return or_equal ? rank<true>(shape, count, key) : rank<false>(shape, count, key);
  }

  // Under the lock; `source` may be this node. Relaxed loads: the lock's owner reads what it, or an owner
  // before, wrote.
  void copy_entry(const Shape& shape, uint32_t to, const BtreeNode& source, uint32_t from) const {
    for (uint32_t w = 0; w < shape.words(); ++w) {
      key(shape, to)[w].store(source.key(shape, from)[w].load(std::memory_order_relaxed),
                              std::memory_order_release);
    }
  }
  void copy_value(const Shape& shape, uint32_t level, uint32_t to, const BtreeNode& source,
                  uint32_t from) const {
    value(shape, level, to)
        .store(source.value(shape, level, from).load(std::memory_order_relaxed), std::memory_order_release);
  }

  void prefetch() const { prefetch_lines(block_, 2 * kCacheLineBytes); }

 private:
  // What is looked for is copied first: behind the node's words, which are loaded in order, the compiler
  // would load it again for each comparison.
  template <bool kOrEqual>
  uint32_t rank(const Shape& shape, uint32_t count, const uint64_t* other) const {
    const auto is_below = [](auto mine, auto limit) { return kOrEqual ? mine <= limit : mine < limit; };
    const NodeWord* const keys = key(shape, 0);
    if constexpr (kWords == 2) {
      const auto number = [](uint64_t high, uint64_t low) {
        return static_cast<unsigned __int128>(high) << 64 | low;
      };
      const auto limit = number(other[0], other[1]);
      return search(shape, keys, count, [&](const NodeWord* words) {
        return is_below(number(load(words), load(words + 1)), limit);
      });
    } else if constexpr (kWords != 0) {
      std::array<uint64_t, kWords> limit;
      std::copy_n(other, kWords, limit.begin());
      return search(shape, keys, count, [&](const NodeWord* words) {
        // From the last word on: no branch depends on which of them decides.
        uint32_t below{is_below(load(words + kWords - 1), limit[kWords - 1])};
        for (uint32_t w = kWords - 1; w-- > 0;) {
          const uint64_t word = load(words + w);
          below = uint32_t{word < limit[w]} | (uint32_t{word == limit[w]} & below);
        }
        return below != 0;
      });
    } else {
      return search(shape, keys, count,
                    [&](const NodeWord* words) { return is_below(compare(words, other, shape.words()), 0); });
    }
  }

  // The processor can predict neither which way a search goes nor how full a node is: so it takes as many
  // steps each time, and steps without branches.
  template <typename IsBelow>
  static uint32_t search(const Shape& shape, const NodeWord* keys, uint32_t count, IsBelow&& is_below) {
    if (count == 0) return 0;
    const auto step = [&](uint32_t low, uint32_t half) {
      const uint32_t at = low + half;
      const bool goes_up = is_below(keys + size_t{std::min(at, count) - 1} * shape.words());
      // No conditional expression: the compiler would make a branch of it.
      return low + (half & -(uint32_t{at <= count} & uint32_t{goes_up}));
    };
    uint32_t low = 0;
    if constexpr (kWords != 0) {
      constexpr uint32_t kMost = std::bit_floor(Shape::of(kWords, kSmallNodeBytes / 8).leaf_capacity);
#pragma GCC unroll 8
      for (uint32_t half = kMost; half > 0; half /= 2) low = step(low, half);
    } else {
      for (uint32_t half = std::bit_floor(shape.leaf_capacity); half > 0; half /= 2) low = step(low, half);
    }
    return low;
  }

  static uint64_t load(const NodeWord* word) { return word->load(std::memory_order_acquire); }
  static int compare(const NodeWord* mine, const uint64_t* other, uint32_t words) {
    for (uint32_t w = 0; w < words; ++w) {
      const uint64_t word = load(mine + w);
      if (word != other[w]) return word < other[w] ? -1 : 1;
    }
    return 0;
  }
};

}  // namespace mneme
