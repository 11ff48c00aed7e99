// Row order: in which order a SELECT's rows come, and whether its path already delivers that.
//
// Rule        ORDER BY first; where that leaves rows open, the primary key (of the outer table, then of the inner one),
//             in the direction of the last ORDER BY key, so that an index can still be read backwards.
// Errors      a LIMIT, or a SELECT INTO or FOR loop, over a table without a key: which rows come depends on chance. So
//             does the last digit of a sum() of doubles over one.
#pragma once

#include "engine/catalog.h"
#include "procedures/ir.h"

namespace mneme {

// Completes operation.order and sets order_is_path_order and path_backward. The access is chosen.
void set_row_order(const Catalog& catalog, ir::Operation& operation);

// Doubles added in another order round to another sum: refuses sum() of them where the path leaves the order open.
void refuse_sums_by_chance(const Catalog& catalog, const ir::Operation& operation);

// min() or max() of the column by which the rows come anyway: reads one row.
void stop_at_first_row_for_extreme(const Catalog& catalog, ir::Operation& operation);

}  // namespace mneme
