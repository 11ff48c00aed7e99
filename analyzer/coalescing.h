// Coalescing: joins blocks that nothing requires to be separate. Each block costs a transaction one piece and
// one recording.
//
// Column conflicts leave many small slices: a read of columns that no procedure writes, two updates of one
// row. If all slices of a block are of one procedure, and only one other block depends on it, the two are
// joined in two cases:
//   reads  The block only reads, and conflicts with nothing. It can run at any time, so also at the beginning
//          of the other. Their tables must differ, unless the other conflicts with nothing, too.
//   rows   Both access the same single table by the same lane columns, and the other is of that procedure
//          alone, too. They run one after the other in one lane anyway.
// Invariants  joining makes no cycle: the block has one successor, so no other path leads to it.
//             Lanes get no coarser: each access has the same lane columns as before. A loop whose iterations
//             ran apart keeps that.
#pragma once

#include <vector>

#include "analyzer/digraph.h"
#include "analyzer/slicing.h"
#include "engine/schema/catalog.h"

namespace mneme {

// `graph`: the flow dependencies among the slices. It must have no cycle among the classes of `blocks`.
void coalesce(const Catalog& catalog, const ProcedureAnalyses& procedures,
              const std::vector<GlobalSlice>& slices, const ConflictRule& conflicts, const Digraph& graph,
              ReasonedPartition& blocks);

}  // namespace mneme
