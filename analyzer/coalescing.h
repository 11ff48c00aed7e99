// Coalescing: blocks that need not be apart for anything are joined, since each costs a transaction a piece
// and a recording.
//
// Column conflicts leave many small slices: a read of columns that no procedure writes, two updates of one
// row. Such a slice, alone in its block, joins the one slice of its procedure that waits for it,
//   reads  where it conflicts with nothing: it may then run at any time, so also at the beginning of the
//          other;
//   rows   where both write one and the same table, and the other is alone in its block, too: they run one
//          after the other in one lane anyway.
// Invariants  no cycle comes about: the slice has one successor, so no other path leads where the edge does.
//             lanes get no coarser and iterations stay apart: each access knows as many keys at dispatch as
//             before, and what had loops whose iterations run apart has them still.
#pragma once

#include <vector>

#include "analyzer/digraph.h"
#include "analyzer/slicing.h"
#include "engine/schema/catalog.h"

namespace mneme {

// `graph`: flow dependencies among the slices; without cycles among the classes of `blocks`.
void coalesce(const Catalog& catalog, const ProcedureAnalyses& procedures,
              const std::vector<GlobalSlice>& slices, const ConflictRule& conflicts, const Digraph& graph,
              ReasonedPartition& blocks);

}  // namespace mneme
