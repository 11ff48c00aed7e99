// Slice plan: which of a procedure's statements one slice keeps, and which operations of other slices it
// recalls.
//
// A slice keeps its replayed operations and, transitively, all statements that give these values or decide
// whether they run. The walk stops at operations of other slices: their outputs are recalled, so of these
// only what decides whether they run is needed (so that a recall meets the recorded executions one for one).
// The locate body is found in the same way, starting from the lane keys instead of the operations. What
// depends on the slice's own operations cannot be known at dispatch: IFs and loops of that kind are
// dissolved, that is, what they hold is reported as if it always ran.
// Invariants  a kept statement's enclosing IFs and loops, and all jumps that may skip it, are kept. the
//             slices of a procedure depend on each other without a cycle, so a recalled operation never waits
//             for the slice that recalls it.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "analyzer/lane_plan.h"
#include "analyzer/procedure_analysis.h"

namespace mneme {

// What dispatch knows of what operations find.
struct KnownAtDispatch {
  // Nothing of what other slices have found: the locate body recalls nothing.
  bool from_arguments = false;
  // It may perform these itself, of this slice or another.
  std::set<OperationId> performed = {};
};

class SlicePlan {
 public:
  // `operations`: the slice's, ascending.
  SlicePlan(const ProcedureAnalysis& analysis, const std::vector<OperationId>& operations,
            KnownAtDispatch known = {});

  const std::vector<OperationId>& replayed() const { return replayed_; }
  bool iterations_independent() const { return independent_loop_.valid(); }

  // Where replayed operations touch tables, with the key values that are known before the slice runs.
  std::vector<AccessSite> access_sites(const Catalog& catalog) const;

  // Which accesses dispatch reports, once the lanes of the slice's block are known; in program order.
  // Iterations run apart only if all that write are reported, so that no iteration with work to do goes
  // unreported, and, once that is known, all that are recorded for other slices.
  void locate(std::vector<LocateSite> sites);
  void keep_recorded_together(const std::set<OperationId>& recorded);

  // Operations of other slices that the bodies recall, and outputs of operations that they use.
  const std::set<OperationId>& recalled() const { return recalled_; }
  const std::set<std::pair<OperationId, VariableId>>& used_outputs() const { return used_outputs_; }

  // `recorded`: the operations that other slices recall.
  ir::MarkedBody body(const std::set<OperationId>& recorded) const;
  ir::MarkedBody locate_body() const;
  std::vector<LocatedAccess> located() const;
  // Once located: what Slice::parts says.
  std::vector<std::vector<OperationId>> parts() const;

 private:
  using StatementSet = std::vector<bool>;  // by StatementId

  bool is_own(StatementId id) const;  // an operation that the slice performs
  bool is_located(OperationId operation) const;
  bool is_foreign(StatementId id) const;  // an operation of another slice
  // Whether the locate body performs it.
  bool is_performed(StatementId id) const;
  void keep(StatementId start, StatementSet& kept, bool to_locate = false);
  void find_unknown();
  void find_independent_loop();
  bool is_known(const ir::Expr& expr, StatementId at) const;
  bool runs_surely(StatementId at) const;
  void keep_known_controls(StatementId at);
  // These append to `out`, a list of statements in `body`.
  void add_kept(const std::vector<ir::Statement>& list, const std::set<OperationId>& recorded,
                ir::MarkedBody& body, std::vector<ir::Statement>& out) const;
  void add_locates(const std::vector<ir::Statement>& list, ir::MarkedBody& body,
                   std::vector<ir::Statement>& out) const;
  void add_locates_at(StatementId at, ir::MarkedBody& body, std::vector<ir::Statement>& out) const;
  bool repeats(const ir::Statement& statement, const ir::StatementMark& mark, const LocateSite& site) const;
  void find_parts();
  bool in_one_loop(OperationId a, OperationId b) const;
  bool have_common_key(OperationId a, OperationId b) const;

  const ProcedureAnalysis& analysis_;
  const StatementTable& table_;
  const KnownAtDispatch known_;
  std::vector<OperationId> replayed_;
  StatementSet kept_;
  StatementSet unknown_;  // depends on an operation of the slice, or of any
  StatementSet kept_to_locate_;
  StatementId independent_loop_;
  std::vector<LocateSite> sites_;
  std::vector<size_t> part_of_;  // by place in replayed_: the first place in the part
  std::set<OperationId> recalled_;
  std::set<std::pair<OperationId, VariableId>> used_outputs_;
};

}  // namespace mneme
