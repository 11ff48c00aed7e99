#include "analyzer/slicing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyzer/coalescing.h"

namespace mneme {
namespace {

Digraph flow_graph(const ProcedureAnalysis& analysis) {
  Digraph graph(analysis.procedure().operations.size());
  for (const FlowDependency& flow : analysis.flow()) graph.add_edge(flow.from.value, flow.to.value);
  return graph;
}

std::optional<std::string> data_dependent(const GlobalSlice& a, const GlobalSlice& b,
                                          const ConflictRule& conflicts) {
  for (OperationId o : a.operations) {
    for (OperationId p : b.operations) {
      if (auto why = conflicts.conflict({a.procedure, o}, {b.procedure, p})) return why;
    }
  }
  return std::nullopt;
}

// Returns why `to` cannot run before `from`, or nullopt if it can.
std::optional<std::string> flow_dependent(const GlobalSlice& from, const GlobalSlice& to,
                                          const ProcedureAnalysis& analysis) {
  const auto& flows = analysis.flow();
  const auto found = std::ranges::find_if(flows, [&](const FlowDependency& flow) {
    return std::ranges::binary_search(from.operations, flow.from) &&
           std::ranges::binary_search(to.operations, flow.to);
  });
  if (found == flows.end()) return std::nullopt;
  return fmt::format("{}: {}", analysis.procedure().name, found->reason);
}

// Calls merge_cycles() and adds a reason for each class that it makes: the edges between the merged classes.
void merge_cycles(const Digraph& graph, ReasonedPartition& classes,
                  const std::map<std::pair<size_t, size_t>, std::string>& edge_reasons) {
  const Partition before = classes.partition;
  mneme::merge_cycles(graph, classes.partition);
  std::map<size_t, std::vector<std::string>> cycles;  // by class
  for (const auto& [ends, reason] : edge_reasons) {
    const auto [from, to] = ends;
    if (before.find(from) == before.find(to)) continue;
    if (classes.partition.find(from) != classes.partition.find(to)) continue;
    std::vector<std::string>& list = cycles[classes.partition.find(from)];
    if (!std::ranges::count(list, reason)) list.push_back(reason);
  }
  for (const auto& [element, list] : cycles) {
    classes.reasons.emplace_back(element, fmt::format("in a cycle: {}", fmt::join(list, "; ")));
  }
}

// Merges operations of the procedure that conflicts connect through other transactions. Each other
// transaction is one node.
void merge_sc_cycles(const ProcedureAnalysis& analysis, const ProcedureAnalyses& procedures,
                     const ConflictRule& conflicts, ReasonedPartition& slices) {
  const ir::Procedure& procedure = analysis.procedure();
  const size_t count = procedure.operations.size();
  // First the procedure's operations, then one other transaction per procedure. A second call of the
  // procedure itself is among these.
  Partition reached(count + procedures.size());
  std::map<size_t, std::string> reasons;  // by operation
  const auto meet = [&](OperationRef operation, const ir::Procedure& other) {
    for (const ir::Operation& met : other.operations) {
      if (auto why = conflicts.conflict(operation, {other.id, met.id})) return why;
    }
    return std::optional<std::string>();
  };
  for (size_t i = 0; i < procedures.size(); ++i) {
    const ir::Procedure& other = procedures[i]->procedure();
    if (!other.is_logged_by_call()) continue;
    for (const ir::Operation& operation : procedure.operations) {
      const auto why = meet({procedure.id, operation.id}, other);
      if (!why) continue;
      reached.merge(operation.id.value, count + i);
      reasons.try_emplace(operation.id.value, *why);
    }
    for (size_t j = 0; j < i; ++j) {
      if (!procedures[j]->procedure().is_logged_by_call()) continue;
      const bool meets =
          std::ranges::any_of(procedures[j]->procedure().operations, [&](const ir::Operation& o) {
            return meet({procedures[j]->procedure().id, o.id}, other).has_value();
          });
      if (meets) reached.merge(count + i, count + j);
    }
  }
  for (const auto& [operation, why] : reasons) {
    const auto first = std::ranges::find_if(
        reasons, [&](const auto& entry) { return reached.find(entry.first) == reached.find(operation); });
    slices.merge(first->first, operation,
                 fmt::format("chopping: in an SC-cycle by {}; {}", first->second, why));
  }
}

}  // namespace

std::vector<std::string> ReasonedPartition::reasons_of(size_t element) const {
  std::vector<std::string> found;
  for (const auto& [of, reason] : reasons) {
    if (partition.find(of) == partition.find(element)) found.push_back(reason);
  }
  return found;
}

std::vector<DataDependency> data_dependencies(const ir::Procedure& procedure, const ConflictRule& conflicts) {
  std::vector<DataDependency> found;
  const std::vector<ir::Operation>& operations = procedure.operations;
  for (size_t i = 0; i < operations.size(); ++i) {
    for (size_t j = i + 1; j < operations.size(); ++j) {
      auto why = conflicts.conflict({procedure.id, operations[i].id}, {procedure.id, operations[j].id});
      if (why) found.push_back({operations[i].id, operations[j].id, *std::move(why)});
    }
  }
  return found;
}

ReasonedPartition local_slices(const ProcedureAnalysis& analysis, const std::vector<DataDependency>& data,
                               const ProcedureAnalyses* chopped, const ConflictRule& conflicts) {
  // Initialization: each operation is a slice.
  ReasonedPartition slices(analysis.procedure().operations.size());
  // Merge slices that hold data-dependent operations.
  for (const DataDependency& dependency : data) {
    slices.merge(dependency.first.value, dependency.second.value, dependency.reason);
  }
  // No operation depends on those that replay leaves out, so these can share one slice, ordered last.
  std::optional<size_t> left_out;
  for (const ir::Operation& operation : analysis.procedure().operations) {
    if (!conflicts.passes_over({analysis.procedure().id, operation.id})) continue;
    slices.merge(left_out.value_or(operation.id.value), operation.id.value, "not replayed");
    left_out = left_out.value_or(operation.id.value);
  }
  if (chopped != nullptr && analysis.procedure().is_logged_by_call())
    merge_sc_cycles(analysis, *chopped, conflicts, slices);
  // Build graph, break cycles. One pass is enough: it leaves no cycle, and merging slices adds no data
  // dependency between operations.
  std::map<std::pair<size_t, size_t>, std::string> reasons;
  for (const FlowDependency& flow : analysis.flow()) {
    reasons.try_emplace({flow.from.value, flow.to.value}, flow.reason);
  }
  merge_cycles(flow_graph(analysis), slices, reasons);
  return slices;
}

std::vector<GlobalBlock> global_blocks(const ProcedureAnalyses& procedures,
                                       const std::vector<GlobalSlice>& slices, const ConflictRule& conflicts,
                                       const Catalog* coalesced) {
  // Initialization: each slice is a block. Merge blocks that hold data-dependent slices.
  ReasonedPartition blocks(slices.size());
  for (size_t i = 0; i < slices.size(); ++i) {
    for (size_t j = i + 1; j < slices.size(); ++j) {
      if (auto why = data_dependent(slices[i], slices[j], conflicts)) blocks.merge(i, j, *std::move(why));
    }
  }
  std::optional<size_t> left_out;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!conflicts.passes_over({slices[i].procedure, slices[i].operations.front()})) continue;
    blocks.merge(left_out.value_or(i), i, "not replayed");
    left_out = left_out.value_or(i);
  }
  // Build graph.
  Digraph graph(slices.size());
  std::map<std::pair<size_t, size_t>, std::string> reasons;
  for (size_t i = 0; i < slices.size(); ++i) {
    for (size_t j = 0; j < slices.size(); ++j) {
      const ProcedureId procedure = slices[i].procedure;
      if (i == j || slices[j].procedure != procedure) continue;
      auto why = flow_dependent(slices[i], slices[j], *procedures[procedure.value]);
      if (!why) continue;
      graph.add_edge(i, j);
      reasons.emplace(std::pair(i, j), *std::move(why));
    }
  }
  // Break cycles.
  merge_cycles(graph, blocks, reasons);
  if (coalesced != nullptr) coalesce(*coalesced, procedures, slices, conflicts, graph, blocks);
  // Merge slices. This makes no new cycle. Suppose that a third slice, of another block, lay between two
  // slices that are merged. The two blocks would then form a cycle, which the last step has merged.
  const std::vector<std::vector<size_t>> classes = blocks.partition.classes();
  std::vector<GlobalBlock> result;
  for (size_t block : quotient(graph, blocks.partition).topological_order()) {
    std::map<ProcedureId, GlobalSlice> merged;
    for (size_t member : classes[block]) {
      const GlobalSlice& slice = slices[member];
      GlobalSlice& into = merged[slice.procedure];
      into.procedure = slice.procedure;
      into.operations.insert(into.operations.end(), slice.operations.begin(), slice.operations.end());
      into.merges.insert(into.merges.end(), slice.merges.begin(), slice.merges.end());
    }
    GlobalBlock& made = result.emplace_back();
    made.merges = blocks.reasons_of(classes[block].front());
    for (auto& [procedure, slice] : merged) {
      std::ranges::sort(slice.operations);
      made.slices.push_back(std::move(slice));
    }
  }
  return result;
}

}  // namespace mneme
