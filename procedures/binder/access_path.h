// Access paths: which index an operation reads, and in which order its rows then come.
//
// Rule        all columns of a unique index fixed by single values -> a point. else the index with the most
//             leading columns fixed, then with a bound on the next; between equals the one that already
//             delivers the wanted order, then the primary key, then the one declared first. no column fixed
//             or bounded: the primary key as a whole, or the index that lists the table's rows. of two joined
//             tables the inner one must be reached by a fixed key column; of both ways to join, the one with
//             the tighter paths.
// Invariants  what a path fixes or bounds is not in the filter. A comparison that an index's own order does
//             not answer exactly (an int column with a numeric, a numeric with more digits than the column's)
//             stays in the filter.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme {

// Splits AND, and NOT of an OR, into parts that must all hold.
void split_conjunction(ir::Expr condition, std::vector<ir::Expr>& parts);

// Sets operation.access from the tables and the conditions on them. May exchange the two tables of a join:
// every expression of the operation is then renumbered. operation.order is what the user asked for.
void choose_access(const Catalog& catalog, const std::vector<TableId>& tables,
                   std::vector<ir::Expr> conditions, ir::Operation& operation);

// The best path to one table, whose columns the conditions call `source`, while those of other sources are
// known: without a filter. `settled`: the conditions that the path sees to. `is_lookup`: a key column is
// fixed. Nothing where the table has no index that could be read as a whole.
struct TablePath {
  ir::AccessPath path;
  std::vector<size_t> settled;
  bool is_lookup = false;
  int score = 0;  // of two, the higher one finds fewer rows
};
std::optional<TablePath> find_path(const Catalog& catalog, TableId table, uint8_t source,
                                   const std::vector<ir::Expr>& conditions);

struct PathColumn {
  uint8_t source;
  ColumnId column;
  bool operator==(const PathColumn&) const = default;
};

// The columns by which the rows come, most significant first, without those that have one value. Where a path
// fixes a column to several values, they are tried in the column's order.
std::vector<PathColumn> path_order(const Catalog& catalog, std::span<const ir::TableAccess> access);

// The path gives the column one value: in the inner table of a join, one for each row of the outer table.
bool is_fixed(const Catalog& catalog, std::span<const ir::TableAccess> access, PathColumn column);

// The column has one value in all rows that are found.
bool is_constant(const Catalog& catalog, std::span<const ir::TableAccess> access, PathColumn column);

// At most one row, whatever the data.
bool finds_one_row(std::span<const ir::TableAccess> access);

// The rows are known by (`ordered` and what the paths fix): no two of them agree in all of these.
bool identifies_rows(const Catalog& catalog, std::span<const ir::TableAccess> access,
                     std::span<const PathColumn> ordered);

}  // namespace mneme
