// IndexKey: a row's key in an index, as words whose lexicographic order is the SQL order of the column
// values.
//
// Encoding    Each column becomes bytes whose memcmp order is its SQL order: integers big-endian with the
//             sign flipped; strings padded with zero bytes to their declared length, which is COLLATE "C", as
//             no string holds a zero byte; a nullable column is led by a byte, NULL last, as in PostgreSQL.
//             The bytes are then read as big-endian 64-bit words, so that comparing words compares bytes. An
//             index that is not unique has the primary key's columns appended (without one: the row's slot
//             number), so every key in a tree is unique and equal keys come in primary-key order.
// Invariants  all keys of an index have the same number of words. Of a key's array only so many mean
//             anything.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <span>

#include "base/check.h"

namespace mneme {

// Four columns of VARCHAR(255) and their NULL bytes fit.
inline constexpr size_t kMaxKeyWords = 130;
// What most keys have at most. Wider ones are not looked up ahead, and are put in one by one, without hints:
// so what these keep of keys stays small.
inline constexpr size_t kUsualKeyWords = 16;

struct IndexKey {
  uint32_t word_count = 0;
  std::array<uint64_t, kMaxKeyWords> words;

  IndexKey() = default;
  IndexKey(const IndexKey& other) { copy(other); }
  IndexKey& operator=(const IndexKey& other) {
    copy(other);
    return *this;
  }
  ~IndexKey() = default;

  std::span<const uint64_t> span() const { return {words.data(), word_count}; }
  bool operator==(const IndexKey& other) const { return std::ranges::equal(span(), other.span()); }
  std::strong_ordering operator<=>(const IndexKey& other) const {
    DCHECK(word_count == other.word_count);
    for (uint32_t i = 0; i < word_count; ++i) {
      if (words[i] != other.words[i]) return words[i] <=> other.words[i];
    }
    return std::strong_ordering::equal;
  }

 private:
  // Few words, mostly: these take no loop.
  void copy(const IndexKey& other) {
    constexpr size_t kFew = 4;
    word_count = other.word_count;
    for (size_t i = 0; i < kFew; ++i) words[i] = other.words[i];
    for (size_t i = kFew; i < word_count; ++i) words[i] = other.words[i];
  }
};

// All keys k of the index with low <= k <= high.
struct KeyRange {
  IndexKey low;
  IndexKey high;
};

}  // namespace mneme
