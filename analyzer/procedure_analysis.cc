#include "analyzer/procedure_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>

#include "analyzer/committed_body.h"
#include "base/check.h"

namespace mneme {
namespace {

std::string_view keyword(const ir::Statement& statement) {
  switch (statement.kind) {
    case ir::StatementKind::kIf:
      return "IF";
    case ir::StatementKind::kForRange:
    case ir::StatementKind::kForQuery:
      return "FOR";
    case ir::StatementKind::kWhile:
      return "WHILE";
    case ir::StatementKind::kExit:
      return "EXIT";
    case ir::StatementKind::kContinue:
      return "CONTINUE";
    case ir::StatementKind::kReturn:
      return "RETURN";
    default:
      return "statement";
  }
}

}  // namespace

ProcedureAnalysis::ProcedureAnalysis(const ir::Procedure& procedure)
    : procedure_(procedure),
      body_(committed_body(procedure)),
      table_(body_),
      dependence_(procedure, body_, table_),
      statement_of_(procedure.operations.size()),
      live_(procedure.operations.size()) {
  for (uint32_t i = 0; i < table_.size(); ++i) {
    const ir::Statement& statement = table_.statement(StatementId(i));
    if (!has_operation(statement)) continue;
    CHECK(!statement_of_[statement.operation.value].valid());
    statement_of_[statement.operation.value] = StatementId(i);
  }
  for (const ir::Operation& operation : procedure.operations) find_flow_into(operation.id);
  find_live();
}

// Walks from the operation back over values and conditions, through statements without an operation.
void ProcedureAnalysis::find_flow_into(OperationId to) {
  const StatementId target = statement_of(to);
  if (!target.valid()) return;

  struct Visit {
    StatementId at;
    bool loop_carried;
    VariableId variable;    // what was needed of `at`; not valid: whether and how often it runs its body
    StatementId condition;  // the first IF, loop or jump on the way; not valid: none yet
  };
  std::deque<Visit> pending;
  std::vector<std::array<bool, 2>> seen(table_.size());
  auto add_needs_of = [&](StatementId at, bool carried, StatementId condition) {
    for (const ValueDependence& value : dependence_.values(at)) {
      if (!value.definition.valid()) continue;
      pending.push_back({value.definition, carried || value.loop_carried, value.variable, condition});
    }
    for (const ControlDependence& control : dependence_.controls(at)) {
      pending.push_back({control.on, carried || control.loop_carried, VariableId(),
                         condition.valid() ? condition : control.on});
    }
  };

  add_needs_of(target, false, StatementId());
  for (; !pending.empty(); pending.pop_front()) {
    const Visit visit = pending.front();
    if (std::exchange(seen[visit.at.value][visit.loop_carried], true)) continue;
    const ir::Statement& statement = table_.statement(visit.at);
    if (has_operation(statement)) {
      // A carried dependency is one only between operations of the same loop.
      const StatementId loop = table_.place(target).outermost_loop;
      const bool same_loop = loop.valid() && table_.place(visit.at).outermost_loop == loop;
      flow_.push_back({statement.operation, to, visit.loop_carried && same_loop,
                       reason(visit.at, visit.variable, visit.condition, target)});
    } else {
      add_needs_of(visit.at, visit.loop_carried, visit.condition);
    }
  }
}

std::string ProcedureAnalysis::reason(StatementId from, VariableId variable, StatementId condition,
                                      StatementId to) const {
  const uint32_t set_at = operation_at(from).where.line;
  const std::string what =
      variable.valid() ? fmt::format("{}, set at line {},", procedure_.variables[variable.value].name, set_at)
                       : fmt::format("the rows found at line {}", set_at);
  if (!condition.valid()) return fmt::format("{} is used at line {}", what, operation_at(to).where.line);
  const ir::Statement& decided = table_.statement(condition);
  return fmt::format("{} decide{} {} at line {}", what, variable.valid() ? "s" : "", keyword(decided),
                     decided.where.line);
}

void ProcedureAnalysis::find_live() {
  std::vector<OperationId> pending;
  for (const ir::Operation& operation : procedure_.operations) {
    if (operation.kind != ir::OperationKind::kSelect && statement_of(operation.id).valid()) {
      pending.push_back(operation.id);
    }
  }
  while (!pending.empty()) {
    const OperationId at = pending.back();
    pending.pop_back();
    if (live_[at.value]) continue;
    live_[at.value] = true;
    for (const FlowDependency& dependency : flow_) {
      if (dependency.to == at) pending.push_back(dependency.from);
    }
  }
}

}  // namespace mneme
