// Lane plan: by which columns a block's rows of a table are spread over lanes.
//
// A column qualifies if each access of the block to the table fixes its value before the block runs, so that
// all that touches a row meets in the row's lane. Finer ways to cut are by columns that only some accesses
// fix. The others are wide then: each stands in all lanes of the block, at its place in commit order, so it
// is ordered against all that touches its rows. A range UPDATE that is rarely called, or never, so costs what
// its calls cost.
// Invariants  no access that is not wide assigns a lane column: a row stays in its lane. rows that have had
//             the same unique key at different times have had the same lane, or what gave the key up is wide,
//             so that one leaves before the other comes.
// Source      PACMAN (SIGMOD 2017), section 4.3.1: key spaces.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "analyzer/statement_table.h"
#include "procedures/ir/ir.h"

namespace mneme {

// One access of a slice to a table.
struct AccessSite {
  OperationId operation;
  uint32_t access;
  StatementId at;
  TableId table;
  const ir::Operation* what;
  std::map<ColumnId, ir::Expr>
      keys;  // the columns whose value the access fixes and that are known at dispatch
};

// An access that dispatch reports, with the expressions of its columns.
struct LocateSite {
  LocatedAccess access;
  StatementId at;
  std::vector<ir::Expr> key;
};

// The columns that the access path or the insert fixes to one value each, in a form whose equal values are
// the same bits as the column's.
std::map<ColumnId, ir::Expr> fixed_columns(const Catalog& catalog, const ir::Operation& operation,
                                           uint32_t access);

// `sites`: all accesses of a block's slices.
std::vector<LaneTable> lane_tables(const Catalog& catalog, std::span<const AccessSite> sites);

// What the site reports of a table with such lanes.
LocateSite locate_site(const Catalog& catalog, const LaneTable& lanes, const AccessSite& site);

}  // namespace mneme
