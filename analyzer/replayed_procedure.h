// Replayed procedure: a procedure's operations as replay performs them.
//
// Of an operation's outputs, FOUND included, those stay that some write depends on: the others feed results,
// or the guards of RAISE. What was read for these alone is not read.
#pragma once

#include <set>
#include <utility>

#include "analyzer/procedure_analysis.h"
#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme {

using UsedOutputs = std::set<std::pair<OperationId, VariableId>>;

// What slices use together, however the procedure is sliced.
UsedOutputs used_outputs(const ProcedureAnalysis& analysis);

// Without a body: slices have their own.
ir::Procedure replayed_procedure(const Catalog& catalog, const ir::Procedure& procedure,
                                 const UsedOutputs& used);

}  // namespace mneme
