// Conflict rule: which two operations must replay in commit order because they may touch the same data.
//
// The dependency graph asks nothing else about data, so how finely conflicts are seen is decided here alone.
// Tables      the paper's rule: both access the same table and one modifies it.
// Columns     one writes a column that the other reads or writes, or rows come or go by one (table_use.h):
//             the other found rows, or did not find them. Operations that replay leaves out are in no
//             conflict.
// Elisions    unwritten    what only reads columns that no procedure writes, of rows that neither come nor
//                          go, finds the same at any time. (By columns, such an operation has nothing in
//                          common with others anyway.)
//             insert-only rows of a table that is only inserted into: no procedure reads them, and committed
//             keys
//                          differ.
//             increments   two that add to a column and do no more to it: sums do not depend on order.
//                          A procedure that reads the column, or sets it, is in conflict with both, and so in
//                          one block with them, where lanes keep commit order. So only where none does can
//                          they come into different blocks, and there replay adds atomically
//                          (dependency_graph.h).
// In place    Blocks run at the same time, and by columns two of them may write one row at once. They write
//             different bytes: no two columns share one, NULL flags included (row_layout.h); neither the
//             row's word nor, as no indexed column changes hands here, an index entry is written; an update
//             stores changed columns one by one, and only one that moves rows (table_use.h) copies an image.
//             Bytes that both write hold an added column.
// Invariants  symmetric. A rule that says no must be sure: replay then runs the two in any order, or at once.
// Threads     constant once made.
// Source      PACMAN (SIGMOD 2017), section 4.1.1, for tables.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis_options.h"
#include "analyzer/table_use.h"
#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme {

struct OperationRef {
  ProcedureId procedure;
  OperationId operation;
};

// One procedure, for the rule.
struct ConflictSubject {
  const ir::Procedure* replayed;  // (replayed_procedure.h); not kept
  std::vector<bool> is_live;      // by operation: replay performs it
  bool is_logged;                 // else it shapes nothing
};

class ConflictRule {
 public:
  // `subjects`: all procedures, by id.
  ConflictRule(const Catalog& catalog, const AnalysisOptions& options,
               std::span<const ConflictSubject> subjects);

  // Why the two operations are data-dependent ("district.d_next_o_id: new_order (line 3) writes, payment
  // (line 9) reads"), or nothing if they are not. Of an operation and itself: whether two calls of its
  // procedure conflict in it.
  std::optional<std::string> conflict(OperationRef first, OperationRef second) const;

  // Replay leaves the operation out, and so does the rule.
  bool passes_over(OperationRef ref) const { return operation(ref).uses.empty(); }
  // The tables that are only inserted into, where that is made use of.
  std::vector<TableId> insert_only_tables() const;
  bool only_adds_to(OperationRef operation, TableId table, ColumnId column) const;

 private:
  // Sums up the logged procedures' uses of a table.
  struct TableTotal {
    bool is_modified = false;
    bool is_only_inserted = true;
    bool moves_rows = false;
    std::vector<bool> is_written;  // by column
  };
  struct Operation {
    std::vector<TableUse> uses;
    std::string procedure;
    uint32_t line;
  };

  // A column or row set in which two uses of a table meet, and what each does to it.
  struct Meeting {
    std::string where;
    std::string_view first;
    std::string_view second;
    size_t more_columns = 0;
  };

  const Operation& operation(OperationRef ref) const {
    return operations_[ref.procedure.value][ref.operation.value];
  }
  void add_to_totals(const TableUse& use);
  std::optional<Meeting> by_table(const TableUse& a, const TableUse& b) const;
  std::optional<Meeting> by_column(const TableUse& a, const TableUse& b) const;
  bool finds_the_same_always(const TableUse& use) const;
  bool are_free_inserts(const TableUse& a, const TableUse& b) const;

  const Catalog& catalog_;
  const AnalysisOptions options_;
  std::vector<std::vector<Operation>> operations_;  // by procedure and operation
  std::vector<TableTotal> totals_;                  // by table
};

}  // namespace mneme
