// Settling tables: what a replay on demand still does to each table: which blocks write it, in which lanes,
// and which only read it.
//
// Source      ours, from the analysis (dependency_graph.h) and its lanes (piece_dispatch.h).
#pragma once

#include <span>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "recovery/calls/piece_dispatch.h"
#include "recovery/demand/settling_rules.h"

namespace mneme {

// Returns one for each table of the schema. `placements`: by block, those that the log's pieces were placed
// by. Graph and dispatch outlive the result.
std::vector<SettlingTable> settling_tables(const DependencyGraph& graph, const Schema& schema,
                                           const PieceDispatch& dispatch,
                                           std::span<const LanePlacement> placements);

}  // namespace mneme
