// Procedure analysis: what is known of one procedure before its operations are put into slices.
//
// Flow        procedure -> committed body -> statement table, program dependence -> flow dependencies, live
//             operations.
// Invariants  statements point into `body`, so an analysis never moves.
// Source      PACMAN (SIGMOD 2017), section 4.1.1: flow dependencies are define-use or control relations.
#pragma once

#include <string>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "analyzer/program_dependence.h"
#include "analyzer/statement_table.h"
#include "procedures/ir/ir.h"

namespace mneme {

class ProcedureAnalysis {
 public:
  explicit ProcedureAnalysis(const ir::Procedure& procedure);
  ProcedureAnalysis(const ProcedureAnalysis&) = delete;
  ProcedureAnalysis& operator=(const ProcedureAnalysis&) = delete;

  const ir::Procedure& procedure() const { return procedure_; }
  const std::vector<ir::Statement>& body() const { return body_; }
  const StatementTable& table() const { return table_; }
  const ProgramDependence& dependence() const { return dependence_; }

  const ir::Operation& operation_at(StatementId id) const {
    return procedure_.operations[table_.statement(id).operation.value];
  }
  // Not valid where no committed transaction can run the operation.
  StatementId statement_of(OperationId operation) const { return statement_of_[operation.value]; }

  const std::vector<FlowDependency>& flow() const { return flow_; }

  // Whether replay must perform the operation: it writes, or a write depends on it.
  bool is_live(OperationId operation) const { return live_[operation.value]; }

 private:
  void find_flow_into(OperationId to);
  void find_live();
  std::string reason(StatementId from, VariableId variable, StatementId condition, StatementId to) const;

  const ir::Procedure& procedure_;
  const std::vector<ir::Statement> body_;
  const StatementTable table_;
  const ProgramDependence dependence_;
  std::vector<StatementId> statement_of_;
  std::vector<FlowDependency> flow_;
  std::vector<bool> live_;
};

}  // namespace mneme
