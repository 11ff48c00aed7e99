// Table use: what replay of an operation reads and writes of each table that it accesses.
//
// Columns     read: by access path, filter, order, aggregates, SET and INSERT expressions, and by those
//             outputs that replay uses. A column counts as added to, not as read and written, where the
//             operation does no more to it than add a value or take one away, in arithmetic that forgets
//             nothing: integers, or NUMERIC at the column's scale.
// Rows        come and go by INSERT, DELETE, and UPDATE of a column that an index holds: the row leaves one
//             place in the index for another, and its whole image is looked at (UnloggedWriter).
// Invariants  the lists are sorted, and no column that is added to is in another list.
#pragma once

#include <optional>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme {

struct TableUse {
  TableId table;
  ir::OperationKind kind = ir::OperationKind::kSelect;  // what is done to this table
  bool moves_rows = false;                              // they come or go
  std::vector<ColumnId> reads;
  std::vector<ColumnId> sets;
  std::vector<ColumnId> adds;

  bool modifies() const { return kind != ir::OperationKind::kSelect; }
  bool inserts() const { return kind == ir::OperationKind::kInsert; }
  bool only_adds() const { return !adds.empty() && sets.empty() && !moves_rows; }
};

// `operation`: with the outputs that replay uses alone (replayed_procedure.h).
std::vector<TableUse> table_uses(const Catalog& catalog, const ir::Operation& operation);

// The columns that expressions and access paths name, by access.
std::vector<ColumnId> columns_read(const Catalog& catalog, const ir::Operation& operation, size_t access);

// `c + e`, `e + c` or `c - e`, where c is the assigned column, cast back to its type if need be.
struct Increment {
  const ir::Expr* by;
  bool is_subtracted;
};
std::optional<Increment> increment_of(const TableDefinition& table, const ir::Assignment& assignment);

}  // namespace mneme
