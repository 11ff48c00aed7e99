// Change owners: which block of the graph a change belongs to that no procedure made: an ad-hoc one, known by
// its images.
//
// Flow        DependencyGraph -> ChangeOwners -> replay puts each ad-hoc change into its block's lanes
//             (piece_dispatch.h)
// Owners      Of a table that replayed operations touch in one block only, which has lanes for it, that block
//             owns all. A table that none touches has no owner. Else columns are owned one by one, likewise,
//             and existence by none: a row that comes or goes, and a column that several blocks touch, or one
//             without lanes for the table, is a barrier. So is a column of a secondary index then, as its
//             entries hold other columns, too.
// Soundness   A serial replay orders a change only against what reads or writes the same column, or the row's
//             existence. An owned change is ordered against all of these: they are the owner's, each piece
//             that touches the row stands in the row's lane (dependency_graph.h, invariants), and lanes keep
//             commit order. Other blocks neither read nor write it, so it does not matter how far ahead or
//             behind they are. A change without an owner meets other ad-hoc changes only. A barrier is alone:
//             all before it has run, nothing behind it has begun. The graph itself guarantees what this asks
//             of a column that procedures write, as operations that touch it are of one block
//             (conflict_rule.h): what procedures only read, it does not order.
// Threads     constant once made.
// Source      PACMAN (SIGMOD 2017), section 4.5.
#pragma once

#include <vector>

#include "analyzer/dependency_graph.h"
#include "engine/schema/catalog.h"

namespace mneme {

class Owner {
 public:
  enum class Kind : uint8_t { kBlock, kNobody, kBarrier };

  static constexpr Owner of(BlockId block) { return Owner(Kind::kBlock, block); }
  static constexpr Owner nobody() { return Owner(Kind::kNobody, BlockId()); }
  static constexpr Owner barrier() { return Owner(Kind::kBarrier, BlockId()); }

  constexpr Kind kind() const { return kind_; }
  constexpr BlockId block() const { return block_; }
  constexpr bool operator==(const Owner&) const = default;

 private:
  constexpr Owner(Kind kind, BlockId block) : kind_(kind), block_(block) {}

  Kind kind_;
  BlockId block_;
};

class ChangeOwners {
 public:
  ChangeOwners(const DependencyGraph& graph, const Catalog& catalog);

  // Returns the owner of inserts and erasures. All columns have the same owner unless this is a barrier.
  Owner existence(TableId table) const { return tables_[table.value].existence; }
  Owner column(TableId table, ColumnId column) const { return tables_[table.value].columns[column.value]; }

 private:
  struct TableOwners {
    Owner existence = Owner::nobody();
    std::vector<Owner> columns;
  };
  std::vector<TableOwners> tables_;
};

}  // namespace mneme
