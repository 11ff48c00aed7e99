// RowInstaller: puts logged rows into tables and indexes in commit order, the last step of replaying tuple
// records.
//
// Updates     write the changed columns alone, in place: other columns of the row may be written by others
//             meanwhile, if none of those that change here is in a secondary index.
// Invariants  changes of one row come from one installer, in commit order; other rows may be installed by
//             other threads at the same time. So no latch is taken, and no row's word is waited for. Rows end
//             live at LSN 0, as a checkpoint has them. An erased row leaves its indexes at once; its slot is
//             used again after free_erased(), so that a row that was looked up before does not become another
//             one.
// Errors      a row that is there and should not be, or the other way round, or bytes that are no row:
//             damage.
// Threads     one owner each; any number on one database.
// Source      PACMAN (SIGMOD 2017), section 4.5: a tuple record as a write-only transaction.
#pragma once

#include <vector>

#include "engine/transaction/database.h"
#include "recovery/log/row_links.h"

namespace mneme {

class RowInstaller {
 public:
  explicit RowInstaller(Database& database);
  // Passes free slots on to others.
  ~RowInstaller();
  RowInstaller(const RowInstaller&) = delete;
  RowInstaller& operator=(const RowInstaller&) = delete;

  InstallOutcome insert(TableId table, ByteSpan columns);
  // `row`: the live one under the key, or nullptr. An update or a patch. `among`, where given: the columns
  // (ChangeCodec::rest) that are to be written, if changed.
  InstallOutcome update(TableId table, ChangeAction action, Row* row, ByteSpan columns,
                        const ColumnBits* among = nullptr);
  InstallOutcome erase(TableId table, Row* row);

  // Whether an update of these columns exchanges index entries.
  bool changes_an_index(TableId table, const ColumnBits& changed) const;

  // No replayer holds a row any more that was erased.
  void free_erased();

 private:
  struct ErasedRow {
    TableId table;
    Row* row;
  };

  Database& database_;
  const ChangeCodec& codec_;
  std::vector<std::vector<std::byte>>
      indexed_;  // by table: of ChangeCodec::rest, what secondary indexes hold
  RowLinks links_;
  std::vector<SlotCache> slots_;  // by table
  std::vector<ErasedRow> erased_;
  std::vector<std::byte> image_;
};

}  // namespace mneme
