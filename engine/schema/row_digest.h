// Row digest: a hash of a row's values that doesn't depend on where and how the row is stored, and sums of
// such hashes.
//
// Definition  a row's digest is XXH3-128 of the table name and the canonical column values, in column order.
//             Canonical: a NULL byte (1: NULL), then the value, unless it is NULL: integers, booleans, dates,
//             times and timestamps in 8 bytes, numerics and intervals in 16, doubles and reals as a double in
//             8, strings, the table name too, as varint length and bytes. Padding, bytes under NULL and bytes
//             behind a string's end don't count. All NaNs are one value.
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
