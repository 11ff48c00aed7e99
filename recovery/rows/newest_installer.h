// NewestInstaller: puts logged rows into tables and indexes in any order: of a row's images the newest stays.
//
// Flow        install() changes in any order -> all have been installed, by all threads -> sweep()
// Invariants  a row's word carries the LSN of the image that it holds, and an older one is passed over (last
//             writer wins, Thomas's write rule). A row that was erased stays as a tombstone with its LSN, in
//             the primary key's index alone, so that an older image does not bring it back; one that is
//             erased before it is inserted is made as a tombstone. sweep() takes tombstones out. The latch is
//             the lock bit of the row's word; index entries change under it. Rows end live at the LSN of
//             their last change, as transactions leave them.
// Threads     one owner each; any number on one database.
// Waiting     for a latch, which is held for one change.
// Errors      bytes that are no row, and patches: what they leave out would be lost with the older images.
//             What is missing or there already cannot be told from what comes later.
// Source      Zheng et al., "Fast Databases with Fast Durability and Recovery Through Multicore Parallelism"
//             (SiloR, OSDI'14), section 5; PACMAN (SIGMOD 2017), section 6.2 (LLR) and appendix A.2 (reverse
//             order).
#pragma once

#include <vector>

#include "engine/transaction/database.h"
#include "recovery/log/row_links.h"

namespace mneme {

class NewestInstaller {
 public:
  explicit NewestInstaller(Database& database);
  // Passes free slots on to others.
  ~NewestInstaller();
  NewestInstaller(const NewestInstaller&) = delete;
  NewestInstaller& operator=(const NewestInstaller&) = delete;

  // Each change of a table without a primary key is an insert.
  InstallOutcome install(TableId table, ChangeAction action, Lsn lsn, ByteSpan columns, Row* row);
  // Takes out the rows that this installer erased last. No thread installs any more, but others may sweep.
  void sweep();

 private:
  struct Tombstone {
    TableId table;
    Row* row;
    Lsn lsn;
  };

  InstallOutcome add(TableId table, ChangeAction action, Lsn lsn, ByteSpan columns);
  InstallOutcome overwrite(TableId table, ChangeAction action, Lsn lsn, ByteSpan columns, Row* row);
  // Under the latch: a row that was live, or a tombstone, gets this image.
  InstallOutcome replace(TableId table, ChangeAction action, ByteSpan columns, Row* row, bool was_live);
  static RowWord latch(Row* row);

  Database& database_;
  const ChangeCodec& codec_;
  RowLinks links_;
  std::vector<SlotCache> slots_;  // by table
  std::vector<Tombstone> tombstones_;
  std::vector<std::byte> image_;
};

}  // namespace mneme
