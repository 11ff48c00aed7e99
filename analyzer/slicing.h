// Slicing: the paper's two algorithms, which put operations into slices and slices into blocks.
//
// Source      PACMAN (SIGMOD 2017), appendix B. Each function follows the algorithm's phases, named as there.
#pragma once

#include <memory>
#include <vector>

#include "analyzer/conflict_rule.h"
#include "analyzer/dependency_graph.h"
#include "analyzer/digraph.h"
#include "analyzer/procedure_analysis.h"

namespace mneme {

// Algorithm 1: the operations of one procedure, partitioned into slices.
Partition local_slices(const ProcedureAnalysis& analysis, const std::vector<DataDependency>& data);

std::vector<DataDependency> data_dependencies(const ir::Procedure& procedure, const ConflictRule& conflicts);

// A slice among those of all procedures: its operations, ascending.
struct GlobalSlice {
  ProcedureId procedure;
  std::vector<OperationId> operations;
};

// Algorithm 2: the slices of all procedures that are logged, put into blocks. A block's slices of one procedure are
// merged; blocks come predecessors first.
std::vector<std::vector<GlobalSlice>> global_blocks(
    const std::vector<std::unique_ptr<ProcedureAnalysis>>& procedures, const std::vector<GlobalSlice>& slices,
    const ConflictRule& conflicts);

}  // namespace mneme
