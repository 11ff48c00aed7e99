// IndexedTable: a table's rows together with its indexes, and the keys under which a row stands in each.
//
// Entry keys  of the primary key, of an index that contains its columns, and of one that is not unique: the
//             KeyCodec's words, which name one row for ever. Of another unique index: the KeyCodec's words, then the words of the primary key's (without one: the slot
//             number). So an entry names one row for ever, and two rows that hold a unique key one after the
//             other (a deleted one that must stay until its deletion is durable, and its successor) don't get
//             in each other's way; uniqueness is a check of all entries under the key.
// Stale       an index other than the primary key's may hold entries whose row has meanwhile another key
//             there: a reader compares. They are removed once the change is durable (worker.h).
// Threads     constant after construction, but for what Table and Index allow.
#pragma once

#include <memory>
#include <vector>

#include "base/huge_pages.h"
#include "engine/index.h"
#include "engine/schema.h"
#include "engine/table.h"

namespace mneme {

struct TableIndex {
  IndexId id;
  std::unique_ptr<Index> index;
  const KeyCodec* codec;
  bool is_primary;
  bool is_unique;
  // Unique, but not because the primary key is, whose columns it doesn't contain: that no other row holds a key must be
  // checked when one is inserted.
  bool has_whole_key_suffix;
  std::vector<bool> depends_on;  // by column: the entry key changes with it
  ImageParts key_parts;          // of an image, in which its entry's key lies
};

class IndexedTable {
 public:
  IndexedTable(const Schema& schema, TableId id, HugePageSource& memory);

  const TableDefinition& definition() const { return definition_; }
  const RowLayout& layout() const { return layout_; }
  Table& rows() { return rows_; }
  const Table& rows() const { return rows_; }

  // The primary key's first.
  const std::vector<TableIndex>& indexes() const { return indexes_; }
  // nullptr without a primary key.
  const TableIndex* primary() const { return primary_; }
  bool is_indexed(ColumnId column) const { return indexed_columns_[column.value]; }
  ImageParts image_parts() const { return image_parts_; }

  // The key of `row`'s entry, were `image` its image.
  IndexKey entry_key(const TableIndex& index, const std::byte* image, const Row* row) const;
  // The entries that a range of the KeyCodec's keys spans.
  KeyRange entry_range(const TableIndex& index, const IndexKey& low, const IndexKey& high) const;

 private:
  const TableDefinition& definition_;
  const RowLayout& layout_;
  const ImageParts image_parts_;  // all there are
  Table rows_;
  std::vector<TableIndex> indexes_;
  const TableIndex* primary_ = nullptr;
  std::vector<bool> indexed_columns_;
  uint32_t suffix_words_ = 1;
};

}  // namespace mneme
