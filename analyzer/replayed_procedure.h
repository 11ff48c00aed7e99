// Replayed procedure: a procedure's operations as replay performs them.
//
// An operation keeps the outputs, FOUND included, that some write depends on: the others feed results, or the
// guards of RAISE. Columns that were read for these alone are not read.
#pragma once

#include <set>
#include <utility>

#include "analyzer/procedure_analysis.h"
#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme {

using UsedOutputs = std::set<std::pair<OperationId, VariableId>>;

// Returns the outputs that the slices use together, however the procedure is sliced.
UsedOutputs used_outputs(const ProcedureAnalysis& analysis);

// Without a body: slices have their own.
ir::Procedure replayed_procedure(const Catalog& catalog, const ir::Procedure& procedure,
                                 const UsedOutputs& used);

}  // namespace mneme
