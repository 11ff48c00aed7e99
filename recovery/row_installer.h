// RowInstaller: puts logged rows into tables and indexes, the last step of replaying tuple records in order.
//
// Invariants  changes of one row come from one installer, in commit order; other rows may be installed by other threads
//             at the same time, and indexes are shared by all. So no latch is taken, and no row's word is waited for.
//             That no other row holds a key of a unique index is not checked: the transaction that logged the row has
//             seen to it, and of two rows that had the key one after the other, the second may well come first here.
//             Rows end live at LSN 0, as a checkpoint has them. An erased row leaves its indexes at once; its slot is
//             used again after free_erased(), so that a row that was looked up before does not become another one.
// Errors      a row that is there and should not be, or the other way round, or bytes that are no row: damage.
// Threads     one owner each; any number on one database.
// Source      PACMAN (SIGMOD 2017), section 4.5: a tuple record as a write-only transaction.
#pragma once

#include <vector>

#include "engine/change_codec.h"
#include "engine/database.h"

namespace mneme {

class RowInstaller {
 public:
  explicit RowInstaller(Database& database);
  // Passes free slots on to others.
  ~RowInstaller();
  RowInstaller(const RowInstaller&) = delete;
  RowInstaller& operator=(const RowInstaller&) = delete;

  enum class Outcome : uint8_t {
    kInstalled,
    kNoRow,    // the bytes are no row of the table
    kMissing,  // to be updated or erased, and not there
    kExists,   // to be inserted, and there
    kOutOfMemory,
  };

  Outcome insert(TableId table, ByteSpan columns);
  // `row`: the live one under the key, or nullptr.
  Outcome update(TableId table, Row* row, ByteSpan columns);
  Outcome erase(TableId table, Row* row);

  // Nobody here holds a row any more that was erased.
  void free_erased();

 private:
  struct ErasedRow {
    TableId table;
    Row* row;
  };

  bool decode(TableId table, ByteSpan columns, std::byte* image) const;
  // Into the row's indexes, the primary key's first.
  Outcome link(IndexedTable& table, Row* row);
  // Exchanges the entries in which the images differ.
  Outcome relink(IndexedTable& table, Row* row, const std::byte* image);

  Database& database_;
  const ChangeCodec& codec_;
  std::vector<SlotCache> slots_;   // by table
  std::vector<InsertHint> hints_;  // by index
  std::vector<ErasedRow> erased_;
  std::vector<std::byte> image_;
};

}  // namespace mneme
