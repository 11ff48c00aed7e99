// Explanation: the plan of a bound statement as lines of text, as EXPLAIN shows them.
//
//     Limit
//       ->  Sort
//             Sort Key: 1, 2 DESC
//             ->  Hash Join
//                   ->  Scan on emp
//                   ->  Point Lookup on dept d using dept_pkey
//                         Key: id
//
// Nodes       Point Lookup: a whole key of a unique index. Range Scan: an index from one key to another.
//             Scan: all rows. A node's rows come from those below it; a join's first node is its outer side.
// Filtered    conditions drop some of the node's rows.
// Sort keys   the numbers of the result's columns where a query has them, as ORDER BY may name them.
// ANALYZE     "(actual rows=N)" counts the rows that a node gave, in all of its runs together.
// Calls       a CALL shows the operations of its procedure in their order, each with the statement that it
//             comes from, and, where replay runs the call anew, with its slice and its lane (ReplayNotes).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "procedures/query/row_store.h"
#include "procedures/session/bound_statement.h"

namespace mneme {

struct ExplainOptions {
  bool analyze = false;  // the statement runs, and its rows are counted
  bool timing = true;
  bool summary = true;
};

// How changes are logged, and where replay carries them out: lines of text for EXPLAIN.
class ReplayNotes {
 public:
  virtual ~ReplayNotes() = default;

  virtual std::vector<std::string> of_call(const ir::Procedure& procedure) const = 0;
  virtual std::vector<std::string> of_operation(const ir::Procedure& procedure,
                                                const ir::Operation& operation) const = 0;
  // `change`: what a client's INSERT, UPDATE or DELETE does.
  virtual std::vector<std::string> of_statement(const ir::Operation& change) const = 0;
};

// What EXPLAIN ANALYZE has measured.
struct ExplainCounts {
  query::RowCounts nodes;
  uint64_t rows = 0;  // of the result
};

// Returns the lines. The statement is a SELECT, INSERT, UPDATE, DELETE or CALL, bound to `program`.
// `counts`: nullptr where it did not run.
std::vector<std::string> explain(const Program& program, const BoundStatement& statement,
                                 const ReplayNotes& notes, const ExplainCounts* counts);

}  // namespace mneme
