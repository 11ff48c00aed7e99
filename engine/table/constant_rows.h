// ConstantRows: the rows of a table that no thread changes, found by the one integer of their key.
//
// For         replay, which reads some small tables that procedures never change row by row, in no order: an
//             item's price, say. An array of pointers takes the place of the index: fewer cache lines, and no
//             search.
// Rule        the index is unique over one NOT NULL integer column, and a quarter or more of the array's
//             places are taken. The rows stay as they are as long as this is used; its maker has proved it.
// Memory      8 bytes for each number between the lowest key and the highest.
// Threads     constant once made.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/schema/index_key.h"
#include "engine/table/indexed_table.h"

namespace mneme {

class ConstantRows {
 public:
  // Returns nothing if the index is none of these.
  static std::optional<ConstantRows> make(const IndexedTable& table, const TableIndex& index);

  const Table& table() const { return *table_; }
  // Returns nullptr if there is no row under this whole key of the index.
  template <typename Key>
  Row* find(const Key& key) const {
    const uint64_t place = (key.words[0] >> shift_) - lowest_;
    return place < rows_.size() ? rows_[place] : nullptr;
  }

 private:
  ConstantRows(const Table& table, uint32_t shift) : table_(&table), shift_(shift) {}

  const Table* table_;
  uint32_t shift_;  // what a key's word has below its number
  uint64_t lowest_ = 0;
  std::vector<Row*> rows_;
};

}  // namespace mneme
