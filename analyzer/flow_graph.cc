#include "analyzer/flow_graph.h"

#include <set>

#include "analyzer/expressions.h"
#include "base/check.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;

namespace {

void add_uses(const std::optional<ir::Expr>& expr, FlowStep& step) {
  if (!expr) return;
  std::set<VariableId> variables;
  add_variables(*expr, variables);
  step.uses.insert(step.uses.end(), variables.begin(), variables.end());
}

}  // namespace

FlowGraph::FlowGraph(const ir::Procedure& procedure, const std::vector<Statement>& body,
                     const StatementTable& table)
    : procedure_(procedure), table_(table) {
  const size_t call = add_step(StatementId(), {});
  CHECK(call == kCall);
  for (uint32_t i = 0; i < procedure.variables.size(); ++i) {
    steps_[call].defines.push_back({VariableId(i), StatementId(), true});
  }
  end_ = add_step(StatementId(), {});
  const size_t begin = add_list(body, end_);
  steps_[call].successors = {begin};
}

size_t FlowGraph::add_step(StatementId owner, std::vector<size_t> successors) {
  FlowStep step;
  step.owner = owner;
  step.successors = std::move(successors);
  steps_.push_back(std::move(step));
  return steps_.size() - 1;
}

size_t FlowGraph::add_list(const std::vector<Statement>& statements, size_t next) {
  for (size_t i = statements.size(); i-- > 0;) next = add_statement(statements[i], next);
  return next;
}

size_t FlowGraph::add_statement(const Statement& statement, size_t next) {
  const StatementId id = table_.id_of(statement);
  switch (statement.kind) {
    case StatementKind::kForRange:
    case StatementKind::kForQuery:
    case StatementKind::kWhile:
      return add_loop(statement, id, next);
    case StatementKind::kExit:
    case StatementKind::kContinue:
    case StatementKind::kReturn:
      return add_jump(statement, id, next);
    case StatementKind::kRaise:
    case StatementKind::kTry:
      CHECK(false);  // committed_body() removes them
    case StatementKind::kIf: {
      const size_t then_begin = add_list(statement.body, next);
      const size_t else_begin = add_list(statement.else_body, next);
      const size_t step = add_step(id, {then_begin, else_begin});
      add_uses(statement.expr, steps_[step]);
      return step;
    }
    case StatementKind::kAssign:
    case StatementKind::kArrayAppend:
    case StatementKind::kArrayAssign: {
      const size_t step = add_step(id, {next});
      add_uses(statement.expr, steps_[step]);
      if (statement.kind == StatementKind::kArrayAppend) steps_[step].uses.push_back(statement.variable);
      if (statement.source_array.valid()) steps_[step].uses.push_back(statement.source_array);
      steps_[step].defines.push_back({statement.variable, id, true});
      return step;
    }
    case StatementKind::kOperation: {
      const ir::Operation& operation = procedure_.operations[statement.operation.value];
      const size_t step = add_step(id, {next});
      steps_[step].uses = operation.uses;
      for (VariableId variable : operation.defines) steps_[step].defines.push_back({variable, id, true});
      return step;
    }
  }
  CHECK(false);
}

size_t FlowGraph::add_loop(const Statement& statement, StatementId id, size_t next) {
  const bool is_while = statement.kind == StatementKind::kWhile;
  const bool outermost = loops_.empty();

  const size_t leave = is_while ? next : add_step(id, {next});
  const size_t head = add_step(id, {});
  loops_.push_back({id, statement.found, leave, head});
  const size_t body = add_list(statement.body, head);
  loops_.pop_back();
  if (is_while) {
    add_uses(statement.expr, steps_[head]);
    steps_[head].successors = {body};
    if (!is_true(*statement.expr)) steps_[head].successors.push_back(leave);
    const size_t enter = add_step(id, {head});
    steps_[head].outermost_head = outermost;
    steps_[head].enter = enter;
    return enter;
  }

  const size_t row = add_step(id, {body});
  const size_t enter = add_step(id, {head});
  steps_[head].successors = {row, leave};
  steps_[head].outermost_head = outermost;
  steps_[head].enter = enter;
  if (statement.kind == StatementKind::kForRange) {
    add_uses(statement.expr, steps_[enter]);
    add_uses(statement.limit, steps_[enter]);
    add_uses(statement.step, steps_[enter]);
    steps_[row].defines.push_back({statement.variable, id, true});
  } else {
    const ir::Operation& operation = procedure_.operations[statement.operation.value];
    steps_[enter].uses = operation.uses;
    for (const ir::Output& output : operation.outputs) {
      steps_[row].defines.push_back({output.into, id, true});
      // After the last row the variables keep its values; without any row they are NULL.
      steps_[leave].defines.push_back({output.into, id, false});
    }
  }
  if (statement.found.valid()) steps_[leave].defines.push_back({statement.found, id, true});
  return enter;
}

size_t FlowGraph::add_jump(const Statement& statement, StatementId id, size_t next) {
  const size_t step = add_step(id, {});
  add_uses(statement.expr, steps_[step]);
  if (statement.expr && !is_true(*statement.expr)) steps_[step].successors.push_back(next);
  if (statement.kind == StatementKind::kReturn) {
    steps_[step].successors.push_back(end_);
    return step;
  }
  CHECK(statement.loop_depth < loops_.size());
  const size_t target = loops_.size() - 1 - statement.loop_depth;
  size_t to = statement.kind == StatementKind::kExit ? loops_[target].on_exit : loops_[target].on_continue;
  // The loops on the way to the target end one after the other, the innermost first.
  for (size_t i = target + 1; i < loops_.size(); ++i) {
    if (!loops_[i].found.valid()) continue;
    to = add_step(loops_[i].id, {to});
    steps_[to].defines.push_back({loops_[i].found, loops_[i].id, true});
  }
  steps_[step].successors.push_back(to);
  return step;
}

}  // namespace mneme
