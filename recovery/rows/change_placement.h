// ChangePlacement: maps an ad-hoc change of a row to the blocks, and their lanes, in which it is replayed.
//
// Flow        find_barriers() asks which transactions stand alone; PieceDispatch::fill, for each block, where
//             their pieces go: a change is a piece in each block that owns something of it
//             (analyzer/change_owners.h).
// Rest        one block more than the graph has, without predecessors: for changes that no block owns, by
//             primary key.
// Lanes       the one that the row's lane columns give, so that the change meets the procedures' pieces that
//             touch the row, in commit order. All of them, where the record does not say: a lane column
//             changed (the row moves, and where from is not logged), or it is not in the record (of erasures
//             and patches, unless in the key). All, too, where a unique key comes or goes whose next or last
//             owner may be in another lane.
// Threads     constant once made.
// Source      PACMAN (SIGMOD 2017), section 4.5: a write-only transaction, dispatched by the keys in its
//             record.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/change_owners.h"
#include "engine/schema/change_codec.h"
#include "engine/schema/schema.h"
#include "recovery/log/log_batch.h"

namespace mneme {

// The part of a table's changes that a block replays.
struct ChangePlace {
  // One of LaneTable's ways to cut.
  struct Way {
    std::vector<std::byte> moving;  // of ChangeCodec::rest: an update of these concerns other lanes, too
    bool lanes_in_key = false;      // the lane columns are of the primary key
    bool keys_stay = false;         // the lane columns are of each unique key
  };
  const LaneTable* lanes = nullptr;
  size_t table_number = 0;         // in the block's lane tables
  std::vector<std::byte> columns;  // of ChangeCodec::rest, what it owns; empty: all, and the rows' existence
  std::vector<Way> ways;

  // nullptr: all columns.
  std::optional<ColumnBits> among() const {
    return columns.empty() ? std::nullopt : std::optional(ColumnBits(columns));
  }
};

class ChangePlacement {
 public:
  // `graph` must outlive it.
  ChangePlacement(const DependencyGraph& graph, const Schema& schema);

  uint32_t rest_block() const { return rest_block_; }
  std::span<const LaneTable> rest_lanes() const { return rest_lanes_; }

  // Whether the change's transaction stands alone. For a table without any such change, the change need not
  // be decoded.
  bool is_barrier(const LoggedChange& change) const;
  bool may_be_barrier(TableId table) const { return may_be_barrier_[table.value]; }
  // nullptr: nothing of the table is the block's.
  const ChangePlace* find(uint32_t block, TableId table) const {
    const std::optional<ChangePlace>& place = places_[block][table.value];
    return place ? &*place : nullptr;
  }
  // Whether the block that has this place has anything to do.
  static bool has_part(const ChangePlace& place, const LoggedChange& change);
  // The values of the way's columns; they point into `image`, a row's for scratch. False: the change concerns
  // all lanes.
  bool lane_values(const ChangePlace& place, size_t way, const LoggedChange& change, std::byte* image,
                   std::vector<Value>& values) const;

 private:
  void add_place(uint32_t block, std::span<const LaneTable> tables, TableId table,
                 std::vector<std::byte> columns);
  ChangePlace::Way make_way(const TableDefinition& table, const std::vector<ColumnId>& columns) const;
  std::vector<std::byte> bits_of(TableId table, const std::vector<ColumnId>& columns) const;

  const Schema& schema_;
  const ChangeCodec codec_;
  const uint32_t rest_block_;
  std::vector<LaneTable> rest_lanes_;                            // by table
  std::vector<std::vector<std::optional<ChangePlace>>> places_;  // by block and table
  std::vector<bool> may_be_barrier_;                             // by table
  std::vector<bool> is_existence_barrier_;                       // by table
  std::vector<std::vector<std::byte>> barrier_columns_;          // by table, of ChangeCodec::rest
};

}  // namespace mneme
