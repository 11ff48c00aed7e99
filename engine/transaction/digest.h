// Digest: one number for a database's whole state, and the walk that holds every index against its table.
//
// Definition  the sum modulo 2^128, over all live rows, of XXH3-128 of (table name, canonical column values).
//             A sum, so that the order of rows and the slots they lie in don't count, but duplicate rows do.
//             Canonical: in column order a NULL byte, then the value: integers in 8 bytes, numeric in 16,
//             strings as length and bytes; so padding, bytes under NULL and stale tails don't count either.
//             NaN is one value.
// Threads     the database is at rest; `threads` of our own share the work.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "engine/transaction/database.h"

namespace mneme {

struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const Digest&) const = default;
  Digest& operator+=(const Digest& other);
  // 32 hexadecimal digits.
  std::string to_string() const;
};

Digest digest_of_row(const TableDefinition& table, const RowLayout& layout, const std::byte* image);
Digest digest_of(const Database& database, uint32_t threads);

struct IndexReport {
  uint64_t rows = 0;     // live, over all tables
  uint64_t entries = 0;  // that lead to them
  // That wait to be unlinked, with the rows they lead to: deleted ones, or ones that have another key now.
  uint64_t waiting = 0;
};
// Walks every index against its table and every table against its indexes. An Error names index and row.
Result<IndexReport> verify_indexes(const Database& database);

}  // namespace mneme
