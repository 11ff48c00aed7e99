// Slice plan: which of a procedure's statements one slice keeps, and which operations of other slices it
// recalls.
//
// A slice keeps its replayed operations and, transitively, all statements that compute their inputs or decide
// whether they run. The walk stops at an operation of another slice, whose outputs are recalled. Of such an
// operation only the statements that decide whether it runs are kept: each recall must meet one recorded
// execution.
// The locate body is found in the same way, starting from the lane keys instead of the operations. At
// dispatch, a condition that depends on the slice's own operations is unknown. An IF or a loop with such a
// condition is dissolved: the accesses inside it are reported as if they always ran.
// Invariants  a kept statement's enclosing IFs and loops, and all jumps that may skip it, are kept. The
//             slices of a procedure depend on each other without a cycle, so a recalled operation never waits
//             for the slice that recalls it.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "analyzer/lane_plan.h"
#include "analyzer/procedure_analysis.h"

namespace mneme {

// Which operations' outputs dispatch can use to find lane keys.
struct KnownAtDispatch {
  // Dispatch can't use outputs of other slices, so the locate body recalls none.
  bool from_arguments = false;
  // The locate body may perform these operations itself, whichever slice they belong to.
  std::set<OperationId> performed = {};
};

class SlicePlan {
 public:
  // `operations`: the slice's, ascending.
  SlicePlan(const ProcedureAnalysis& analysis, const std::vector<OperationId>& operations,
            KnownAtDispatch known = {});

  const std::vector<OperationId>& replayed() const { return replayed_; }
  bool iterations_independent() const { return independent_loop_.valid(); }

  // Returns the replayed operations' table accesses, with the key values known before the slice runs, and
  // what hints may say where dispatch may use them.
  std::vector<AccessSite> access_sites(const Catalog& catalog) const;

  // Sets the accesses that dispatch reports, in program order. Called once the lanes of the slice's block are
  // known. The loop's iterations run apart only if every write is reported: an iteration that is not reported
  // must have no work.
  void locate(std::vector<LocateSite> sites);
  // Does the same for operations that are recorded for other slices: each must be reported, too.
  void keep_recorded_together(const std::set<OperationId>& recorded);

  // Operations of other slices that the bodies recall, and outputs of operations that they use.
  const std::set<OperationId>& recalled() const { return recalled_; }
  const std::set<std::pair<OperationId, VariableId>>& used_outputs() const { return used_outputs_; }

  // `recorded`: the operations that other slices recall.
  ir::MarkedBody body(const std::set<OperationId>& recorded) const;
  // The same for a part of the slice alone.
  ir::MarkedBody part_body(const std::vector<OperationId>& part, const std::set<OperationId>& recorded) const;
  ir::MarkedBody locate_body() const;
  std::vector<LocatedAccess> located() const;
  // Returns Slice::parts. Called after locate().
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
  // Before an operation whose lanes a hint may say.
  void add_tell(const ir::Statement& statement, ir::MarkedBody& body, std::vector<ir::Statement>& out) const;
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
  StatementSet unknown_;  // at dispatch: depends on outputs that dispatch can't use (KnownAtDispatch)
  StatementSet kept_to_locate_;
  StatementId independent_loop_;
  std::vector<LocateSite> sites_;
  std::vector<size_t> part_of_;  // by index in replayed_: the lowest index in the same part
  std::set<OperationId> recalled_;
  std::set<std::pair<OperationId, VariableId>> used_outputs_;
};

}  // namespace mneme
