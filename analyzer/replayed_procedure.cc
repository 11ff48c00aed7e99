#include "analyzer/replayed_procedure.h"

#include "analyzer/slice_plan.h"
#include "analyzer/table_use.h"

namespace mneme {

UsedOutputs used_outputs(const ProcedureAnalysis& analysis) {
  std::vector<OperationId> all;
  for (const ir::Operation& operation : analysis.procedure().operations) all.push_back(operation.id);
  return SlicePlan(analysis, all).used_outputs();
}

ir::Procedure replayed_procedure(const Catalog& catalog, const ir::Procedure& procedure,
                                 const UsedOutputs& used) {
  ir::Procedure replayed = procedure;
  replayed.body.clear();
  for (ir::Operation& operation : replayed.operations) {
    const auto unused = [&](VariableId variable) { return !used.contains({operation.id, variable}); };
    std::erase_if(operation.outputs, [&](const ir::Output& output) { return unused(output.into); });
    if (operation.found.valid() && unused(operation.found)) operation.found = VariableId();
    if (operation.row_count.valid() && unused(operation.row_count)) operation.row_count = VariableId();
    std::erase_if(operation.defines, unused);
    for (size_t i = 0; i < operation.access.size(); ++i) {
      operation.access[i].columns_read = columns_read(catalog, operation, i);
    }
  }
  return replayed;
}

}  // namespace mneme
