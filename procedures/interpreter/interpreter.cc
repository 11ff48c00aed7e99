#include "procedures/interpreter/interpreter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/schema/qualified_name.h"
#include "procedures/interpreter/operation_runner.h"
#include "procedures/interpreter/run_state.h"

namespace mneme {

namespace {

using ir::Operation;
using ir::OperationMode;
using ir::Statement;
using ir::StatementKind;

// How a statement leaves off.
enum class Flow : uint8_t { kNext, kExit, kContinue, kReturn, kFailed };

}  // namespace

class Interpreter::Machine {
 public:
  explicit Machine(const Schema& schema) : state_(schema), operations_(state_) {}

  Outcome run(const RunRequest& request);
  std::span<const Argument> results();

 private:
  Outcome run_native();

  // Where execution `execution` of an operation belongs: recordings count within an iteration.
  struct Execution {
    uint32_t iteration = 0;
    uint32_t count = 0;
  };

  Flow run_block(std::span<const Statement> statements);
  Flow run_statement(const Statement& statement);
  Flow run_assign(const Statement& statement);
  Flow run_array_append(const Statement& statement);
  Flow run_if(const Statement& statement);
  Flow run_for_range(const Statement& statement);
  Flow run_for_query(const Statement& statement);
  Flow run_while(const Statement& statement);
  Flow run_leave(const Statement& statement, Flow how);
  Flow run_raise(const Statement& statement);
  Flow run_try(const Statement& statement);
  Flow run_operation(const Statement& statement);

  bool loop_bound(const Statement& statement, const std::optional<ir::Expr>& expr, const char* name,
                  int64_t& value);
  // Runs a loop's body once, as iteration `iteration`. False: the loop is over, and `flow` how it leaves off.
  bool run_iteration(const Statement& loop, uint32_t iteration, Flow& flow);
  bool runs_iteration(const Statement& loop, uint32_t iteration) const {
    return !request_.only_iteration || *request_.only_iteration == iteration ||
           !mark_of(loop).iterations_apart;
  }

  // An operation in no loop belongs to iteration 0.
  uint32_t current_iteration() const { return loop_depth_ == 0 ? 0 : iteration_; }
  Flow locate(const Statement& statement);
  Flow tell(const Statement& statement);
  // Returns the values of the key that the statement's mark has; false: the run has ended.
  bool key_of(const Statement& statement, std::span<Value>& key);
  Recording::Recorded recall(const Operation& operation);
  void record(const Operation& operation, const ResultRows& rows);
  uint32_t next_execution(const Operation& operation);
  bool check_into(const Operation& operation, uint32_t count);
  // Sets the outputs' variables from one row; NULL where there is none.
  void set_outputs(const Operation& operation, const Value* row);
  void set_found(VariableId found, bool value) {
    if (found.valid()) state_.frame.set(found, Value::of_bool(value));
  }
  void set_row_count(const Operation& operation, uint32_t rows) {
    if (operation.row_count.valid()) state_.frame.set(operation.row_count, Value::of_int(rows));
  }
  const ir::StatementMark& mark_of(const Statement& statement) const {
    return request_.body.marks.of(statement);
  }
  const Operation& operation_of(const Statement& statement) const {
    return request_.procedure->operations[statement.operation.value];
  }

