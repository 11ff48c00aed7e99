// Replayed indexes: which indexes replay by slices only writes to, and which lead it to rows that stay as
// they are.
//
// Unread      recovery builds such an index once, from the tables' rows, when replay has ended
//             (late_indexes.h). An index is unread if no operation that replay performs reaches rows by it,
//             and it refuses no row: of a unique one each insert asks whether the key is free, unless the
//             primary key is part of it, and so no other row can have the key. Rows that ad-hoc transactions
//             changed are found by the primary key alone. A query's operation, or that of a procedure which
//             changes nothing, is never replayed.
// Constant    replay of a log of calls alone may find single rows of a table that no procedure writes in any
//             way, and may keep what it found (engine/table/constant_rows.h). A log that holds changed rows,
//             too, may change them.
#pragma once

#include <vector>

#include "analyzer/dependency_graph.h"
#include "engine/schema/catalog.h"

namespace mneme {

// In the catalog's order. The graph is of a program with this catalog, and without reads_to_locate.
std::vector<IndexId> unread_indexes(const DependencyGraph& graph, const Catalog& catalog);
std::vector<IndexId> constant_indexes(const DependencyGraph& graph, const Catalog& catalog);

}  // namespace mneme
