#include "analyzer/coalescing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "analyzer/slice_plan.h"

namespace mneme {
namespace {

class Coalescing {
 public:
  Coalescing(const Catalog& catalog, const ProcedureAnalyses& procedures,
             const std::vector<GlobalSlice>& slices, const ConflictRule& conflicts, const Digraph& graph,
             ReasonedPartition& blocks)
      : catalog_(catalog),
        procedures_(procedures),
        slices_(slices),
        conflicts_(conflicts),
        graph_(graph),
        blocks_(blocks) {
    for (const GlobalSlice& slice : slices) is_free_.push_back(is_free(slice));
  }

  void run() {
    while (join_one()) {
    }
  }

 private:
  // A class of replayed slices that are all of one procedure.
  struct Sole {
    ProcedureId procedure;
    std::vector<OperationId> operations;
    bool is_free;
  };

  bool is_free(const GlobalSlice& slice) const {
    for (const OperationId operation : slice.operations) {
      const OperationRef ref{slice.procedure, operation};
      if (conflicts_.passes_over(ref)) return false;
      for (const auto& other : procedures_) {
        if (!other->procedure().is_logged_by_call()) continue;
        for (const ir::Operation& met : other->procedure().operations) {
          if (conflicts_.conflict(ref, {other->procedure().id, met.id})) return false;
        }
      }
      if (procedures_[slice.procedure.value]->procedure().operations[operation.value].kind !=
          ir::OperationKind::kSelect) {
        return false;
      }
    }
    return true;
  }

  bool join_one() {
    const std::vector<std::vector<size_t>> classes = blocks_.partition.classes();
    const Digraph order = quotient(graph_, blocks_.partition);
    for (size_t i = 0; i < classes.size(); ++i) {
      const std::optional<Sole> first = sole(classes[i]);
      const std::optional<size_t> successor = first ? only_successor(order, classes, i) : std::nullopt;
      if (!successor) continue;
      const std::vector<size_t>& next = classes[*successor];
      if (!(first->is_free ? has_other_tables(*first, next) : is_same_row(*first, next))) continue;
      if (!keeps_lanes(*first, operations_of(first->procedure, next))) continue;
      blocks_.merge(classes[i].front(), next.front(),
                    fmt::format("{}: {}", procedures_[first->procedure.value]->procedure().name,
                                first->is_free ? "reads what nobody writes, for one slice alone"
                                               : "two slices of its own change rows of one table"));
      return true;
    }
    return false;
  }

  // Beside what is not replayed, which nothing follows.
  std::optional<size_t> only_successor(const Digraph& order, const std::vector<std::vector<size_t>>& classes,
                                       size_t of) const {
    std::optional<size_t> only;
    for (const size_t successor : order.successors(of)) {
      const GlobalSlice& slice = slices_[classes[successor].front()];
      if (conflicts_.passes_over({slice.procedure, slice.operations.front()})) continue;
      if (only) return std::nullopt;
      only = successor;
    }
    return only;
  }

  std::optional<Sole> sole(const std::vector<size_t>& members) const {
    Sole found{slices_[members.front()].procedure, {}, true};
    for (const size_t member : members) {
      if (slices_[member].procedure != found.procedure) return std::nullopt;
      found.is_free &= is_free_[member];
    }
    found.operations = operations_of(found.procedure, members);
    if (conflicts_.passes_over({found.procedure, found.operations.front()})) return std::nullopt;
    return found;
  }

  std::vector<OperationId> operations_of(ProcedureId procedure, const std::vector<size_t>& members) const {
    std::vector<OperationId> operations;
    for (const size_t member : members) {
      if (slices_[member].procedure != procedure) continue;
      operations.insert(operations.end(), slices_[member].operations.begin(),
                        slices_[member].operations.end());
    }
    std::ranges::sort(operations);
    return operations;
  }

  std::set<TableId> tables_of(ProcedureId procedure, const std::vector<OperationId>& operations) const {
    std::set<TableId> tables;
    for (const OperationId operation : operations) {
      for (const ir::TableAccess& access :
           procedures_[procedure.value]->procedure().operations[operation.value].access) {
        tables.insert(access.table);
      }
    }
    return tables;
  }

  // Where both only read, nothing has lanes; else another way to a row could cost its table some.
  bool has_other_tables(const Sole& first, const std::vector<size_t>& next) const {
    if (std::ranges::all_of(next, [&](size_t member) { return is_free_[member]; })) return true;
    const std::set<TableId> tables = tables_of(first.procedure, first.operations);
    return std::ranges::none_of(next, [&](size_t member) {
      const std::set<TableId> others = tables_of(slices_[member].procedure, slices_[member].operations);
      return std::ranges::any_of(others, [&](TableId table) { return tables.contains(table); });
    });
  }

  bool is_same_row(const Sole& first, const std::vector<size_t>& next) const {
    const std::optional<Sole> second = sole(next);
    if (!second || second->is_free) return false;
    std::set<TableId> tables = tables_of(first.procedure, first.operations);
    tables.merge(tables_of(second->procedure, second->operations));
    if (tables.size() != 1) return false;
    std::set<std::set<ColumnId>> keys;
    for (const Sole* part : {&first, &*second}) {
      for (const AccessSite& site :
           SlicePlan(*procedures_[part->procedure.value], part->operations).access_sites(catalog_)) {
        keys.insert(lane_candidates(site));
      }
    }
    return keys.size() == 1;
  }

  // Returns the columns that lanes are cut by (lane_plan.h): known columns of the primary key, or else any
  // that are known.
  std::set<ColumnId> lane_candidates(const AccessSite& site) const {
    std::set<ColumnId> known;
    for (const auto& [column, value] : site.keys) known.insert(column);
    const TableDefinition& table = catalog_.table(site.table);
    if (!table.primary_key) return known;
    std::set<ColumnId> of_key;
    for (const ColumnId column : catalog_.index(*table.primary_key).columns) {
      if (known.contains(column)) of_key.insert(column);
    }
    return of_key.empty() ? known : of_key;
  }

  bool keeps_lanes(const Sole& first, const std::vector<OperationId>& second) const {
    const ProcedureAnalysis& analysis = *procedures_[first.procedure.value];
    std::vector<OperationId> both = first.operations;
    both.insert(both.end(), second.begin(), second.end());
    std::ranges::sort(both);
    const SlicePlan joined(analysis, both);
    const std::vector<AccessSite> sites = joined.access_sites(catalog_);
    for (const std::vector<OperationId>* part : {&first.operations, &second}) {
      const SlicePlan apart(analysis, *part);
      if (apart.iterations_independent() && !joined.iterations_independent()) return false;
      for (const AccessSite& site : apart.access_sites(catalog_)) {
        const bool is_kept = std::ranges::any_of(sites, [&](const AccessSite& other) {
          return other.operation == site.operation && other.access == site.access &&
                 lane_candidates(other) == lane_candidates(site);
        });
        if (!is_kept) return false;
      }
    }
    return true;
  }

  const Catalog& catalog_;
  const ProcedureAnalyses& procedures_;
  const std::vector<GlobalSlice>& slices_;
  const ConflictRule& conflicts_;
  const Digraph& graph_;
  ReasonedPartition& blocks_;
  std::vector<bool> is_free_;  // by slice
};

}  // namespace

void coalesce(const Catalog& catalog, const ProcedureAnalyses& procedures,
              const std::vector<GlobalSlice>& slices, const ConflictRule& conflicts, const Digraph& graph,
              ReasonedPartition& blocks) {
  Coalescing(catalog, procedures, slices, conflicts, graph, blocks).run();
}

}  // namespace mneme