  RunState state_;
  OperationRunner operations_;
  RunRequest request_;
  uint32_t loop_depth_ = 0;
  uint32_t iteration_ = 0;  // of the outermost loop
  uint32_t unwind_ = 0;     // loops that an EXIT or CONTINUE on its way still has to leave
  SqlError caught_;         // what the handler that runs has caught
  std::vector<Execution> executions_;
  std::vector<Argument> results_;
};

Outcome Interpreter::Machine::run(const RunRequest& request) {
  request_ = request;
  state_.arena.reset();
  state_.outcome = {};
  state_.rows = request.rows;
  state_.context.sequences = request.sequences;
  state_.stop = request.stop;
  if (!state_.may_begin({})) return state_.outcome;
  if (request.native != nullptr) return run_native();
  state_.frame.begin(*request.procedure, request.arguments);
  state_.context.variables = state_.frame.scalars();
  state_.context.arrays = state_.frame.arrays();
  operations_.begin();
  executions_.assign(request.procedure->operations.size(), Execution{});
  set_found(request.procedure->found, false);
  loop_depth_ = 0;
  iteration_ = 0;
  run_block(request.body.statements);
  return state_.outcome;
}

Outcome Interpreter::Machine::run_native() {
  // A procedure that completes has set those that it has.
  if (const size_t most = request_.procedure->parameters.size(); results_.size() < most)
    results_.resize(most);
  NativeRun run{
      &state_.schema,    request_.procedure,      request_.arguments, request_.rows,   request_.recording,
      request_.locate,   request_.only_iteration, &state_.arena,      &state_.outcome, &state_.context.error,
      request_.prefetch, results_.data(),         request_.notices,   request_.stop,   request_.keys};
  request_.native(run);
  return state_.outcome;
}

std::span<const Argument> Interpreter::Machine::results() {
  if (request_.native != nullptr) {
    const auto inouts = std::ranges::count_if(request_.procedure->parameters, &ir::Parameter::inout);
    return {results_.data(), static_cast<size_t>(inouts)};
  }
  results_.clear();
  for (const ir::Parameter& parameter : request_.procedure->parameters) {
    if (parameter.inout) results_.push_back(state_.frame.get(*request_.procedure, parameter.variable));
  }
  return results_;
}

Flow Interpreter::Machine::run_block(std::span<const Statement> statements) {
  for (const Statement& statement : statements) {
    const Flow flow = run_statement(statement);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Flow Interpreter::Machine::run_statement(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kAssign:
      return run_assign(statement);
    case StatementKind::kArrayAppend:
      return run_array_append(statement);
    case StatementKind::kArrayAssign:
      state_.frame.assign_array(statement.variable, statement.source_array);
      return Flow::kNext;
    case StatementKind::kIf:
      return run_if(statement);
    case StatementKind::kForRange:
      return run_for_range(statement);
    case StatementKind::kForQuery:
      return run_for_query(statement);
    case StatementKind::kWhile:
      return run_while(statement);
    case StatementKind::kExit:
      return run_leave(statement, Flow::kExit);
    case StatementKind::kContinue:
      return run_leave(statement, Flow::kContinue);
    case StatementKind::kReturn:
      return Flow::kReturn;
    case StatementKind::kRaise:
      return run_raise(statement);
    case StatementKind::kTry:
      return run_try(statement);
    case StatementKind::kOperation:
      return run_operation(statement);
  }
  CHECK(false && "a kind of statement");
  return Flow::kFailed;
}

Flow Interpreter::Machine::run_assign(const Statement& statement) {
  Value value;
  if (!state_.value_of(*statement.expr, statement.where, value)) return Flow::kFailed;
  state_.frame.set(statement.variable, value);
  return Flow::kNext;
}

Flow Interpreter::Machine::run_array_append(const Statement& statement) {
  Value value;
  if (!state_.value_of(*statement.expr, statement.where, value)) return Flow::kFailed;
  state_.frame.append(statement.variable, value);
  return Flow::kNext;
}

// The branches of one IF stand each in the ELSE of the one before: they are gone through, and not called by
// each other.
Flow Interpreter::Machine::run_if(const Statement& statement) {
  const Statement* branch = &statement;
  for (;;) {
    bool holds = false;
    if (!evaluate_condition(*branch->expr, state_.context, holds)) {
      (void)state_.raise(branch->where);
      return Flow::kFailed;
    }
    if (holds) return run_block(branch->body);
    const std::span<const Statement> others = branch->else_body;
    if (others.size() != 1 || others[0].kind != StatementKind::kIf) return run_block(others);
    branch = &others[0];
  }
}

bool Interpreter::Machine::run_iteration(const Statement& loop, uint32_t iteration, Flow& flow) {
  if (!state_.goes_on(loop.where)) {
    flow = Flow::kFailed;
    return false;
  }
  if (loop_depth_ == 0) iteration_ = iteration;
  ++loop_depth_;
  flow = run_block(loop.body);
  --loop_depth_;
  if (flow == Flow::kNext) return true;
  if (flow != Flow::kExit && flow != Flow::kContinue) return false;
  if (unwind_ > 0) {
    --unwind_;
    return false;
  }
  const bool goes_on = flow == Flow::kContinue;
  flow = Flow::kNext;
  return goes_on;
}

bool Interpreter::Machine::loop_bound(const Statement& statement, const std::optional<ir::Expr>& expr,
                                      const char* name, int64_t& value) {
  Value bound;
  if (!state_.value_of(*expr, statement.where, bound)) return false;
  if (bound.is_null()) {
    return state_.raise(statement.where, sqlstate::kNullNotAllowed, "{} of FOR loop cannot be null", name);
  }
  value = bound.as_int();
  return true;
}

Flow Interpreter::Machine::run_for_range(const Statement& statement) {
  int64_t from = 0;
  int64_t to = 0;
  int64_t step = 1;
  if (!loop_bound(statement, statement.expr, "lower bound", from) ||
      !loop_bound(statement, statement.limit, "upper bound", to) ||
      (statement.step && !loop_bound(statement, statement.step, "BY value", step))) {
    return Flow::kFailed;
  }
  if (step <= 0) {
    (void)state_.raise(statement.where, sqlstate::kInvalidParameter,
                       "BY value of FOR loop must be greater than zero");
    return Flow::kFailed;
  }
  // Bounds are 32 bits wide, so nothing here can overflow 64.
  const int64_t span = statement.reverse ? from - to : to - from;
  const int64_t iterations = span < 0 ? 0 : span / step + 1;
  Flow flow = Flow::kNext;
  for (int64_t i = 0; i < iterations; ++i) {
    if (!runs_iteration(statement, static_cast<uint32_t>(i))) continue;
    state_.frame.set(statement.variable,
                     Value::of_int(statement.reverse ? from - i * step : from + i * step));
    if (!run_iteration(statement, static_cast<uint32_t>(i), flow)) break;
  }
  set_found(statement.found, iterations > 0);
  return flow;
}

Flow Interpreter::Machine::run_for_query(const Statement& statement) {
  const OperationMode mode = mark_of(statement).mode;
  CHECK(mode != OperationMode::kLocate);
  const Operation& operation = operation_of(statement);
  ResultRows rows{0, 0, static_cast<uint32_t>(operation.outputs.size())};
  std::span<const Value> recalled;
  const bool recalls = mode == OperationMode::kRecall;
  const bool records = mode == OperationMode::kPerformAndRecord;
  if (recalls) {
    const Recording::Recorded recorded = recall(operation);
    rows.count = recorded.rows;
    recalled = recorded.values;
  } else {
    if (!operations_.perform(operation, OperationRunner::Wanted::kAll, rows)) return Flow::kFailed;
    if (records) {
      operations_.cast_all_rows(operation, rows);
      record(operation, rows);
    }
  }
  if (rows.count == 0) set_outputs(operation, nullptr);
  Flow flow = Flow::kNext;
  for (uint32_t i = 0; i < rows.count; ++i) {
    if (!runs_iteration(statement, i)) continue;
    if (!recalls && !records && !operations_.cast_row(operation, rows, i)) return Flow::kFailed;
    // The body's operations may move the stack: the row is looked up anew.
    const std::span<const Value> values = recalls ? recalled : operations_.values(rows);
    set_outputs(operation, values.data() + size_t{i} * rows.width);
    if (!run_iteration(statement, i, flow)) break;
  }
  if (flow == Flow::kFailed) return flow;
  if (!recalls) operations_.pop(rows);
  set_found(statement.found, rows.count > 0);
  return flow;
}

Flow Interpreter::Machine::run_while(const Statement& statement) {
  for (uint32_t i = 0;; ++i) {
    bool holds = false;
    if (!evaluate_condition(*statement.expr, state_.context, holds)) {
      (void)state_.raise(statement.where);
      return Flow::kFailed;
    }
    Flow flow = Flow::kNext;
    if (!holds || !run_iteration(statement, i, flow)) return flow;
  }
}

Flow Interpreter::Machine::run_leave(const Statement& statement, Flow how) {
  bool holds = true;
  if (statement.expr && !evaluate_condition(*statement.expr, state_.context, holds)) {
    (void)state_.raise(statement.where);
    return Flow::kFailed;
  }
  if (!holds) return Flow::kNext;
  unwind_ = statement.loop_depth;
  return how;
}

Flow Interpreter::Machine::run_raise(const Statement& statement) {
  const std::span<TypedValue> arguments = state_.arena.make_array<TypedValue>(statement.args.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    arguments[i].type = statement.args[i].type;
    if (!state_.value_of(statement.args[i], statement.where, arguments[i].value)) return Flow::kFailed;
  }
  RaiseFormat format{statement.sqlstate, statement.message, statement.has_detail, statement.has_hint};
  if (statement.sqlstate_variable.valid()) {
    const std::string code(state_.frame.scalars()[statement.sqlstate_variable.value].as_text());
    format.sqlstate = state_.arena.copy({code.c_str(), code.size() + 1}).data();
  }
  SqlError& said = state_.context.error;
  (void)fail_raise(format, arguments, state_.arena, said);
  if (statement.level != ir::RaiseLevel::kException && said.sqlstate == format.sqlstate) {
    if (request_.notices != nullptr) keep_notice(statement.level, said, *request_.notices);
    return Flow::kNext;
  }
  if (statement.sqlstate_variable.valid()) {
    said.detail = caught_.detail;
    said.hint = caught_.hint;
  }
  (void)state_.raise(statement.where);
  return Flow::kFailed;
}

// An error that the body raises takes back what the body has changed, and the handlers run. Whatever else
// ends the run ends it here, too.
Flow Interpreter::Machine::run_try(const Statement& statement) {
  const std::unique_ptr<RowAccess::Mark> mark = state_.rows->mark();
  const size_t height = operations_.height();
  const uint32_t depth = loop_depth_;
  const Flow flow = run_block(statement.body);
  if (flow != Flow::kFailed || state_.outcome.kind != Outcome::Kind::kRaised) return flow;
  Sequences* const sequences = state_.context.sequences;
  if (sequences != nullptr && sequences->met_conflict()) return flow;
  if (!state_.rows->go_back_to(*mark) || (sequences != nullptr && !sequences->went_back())) {
    state_.outcome = {Outcome::Kind::kConflict, "", "", statement.where};
    return Flow::kFailed;
  }
  operations_.cut(height);
  loop_depth_ = depth;
  unwind_ = 0;
  const SqlError error = {state_.outcome.sqlstate, state_.outcome.message, state_.outcome.detail,
                          state_.outcome.hint};
  state_.outcome = {};
  state_.context.error = {};
  state_.frame.set(statement.sqlstate_variable, Value::of_text(error.sqlstate));
  state_.frame.set(statement.message_variable, Value::of_text(state_.arena.copy(shown_names(error.message))));
  const SqlError around = std::exchange(caught_, error);
  const Flow handled = run_block(statement.else_body);
  caught_ = around;
  return handled;
}

Flow Interpreter::Machine::run_operation(const Statement& statement) {
  const Operation& operation = operation_of(statement);
  const OperationMode mode = mark_of(statement).mode;
  if (mode == OperationMode::kLocate) return locate(statement);
  if (mode == OperationMode::kTell) return tell(statement);
  if (mode == OperationMode::kRecall) {
    const Recording::Recorded recorded = recall(operation);
    set_outputs(operation, recorded.rows > 0 ? recorded.values.data() : nullptr);
    set_found(operation.found, recorded.rows > 0);
    set_row_count(operation, recorded.rows);
    return Flow::kNext;
  }
  ResultRows rows;
  if (!operations_.perform(operation, OperationRunner::Wanted::kInto, rows)) return Flow::kFailed;
  if (!check_into(operation, rows.count)) return Flow::kFailed;
  if (rows.count > 0 && !operations_.cast_row(operation, rows, 0)) return Flow::kFailed;
  if (mode == OperationMode::kPerformAndRecord) record(operation, rows);
  set_outputs(operation, rows.count > 0 ? operations_.values(rows).data() : nullptr);
  set_found(operation.found, rows.count > 0);
  set_row_count(operation, rows.count);
  operations_.pop(rows);
  return Flow::kNext;
}

bool Interpreter::Machine::check_into(const Operation& operation, uint32_t count) {
  const bool changes = operation.kind != ir::OperationKind::kSelect;
  if (count > 1 && !operation.outputs.empty() && (operation.strict || changes)) {
    return state_.raise(operation.where, sqlstate::kTooManyRows, "query returned more than one row");
  }
  if (count == 0 && operation.strict) {
    return state_.raise(operation.where, sqlstate::kNoDataFound, "query returned no rows");
  }
  return true;
}

void Interpreter::Machine::set_outputs(const Operation& operation, const Value* row) {
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    state_.frame.set(operation.outputs[i].into, row != nullptr ? row[i] : Value::null());
  }
}

bool Interpreter::Machine::key_of(const Statement& statement, std::span<Value>& key) {
  const ir::StatementMark& mark = mark_of(statement);
  key = state_.arena.make_array<Value>(mark.lane_key.size());
  for (size_t i = 0; i < key.size(); ++i) {
    if (!state_.value_of(mark.lane_key[i], statement.where, key[i])) return false;
  }
  return true;
}

Flow Interpreter::Machine::locate(const Statement& statement) {
  std::span<Value> key;
  if (!key_of(statement, key)) return Flow::kFailed;
  request_.locate->locate(statement.operation, mark_of(statement).access, current_iteration(), key);
  return Flow::kNext;
}

Flow Interpreter::Machine::tell(const Statement& statement) {
  if (request_.keys == nullptr) return Flow::kNext;
  std::span<Value> key;
  if (!key_of(statement, key)) return Flow::kFailed;
  if (request_.keys->tell(statement.operation, key)) return Flow::kNext;
  state_.outcome = {Outcome::Kind::kOutsideHint, "", "", statement.where};
  return Flow::kFailed;
}

// Executions of an operation within one iteration of the outermost loop count from 0.
uint32_t Interpreter::Machine::next_execution(const Operation& operation) {
  Execution& execution = executions_[operation.id.value];
  const uint32_t iteration = current_iteration();
  if (execution.iteration != iteration) execution = {iteration, 0};
  return execution.count++;
}

Recording::Recorded Interpreter::Machine::recall(const Operation& operation) {
  const uint32_t execution = next_execution(operation);
  return request_.recording->recall(operation.id, current_iteration(), execution);
}

void Interpreter::Machine::record(const Operation& operation, const ResultRows& rows) {
  request_.recording->record(operation.id, current_iteration(), rows.count, operations_.values(rows));
}

Interpreter::Interpreter(const Schema& schema) : machine_(std::make_unique<Machine>(schema)) {}
Interpreter::~Interpreter() = default;
Outcome Interpreter::run(const RunRequest& request) {
  return machine_->run(request);
}
std::span<const Argument> Interpreter::results() {
  return machine_->results();
}

}  // namespace mneme
