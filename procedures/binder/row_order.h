// Row order: in which order a SELECT's rows come, and whether its path already delivers that. The .cc has
// what OperationBinder does about ORDER BY, GROUP BY and DISTINCT.
//
// Rule        ORDER BY first; where that leaves rows open, the primary key (of the outer table, then of the
//             inner one), in the direction of the last ORDER BY key, so that an index can still be read
//             backwards.
// Chance      a LIMIT, a SELECT INTO or a FOR loop over a table without a key takes rows, or their order, as
//             they happen to lie; so does the last digit of a sum() of doubles over one. The operation says
//             so (ir::Operation::by_chance).
#pragma once

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme {

// Completes operation.order and sets order_is_path_order, path_backward and by_chance. The access is chosen.
void set_row_order(const Catalog& catalog, ir::Operation& operation);

// Doubles added in another order round to another sum: sets by_chance for sum() of them where the path leaves
// the order open.
void note_sums_by_chance(const Catalog& catalog, ir::Operation& operation);

// Sets by_chance where a group's rows write its key in several ways, and the path leaves their order open.
void note_groups_by_chance(const Catalog& catalog, ir::Operation& operation);

// min() or max() of the column by which the rows come anyway: reads one row.
void stop_at_first_row_for_extreme(const Catalog& catalog, ir::Operation& operation);

}  // namespace mneme
