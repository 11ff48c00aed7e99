#include "analyzer/slicing.h"

#include <algorithm>
#include <map>

namespace mneme {
namespace {

Digraph flow_graph(const ProcedureAnalysis& analysis) {
  Digraph graph(analysis.procedure().operations.size());
  for (const FlowDependency& flow : analysis.flow()) graph.add_edge(flow.from.value, flow.to.value);
  return graph;
}

bool data_dependent(const GlobalSlice& a, const GlobalSlice& b,
                    const std::vector<std::unique_ptr<ProcedureAnalysis>>& procedures,
                    const ConflictRule& conflicts) {
  const std::vector<ir::Operation>& operations_a = procedures[a.procedure.value]->procedure().operations;
  const std::vector<ir::Operation>& operations_b = procedures[b.procedure.value]->procedure().operations;
  for (OperationId o : a.operations) {
    for (OperationId p : b.operations) {
      if (conflicts.conflict(operations_a[o.value], operations_b[p.value])) return true;
    }
  }
  return false;
}

bool flow_dependent(const GlobalSlice& from, const GlobalSlice& to, const ProcedureAnalysis& analysis) {
  return std::ranges::any_of(analysis.flow(), [&](const FlowDependency& flow) {
    return std::ranges::binary_search(from.operations, flow.from) &&
           std::ranges::binary_search(to.operations, flow.to);
  });
}

}  // namespace

std::vector<DataDependency> data_dependencies(const ir::Procedure& procedure, const ConflictRule& conflicts) {
  std::vector<DataDependency> found;
  const std::vector<ir::Operation>& operations = procedure.operations;
  for (size_t i = 0; i < operations.size(); ++i) {
    for (size_t j = i + 1; j < operations.size(); ++j) {
      if (std::optional<std::string> why = conflicts.conflict(operations[i], operations[j])) {
        found.push_back({operations[i].id, operations[j].id, *std::move(why)});
      }
    }
  }
  return found;
}

Partition local_slices(const ProcedureAnalysis& analysis, const std::vector<DataDependency>& data) {
  // Initialization: each operation is a slice.
  Partition slices(analysis.procedure().operations.size());
  // Merge slices that hold data-dependent operations.
  for (const DataDependency& dependency : data) slices.merge(dependency.first.value, dependency.second.value);
  // Build graph, break cycles. One pass is a fixpoint: what has merged all its cycles has none left, and merging makes
  // no operations data-dependent that were not.
  merge_cycles(flow_graph(analysis), slices);
  return slices;
}

std::vector<std::vector<GlobalSlice>> global_blocks(
    const std::vector<std::unique_ptr<ProcedureAnalysis>>& procedures, const std::vector<GlobalSlice>& slices,
    const ConflictRule& conflicts) {
  // Initialization: each slice is a block. Merge blocks that hold data-dependent slices.
  Partition blocks(slices.size());
  for (size_t i = 0; i < slices.size(); ++i) {
    for (size_t j = i + 1; j < slices.size(); ++j) {
      if (data_dependent(slices[i], slices[j], procedures, conflicts)) blocks.merge(i, j);
    }
  }
  // Build graph.
  Digraph graph(slices.size());
  for (size_t i = 0; i < slices.size(); ++i) {
    for (size_t j = 0; j < slices.size(); ++j) {
      const ProcedureId procedure = slices[i].procedure;
      if (i == j || slices[j].procedure != procedure) continue;
      if (flow_dependent(slices[i], slices[j], *procedures[procedure.value])) graph.add_edge(i, j);
    }
  }
  // Break cycles.
  merge_cycles(graph, blocks);
  // Merge slices. Two slices of a procedure with a third between them that is in another block would now depend on
  // each other by way of it; but then their block and its would too, and the last step has made those one block.
  const std::vector<std::vector<size_t>> classes = blocks.classes();
  std::vector<std::vector<GlobalSlice>> result;
  for (size_t block : quotient(graph, blocks).topological_order()) {
    std::map<ProcedureId, std::vector<OperationId>> merged;
    for (size_t member : classes[block]) {
      std::vector<OperationId>& operations = merged[slices[member].procedure];
      operations.insert(operations.end(), slices[member].operations.begin(), slices[member].operations.end());
    }
    std::vector<GlobalSlice>& members = result.emplace_back();
    for (auto& [procedure, operations] : merged) {
      std::ranges::sort(operations);
      members.push_back({procedure, std::move(operations)});
    }
  }
  return result;
}

}  // namespace mneme
