// IndexedTable: a table's rows together with its indexes, and the keys under which a row stands in each.
//
// Entry keys  of the primary key, of an index that contains its columns, and of one that is not unique: the
//             KeyCodec's words, which name one row for ever. Of another unique index: the KeyCodec's words,
//             then the words of the primary key's (without one: the slot number). So an entry names one row
//             for ever, and two rows that hold a unique key one after the other (a deleted one that must stay
//             until its deletion is durable, and its successor) don't get in each other's way; uniqueness is
//             a check of all entries under the key.
// Stale       an index other than the primary key's may hold entries whose row has meanwhile another key
//             there: a reader compares. They are removed once the change is durable (worker.h).
// Threads     constant but for take() and exchange(), which need it alone, and what Table and Index allow.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/memory/huge_pages.h"
#include "engine/index/index.h"
#include "engine/schema/schema.h"
#include "engine/table/table.h"

namespace mneme {

struct TableIndex {
  const IndexDefinition* definition;
  IndexId id;
  std::unique_ptr<Index> index;
  const KeyCodec* codec;
  bool is_ordered;  // a B+tree
  bool is_primary;
  bool is_unique;
  // Unique, but not because the primary key is, whose columns it doesn't contain: that no other row holds a
  // key must be checked when one is inserted.
  bool has_whole_key_suffix;
  std::vector<bool> depends_on;  // by column: the entry key changes with it
  ImageParts key_parts;          // of an image, in which its entry's key lies
};

class IndexedTable {
 public:
  IndexedTable(const Schema& schema, TableId id, HugePageSource& memory);

  // The table's part of a schema. Another schema in which the table stays has columns of the same types; ids,
  // names and indexes may differ.
  struct Shape {
    Shape(const Schema& schema, TableId id);

    const TableDefinition* definition;
    const RowLayout* layout;
    std::vector<TableIndex> indexes;  // without entries, or an Index
    std::vector<bool> indexed_columns;
    uint32_t suffix_words = 1;
  };
  // Its shape in another schema. The indexes that it has not yet are made, empty; no other index of the shape
  // has an Index.
  Shape shape_in(const Schema& schema, TableId id, HugePageSource& memory) const;
  // Gives it the shape, in which the indexes that stay keep their entries. Cannot fail.
  void take(Shape&& shape);
  // Puts another in place of one of its indexes, and returns that. No thread uses the table.
  std::unique_ptr<Index> exchange(IndexId id, std::unique_ptr<Index> other);

  const TableDefinition& definition() const { return *shape_.definition; }
  const RowLayout& layout() const { return *shape_.layout; }
  Table& rows() { return rows_; }
  const Table& rows() const { return rows_; }

  // The primary key's first.
  const std::vector<TableIndex>& indexes() const { return shape_.indexes; }
  // nullptr without a primary key.
  const TableIndex* primary() const { return primary_; }
  bool is_indexed(ColumnId column) const { return shape_.indexed_columns[column.value]; }
  ImageParts image_parts() const { return image_parts_; }

  // The key of `row`'s entry, were `image` its image.
  IndexKey entry_key(const TableIndex& index, const std::byte* image, const Row* row) const;
  // The entries that a range of the KeyCodec's keys spans.
  KeyRange entry_range(const TableIndex& index, const IndexKey& low, const IndexKey& high) const;

 private:
  // Returns the index of this table that the shape of another schema has at place `at`, or nullptr if this
  // table lacks it.
  const TableIndex* find_same(const Shape& shape, size_t at) const;

  Shape shape_;
  const TableIndex* primary_ = nullptr;
  const ImageParts image_parts_;  // all there are
  Table rows_;
};

// How the tables of a database have changed.
struct TableChanges {
  struct Changed {
    TableId id;
    std::optional<TableId> former;  // what the table was; nothing: it is new
  };
  std::span<const std::unique_ptr<IndexedTable>> tables;
  std::span<const Changed> changed;  // by id; all others are what they were
  size_t indexes = 0;                // of all tables
  bool keeps_indexes = true;         // each index that there was has its number
};

}  // namespace mneme
