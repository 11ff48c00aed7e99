// UnloadedRows: rows of a checkpoint that are not in their tables yet, while transactions and replay go on
// with others (recovery/demand/).
//
// Flow        Database::set_unloaded() -> a thread loads the rows of a range, and then looks for them
// Invariants  A row is in its table, and in all its indexes, when a load of a range that holds its key in one
//             of them has returned. Before that it may be in some of its indexes, so no thread uses a row
//             that it found otherwise. A thread that inserts a row, or changes its key, loads the row's
//             unique keys first: else it would not see that an unloaded row has one of them.
// Waiting     Each call returns once the rows are there. It waits for threads that load them already, which
//             wait for no other thread.
// Errors      False: the rows will never be there, and no thread may rely on what it reads from then on.
// Threads     any number.
#pragma once

#include "engine/schema/catalog.h"
#include "engine/schema/index_key.h"

namespace mneme {

class UnloadedRows {
 public:
  virtual ~UnloadedRows() = default;

  // Loads the rows whose keys in the index lie in the range.
  virtual bool load(IndexId index, const KeyRange& range) = 0;
  // Loads all rows of the table.
  virtual bool load_all(TableId table) = 0;
};

}  // namespace mneme
