// IndexFiller: adds index entries for many rows of a table at once.
//
// Flow        rows that lie in their slots, with their images -> add(), an index at a time
// Memory      entries of an ordered index are sorted, so that most go where the one before went; for a hashed
//             one the buckets of the next rows are asked for ahead.
// Threads     one owner each; any number on one database.
// Waiting     for node locks, as Index says.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "engine/table/indexed_table.h"
#include "recovery/rows/key_sorter.h"

namespace mneme {

class IndexFiller {
 public:
  // kInserted: all of them were. Otherwise `row` is the first that was not, and some others' entries stand.
  struct Outcome {
    Index::InsertStatus status = Index::InsertStatus::kInserted;
    Row* row = nullptr;
    Row* existing = nullptr;  // has the row's key
  };
  // `rows`: of `table`, whose index this is, in none of its entries yet.
  Outcome add(const IndexedTable& table, const TableIndex& index, std::span<Row* const> rows);

 private:
  std::unordered_map<const Index*, InsertHint> hints_;
  KeySorter sorter_;
  // Scratch of one call.
  std::vector<uint64_t> keys_;  // by row
  std::vector<uint32_t> as_given_;
};

}  // namespace mneme
