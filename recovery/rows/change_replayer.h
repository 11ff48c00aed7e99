// ChangeReplayer: replays logged changes of rows, each in its place in commit order: finds the row and
// installs its new columns.
//
// Flow        a record's changes (engine/schema/change_codec.h) -> replay(), one at a time -> tables and
//             indexes
// Invariants  the caller has the row to itself or, for an update, the columns that it writes
//             (row_installer.h). An erased row's slot is free at once, as no other thread can have found it.
// Errors      an outcome; install_error() makes a sentence of it (row_links.h).
// Threads     one owner each; any number on one database.
#pragma once

#include <vector>

#include "engine/transaction/row_access.h"
#include "recovery/rows/change_keys.h"
#include "recovery/rows/row_installer.h"

namespace mneme {

class ChangeReplayer {
 public:
  explicit ChangeReplayer(Database& database);

  // `among`: of an update, the columns (ChangeCodec::rest) that are to be written; nullptr: all that were
  // changed.
  InstallOutcome replay(const RowChange& change, const ColumnBits* among = nullptr);
  // Sets `lookup` to what replay() will look up, for a caller that looks up several ahead; an insert looks
  // for its place. Returns false if it will look up nothing.
  bool name_lookup(const RowChange& change, RowLookup& lookup);
  // Whether replay() takes entries out of indexes: what was looked up before may not be there any more.
  bool takes_out_entries(const RowChange& change) const;

 private:
  // A row that equals an erased one in all columns, if there is one: of a table without a primary key.
  Row* find_equal(const RowChange& erased);

  Database& database_;
  // By table: the slot where the next search for an equal row begins, behind the last one that was found.
  // Rows are often erased in the order in which they lie.
  std::vector<uint64_t> next_slots_;
  std::vector<std::byte> image_;
  RowInstaller rows_;
  ChangeKeys keys_;
};

}  // namespace mneme
