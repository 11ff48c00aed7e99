// IndexKey: a row's key in an index, as words whose lexicographic order is the SQL order of the column
// values.
//
// Encoding    Each column becomes bytes whose memcmp order is its SQL order: integers big-endian with the
//             sign flipped; strings padded with zero bytes to their declared length, which is COLLATE "C", as
//             no string holds a zero byte; a nullable column is led by a byte, NULL last, as in PostgreSQL.
//             The bytes are then read as big-endian 64-bit words, so that comparing words compares bytes. An
//             index that is not unique has the primary key's columns appended (without one: the row's slot
//             number), so every key in a tree is unique and equal keys come in primary-key order.
// Invariants  all keys of an index have the same number of words.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <span>

#include "base/check.h"

namespace mneme {

inline constexpr size_t kMaxKeyWords = 16;

struct IndexKey {
  std::array<uint64_t, kMaxKeyWords> words;
  uint32_t word_count = 0;

  std::span<const uint64_t> span() const { return {words.data(), word_count}; }
  bool operator==(const IndexKey& other) const { return std::ranges::equal(span(), other.span()); }
  std::strong_ordering operator<=>(const IndexKey& other) const {
    DCHECK(word_count == other.word_count);
    for (uint32_t i = 0; i < word_count; ++i) {
      if (words[i] != other.words[i]) return words[i] <=> other.words[i];
    }
    return std::strong_ordering::equal;
  }
};

// All keys k of the index with low <= k <= high.
struct KeyRange {
  IndexKey low;
  IndexKey high;
};

}  // namespace mneme
