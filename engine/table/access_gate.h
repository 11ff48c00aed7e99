// AccessGate: stands between transactions and rows while something else has yet to happen to some of them, as
// it has while a log is still being replayed (recovery/demand/).
//
// Flow        Database::set_gate() -> each transaction that begins asks it before it touches rows ->
//             set_gate(nullptr): those that begin later do not
// Waiting     each call returns once the rows may be touched. Its thread may do what has to happen first.
// Errors      false: they never will be; the transaction gives up as after a conflict.
// Threads     any number of workers, each for its own transactions.
#pragma once

#include <span>

#include "engine/schema/catalog.h"
#include "engine/schema/image_parts.h"
#include "engine/schema/index_key.h"
#include "logging/commit/commit_log.h"

namespace mneme {

class AccessGate {
 public:
  virtual ~AccessGate() = default;

  // The rows with keys in the range are looked for.
  virtual bool before_read(WorkerId worker, IndexId index, const KeyRange& range) = 0;
  // A row with this image comes.
  virtual bool before_insert(WorkerId worker, TableId table, const std::byte* image) = 0;
  // These parts of a row change, which has been read; no column in an index does. `changes`: the columns;
  // none: a procedure changes the row, so what no procedure of the program writes stays.
  virtual bool before_change(WorkerId worker, TableId table, ImageParts parts,
                             std::span<const ColumnId> changes) = 0;
  // A row that has been read goes, or gets another key: any, from here on.
  virtual bool before_move(WorkerId worker, TableId table) = 0;
  virtual bool before_erase(WorkerId worker, TableId table) = 0;
};

}  // namespace mneme
