// Lane plan: by which columns a block's rows of a table are spread over lanes.
//
// A column qualifies if each access of the block to the table fixes its value before the block runs, so that
// all that touches a row meets in the row's lane. Finer ways to cut are by columns that only some accesses
// fix. The others are wide then: each stands in all lanes of the block, at its place in commit order, so it
// is ordered against all that touches its rows. A range UPDATE that is rarely called, or never, so costs what
// its calls cost.
// Where accesses take their keys from what their slice itself reads, no column qualifies, and those would be
// wide. Hints in the calls' records say such keys (told_key()): ways by columns that an access fixes by a
// hint come behind the others, and only where no column qualifies without.
// Invariants  no access that is not wide assigns a lane column: a row stays in its lane. rows that have had
//             the same unique key at different times have had the same lane, or what gave the key up is wide,
//             so that one leaves before the other comes.
// Source      PACMAN (SIGMOD 2017), section 4.3.1: key spaces.
#pragma once

#include <map>
#include <optional>
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
  // The operation that a hint of the access stands under, and its columns (told_key()); none: no hint can
  // say which rows it touches.
  OperationId hint{};
  std::vector<ColumnId> hint_columns{};
  std::vector<ir::Expr> told{};  // their values
};

// An access that dispatch reports, with the expressions of its columns.
struct LocateSite {
  LocatedAccess access;
  StatementId at;
  std::vector<ir::Expr> key;
  std::vector<ir::Expr> told{};  // the values of LocatedAccess::hint_columns
};

// The columns that the access path or the insert fixes to one value each, in a form whose equal values are
// the same bits as the column's.
std::map<ColumnId, ir::Expr> fixed_columns(const Catalog& catalog, const ir::Operation& operation,
                                           uint32_t access);

// What an operation tells of its first table access, where hints may say it (hints/told_procedures.h): the
// columns of the table's primary key that it fixes to one value each, by expressions that cannot fail. It
// depends on the procedure alone, not on how it is taken apart: the run that writes a record and the replay
// that reads it agree on a key's columns.
struct ToldKey {
  // The first operation that fixes the same columns of the table by the same expressions: a row that is read,
  // and then written, is noted once.
  OperationId hint;
  std::vector<ColumnId> columns;  // in the order of the primary key
  std::vector<ir::Expr> values;
};

// Returns nullopt if the operation can tell no key.
std::optional<ToldKey> told_key(const Catalog& catalog, const ir::Procedure& procedure,
                                OperationId operation);

// Returns a statement that tells the key before `statement` runs, and marks it in `body`, where it will
// stand.
ir::Statement tell_statement(const ir::Statement& statement, OperationId hint,
                             const std::vector<ir::Expr>& values, ir::MarkedBody& body);

// `sites`: all accesses of a block's slices.
std::vector<LaneTable> lane_tables(const Catalog& catalog, std::span<const AccessSite> sites);

// What the site reports of a table with such lanes.
LocateSite locate_site(const Catalog& catalog, const LaneTable& lanes, const AccessSite& site);

}  // namespace mneme
