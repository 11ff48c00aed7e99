// HashBucket: a block of a HashIndex's bucket, as a view of words. A bucket is a head and a chain of such
// blocks.
//
// Layout      word 0 version (of a head), word 1 link, then `capacity` keys, then as many rows. link: bits
//             0..5 entries in this block, 6..55 the next block's address (a multiple of 64), 56..63 depth (of
//             a head): the bucket holds the keys whose hash agrees with its number in so many low bits.
// Version     as node_lock.h says, counting the changes of the whole bucket.
// Orders      as node_lock.h says, of all words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "engine/index/index.h"
#include "engine/index/node_lock.h"

namespace mneme {

// kWords: words of a key where known at compile time, 0 otherwise.
template <uint32_t kWords>
class HashBucket : public NodeLock<2> {
 public:
  class Shape {
   public:
    constexpr explicit Shape(uint32_t key_words)
        : key_words_(key_words),
          // Three entries at least: with two to a bucket on average, few have an overflow block.
          block_bytes_(std::bit_ceil(std::max<size_t>(64, 8 * (2 + 3 * (size_t{key_words} + 1))))),
          capacity_(static_cast<uint32_t>((block_bytes_ / 8 - 2) / (key_words + 1))) {}

    constexpr uint32_t key_words() const { return known(key_words_, &Shape::key_words_); }
    constexpr uint32_t capacity() const { return known(capacity_, &Shape::capacity_); }
    // a power of two
    constexpr size_t block_bytes() const { return known(block_bytes_, &Shape::block_bytes_); }

   private:
    template <typename Number>
    static constexpr Number known(Number told, Number Shape::*member) {
      if constexpr (kWords == 0) {
        return told;
      } else {
        constexpr Shape kShape(kWords);  // not computed where it is asked for, inlined or not
        return kShape.*member;
      }
    }

    uint32_t key_words_;
    size_t block_bytes_;
    uint32_t capacity_;
  };

  explicit HashBucket(NodeWord* block) : NodeLock(block) {}
  bool operator==(const HashBucket&) const = default;

  // --- of a head, as is the version ---
  uint64_t lock() const {
    for (;;) {
      const uint64_t v = unlocked_version();
      if (try_lock(v)) return v;
    }
  }
  uint32_t depth() const { return static_cast<uint32_t>(link() >> 56); }

  // --- of any block ---
  uint32_t count() const { return static_cast<uint32_t>(link() & kCountMask); }
  HashBucket next() const { return HashBucket(reinterpret_cast<NodeWord*>(link() & kAddressMask)); }
  void set_link(uint32_t count, HashBucket next, uint32_t depth) const {
    const auto address = reinterpret_cast<uint64_t>(next.block_);
    CHECK((address & ~kAddressMask) == 0);
    block_[1].store(uint64_t{depth} << 56 | address | count, std::memory_order_release);
  }
  void set_count(uint32_t count) const { set_link(count, next(), depth()); }
  void set_next(HashBucket next) const { set_link(count(), next, depth()); }

  void load_key(const Shape& shape, uint32_t i, uint64_t* to) const {
    for (uint32_t w = 0; w < shape.key_words(); ++w) to[w] = key(shape, i)[w].load(std::memory_order_acquire);
  }
  // The first of the first `count` entries whose key is `other`, or `count`. It compares all that a block may
  // have, where these are few, since the processor can't predict which it is.
  uint32_t place_of(const Shape& shape, uint32_t count, const uint64_t* other, uint32_t words) const {
    if constexpr (kWords != 0) {
      constexpr uint32_t kCapacity = Shape(kWords).capacity();
      // Places behind the last entry, which may hold what they once had, do not count.
      uint32_t matches = uint32_t{1} << count;
#pragma GCC unroll 8
      for (uint32_t i = 0; i < kCapacity; ++i) {
        uint64_t difference = 0;
        for (uint32_t w = 0; w < kWords; ++w)
          difference |= key(shape, i)[w].load(std::memory_order_acquire) ^ other[w];
        matches |= uint32_t{difference == 0} << i;
      }
      return static_cast<uint32_t>(std::countr_zero(matches));
    } else {
      uint32_t i = 0;
      while (i < count && !key_is(shape, i, other, words)) ++i;
      return i;
    }
  }
  // Whether the first `words` words of key i are those of `other`.
  bool key_is(const Shape& shape, uint32_t i, const uint64_t* other, uint32_t words) const {
    for (uint32_t w = 0; w < words; ++w) {
      if (key(shape, i)[w].load(std::memory_order_acquire) != other[w]) return false;
    }
    return true;
  }
  Row* row(const Shape& shape, uint32_t i) const {
    return reinterpret_cast<Row*>(row_word(shape, i).load(std::memory_order_acquire));
  }
  void set_row(const Shape& shape, uint32_t i, const Row* to) const {
    row_word(shape, i).store(reinterpret_cast<uint64_t>(to), std::memory_order_release);
  }
  void set_entry(const Shape& shape, uint32_t i, const uint64_t* from, const Row* to) const {
    for (uint32_t w = 0; w < shape.key_words(); ++w)
      key(shape, i)[w].store(from[w], std::memory_order_release);
    set_row(shape, i, to);
  }

 private:
  static constexpr uint64_t kCountMask = 63;
  static constexpr uint64_t kAddressMask = ((uint64_t{1} << 56) - 1) & ~kCountMask;

  uint64_t link() const { return block_[1].load(std::memory_order_acquire); }
  NodeWord* key(const Shape& shape, uint32_t i) const { return block_ + 2 + size_t{i} * shape.key_words(); }
  NodeWord& row_word(const Shape& shape, uint32_t i) const {
    return block_[2 + size_t{shape.capacity()} * shape.key_words() + i];
  }
};

}  // namespace mneme
