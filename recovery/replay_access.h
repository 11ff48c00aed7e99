// ReplayAccess: rows as replay changes them: in place, without locks, validation or log.
//
// Invariants  a row that one access reads or writes is written by no other at that time: the scheduler has seen to it.
//             Indexes are shared by all lanes and take care of themselves; an erased row leaves them at once, and its
//             slot is free at once, as nobody else can have found it.
//             RowRef::image is the row itself: it shows every later change of the row, by this access or, of columns
//             that nobody here may depend on, by others.
// Uniqueness  only the primary key's is looked at. Of a unique index, replay may see the successor of an erased row in
//             another lane before the row itself is erased: the entries differ in their primary keys. That no key is
//             held twice in the end was settled before the log was written.
// Threads     one owner each; any number on one database.
#pragma once

#include <vector>

#include "base/arena.h"
#include "engine/database.h"
#include "engine/row_access.h"

namespace mneme {

class ReplayAccess final : public RowAccess {
 public:
  explicit ReplayAccess(Database& database);
  ~ReplayAccess() override;
  ReplayAccess(const ReplayAccess&) = delete;
  ReplayAccess& operator=(const ReplayAccess&) = delete;

  AccessStatus find(IndexId index, const IndexKey& key, RowRef& row) override;
  AccessStatus scan(IndexId index, const KeyRange& range, Direction direction,
                    FunctionRef<bool(const RowRef&)> visit) override;
  AccessStatus insert(TableId table, std::span<const Value> values) override;
  AccessStatus update(TableId table, RowRef& row, std::span<const ColumnValue> changes) override;
  AccessStatus erase(TableId table, RowRef& row) override;

 private:
  struct OpenTable {
    IndexedTable* table;
    SlotCache slots;
  };
  struct OpenIndex {
    const IndexedTable* table;
    const TableIndex* index;
  };

  AccessStatus link(const IndexedTable& table, const TableIndex& index, const IndexKey& key, Row* row);
  Value out_of_image(const IndexedTable& table, const std::byte* image, const ColumnValue& change);

  std::vector<OpenTable> tables_;   // by TableId
  std::vector<OpenIndex> indexes_;  // by IndexId
  Arena scratch_;                   // of one update
  std::vector<ColumnValue> changes_;
  std::vector<IndexKey> old_keys_;
};

}  // namespace mneme
