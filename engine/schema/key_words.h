// Key words: an index key's integers put straight into its words, without the bytes that they stand for
// (index_key.h).
#pragma once

#include <cstdint>

#include "engine/schema/index_key.h"
#include "engine/schema/type.h"

namespace mneme {

// Whether a column's value, of so many bytes in a key, stands there as a signed number: in a row as one of as
// many bytes, in the log as a signed varint.
inline bool is_integer_in_key(const Type& type, uint32_t bytes) {
  switch (type.kind) {
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
    case TypeKind::kTime:
    case TypeKind::kEnum:
    case TypeKind::kDate:
      return true;
    case TypeKind::kNumeric:
      return bytes == 8;
    default:
      return false;
  }
}

inline uint64_t flip_sign(int64_t v, uint32_t bytes) {
  return static_cast<uint64_t>(v) ^ (uint64_t{1} << (8 * bytes - 1));
}

// The `bytes` low bytes of `v`, its sign flipped, the most significant first, at byte `offset` of the key,
// which is still zero there. Of each row that is replayed, so it is no call.
[[gnu::always_inline]] inline void put_into_words(IndexKey& key, uint32_t offset, int64_t v, uint32_t bytes) {
  const uint64_t bits = flip_sign(v, bytes) & (~uint64_t{0} >> (64 - 8 * bytes));
  uint64_t* word = key.words.data() + offset / 8;
  const uint32_t end = offset % 8 + bytes;
  if (end <= 8) {
    word[0] |= bits << (8 * (8 - end));
  } else {
    word[0] |= bits >> (8 * (end - 8));
    word[1] |= bits << (8 * (16 - end));
  }
}

}  // namespace mneme
