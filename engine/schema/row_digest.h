// Row digest: a number for what a row holds, which is the same wherever and however the row lies, and sums of
// such numbers.
//
// Definition  a row's digest is XXH3-128 of (table name, canonical column values). Canonical: in column order
//             a NULL byte, then, where it is not NULL, the value: integers, booleans, dates and timestamps in
//             8 bytes, numerics and intervals in 16, doubles and reals as a double in 8, strings as varint
//             length and bytes. So padding, bytes under NULL and stale tails don't count. NaN is one value.
//             The table name is a string, too.
// Invariants  digests add modulo 2^128. So a sum doesn't depend on the order of rows, and duplicate rows
//             count.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "engine/schema/catalog.h"
#include "engine/schema/row_layout.h"

namespace mneme {

struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const Digest&) const = default;
  Digest& operator+=(const Digest& other);
  // 32 hexadecimal digits.
  std::string to_string() const;
};

// `scratch` is memory to work in, which the caller keeps from row to row.
Digest digest_of_row(const TableDefinition& table, const RowLayout& layout, const std::byte* image,
                     ByteBuffer& scratch);

}  // namespace mneme
