// Slicing: the paper's two algorithms, which put operations into slices and slices into blocks; and what
// transaction chopping makes of procedures, to compare with.
//
// Chopping    Pieces of a transaction may commit apart only if no cycle leads from one of them by conflicts
//             through other transactions, whole ones, back to another piece (Shasha's SC-cycle; there may be
//             another call of the same procedure among them). Such pieces are merged; what is left apart is
//             sliced by Algorithm 1.
// Source      PACMAN (SIGMOD 2017), appendix B. Each function follows the algorithm's phases, named as there.
//             Shasha, Llirbat, Simon, Valduriez: Transaction Chopping (TODS 1995), section 3 (finest
//             chopping).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/conflict_rule.h"
#include "analyzer/dependency_graph.h"
#include "analyzer/digraph.h"
#include "analyzer/procedure_analysis.h"

namespace mneme {

using ProcedureAnalyses = std::vector<std::unique_ptr<ProcedureAnalysis>>;

// Elements and why they are not kept apart: each reason is one of the class that holds its element.
struct ReasonedPartition {
  explicit ReasonedPartition(size_t count) : partition(count) {}

  // The reason is kept only if it takes this merge to bring the two together.
  void merge(size_t a, size_t b, std::string reason) {
    if (partition.find(a) == partition.find(b)) return;
    partition.merge(a, b);
    reasons.emplace_back(a, std::move(reason));
  }
  // Those of the class that holds the element.
  std::vector<std::string> reasons_of(size_t element) const;

  Partition partition;
  std::vector<std::pair<size_t, std::string>> reasons;
};

// Returns the data dependencies among the procedure's operations.
std::vector<DataDependency> data_dependencies(const ir::Procedure& procedure, const ConflictRule& conflicts);

// Algorithm 1: the operations of one procedure, partitioned into slices. `chopped`: all procedures, where
// pieces are to be as chopping has them; nullptr: the paper's.
ReasonedPartition local_slices(const ProcedureAnalysis& analysis, const std::vector<DataDependency>& data,
                               const ProcedureAnalyses* chopped, const ConflictRule& conflicts);

// A slice among those of all procedures: its operations, ascending, and why they are together.
struct GlobalSlice {
  ProcedureId procedure;
  std::vector<OperationId> operations;
  std::vector<std::string> merges;
};

struct GlobalBlock {
  std::vector<GlobalSlice> slices;  // one a procedure
  std::vector<std::string> merges;
};

// Algorithm 2: the slices of all procedures that are logged, put into blocks. A block's slices of one
// procedure are merged; blocks come predecessors first. `coalesced`: the catalog, where blocks are to be
// joined that need not be apart (coalescing.h); nullptr: as the paper has it.
std::vector<GlobalBlock> global_blocks(const ProcedureAnalyses& procedures,
                                       const std::vector<GlobalSlice>& slices, const ConflictRule& conflicts,
                                       const Catalog* coalesced);

}  // namespace mneme
