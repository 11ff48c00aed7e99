// Index builder: builds all indexes at once, of tables whose rows have been put into their slots, and finds
// the free slots.
//
// Flow        threads take stretches of slots: live rows, an index at a time, in the index's order ->
//             entries; the other slots -> Table::end_restoring()
// Invariants  rows are what they will be; afterwards every live row stands in all its indexes, and every
//             other slot is free, tombstones included: a database as transactions expect it.
// Memory      a stretch's entries go into an index together (index_filler.h).
// Threads     `threads` of its own; no other thread uses the database, or the table.
// Errors      two rows under one primary key, which no log of committed transactions leaves: kDamaged. No
//             memory: kFailed.
// Source      PACMAN (SIGMOD 2017), section 6.2: PLR restores tables first, and rebuilds all indexes in
//             parallel then. We do so for every scheme's checkpoint: it takes half the time of inserting row
//             by row.
#pragma once

#include <functional>

#include "base/result.h"
#include "engine/transaction/database.h"

namespace mneme {

// The caller's thread calls `progress` with how many of how many stretches are done; first with 0. Returns
// whether all indexes are built. It is false if `is_interrupted`, which any thread asks between stretches,
// returned true.
Result<bool> build_indexes(Database& database, uint32_t threads,
                           const std::function<void(uint64_t, uint64_t)>& progress = {},
                           const std::function<bool()>& is_interrupted = {});

// Fills one index, which is empty, of a table that transactions run on otherwise: its rows stand in its other
// indexes already. Fails with kFailed where there is no memory.
Result<void> build_index(const IndexedTable& table, const TableIndex& index, uint32_t threads);

}  // namespace mneme
