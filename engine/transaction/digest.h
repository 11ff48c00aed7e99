// Digest: one number for a database's whole state, and the walk that holds every index against its table.
//
// Definition  the sum, over all live rows, of their digests (row_digest.h): the order of rows and the slots
//             they lie in don't count, but duplicate rows do.
// Threads     the database is at rest; `threads` of our own share the work.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/schema/row_digest.h"
#include "engine/transaction/database.h"

namespace mneme {

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
