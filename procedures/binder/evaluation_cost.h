// Evaluation cost: what PostgreSQL's planner takes an expression to cost, by which it orders conditions on
// one table.
//
// Conditions are evaluated until one does not hold, so their order decides whether an error of one of them is
// met at all.
// Source      PostgreSQL 15, cost_qual_eval() in optimizer/path/costsize.c; order_qual_clauses() in
//             optimizer/plan/createplan.c.
#pragma once

#include <vector>

#include "procedures/ir/ir.h"

namespace mneme {

// Orders conditions that must all hold, one at least, as PostgreSQL evaluates them, and joins them: it ends
// at the first that is false or NULL, where AND would go on after a NULL.
ir::Expr join_by_cost(std::vector<ir::Expr> conditions);

}  // namespace mneme
