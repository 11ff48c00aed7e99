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
#pragma once

#include <string>
#include <vector>

#include "procedures/session/bound_statement.h"

namespace mneme {

// Returns the lines. The statement is a SELECT, INSERT, UPDATE or DELETE.
std::vector<std::string> explain(const BoundStatement& statement);

}  // namespace mneme
