// The statements of a session: operations, queries and calls. Each runs in a transaction of its own or in the
// block that is open (sql_session.cc).
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "engine/table/row_wait.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/query/query_runner.h"
#include "procedures/query/row_store.h"
#include "procedures/session/sql_session.h"
#include "procedures/session/statement_rows.h"
#include "procedures/times/timestamp.h"

namespace mneme {
namespace {

// How long a statement keeps trying while a block that is open, as one may be for ever, is in its way.
constexpr std::chrono::seconds kLongestTry{10};

}  // namespace

bool SqlSession::run_attempts(FunctionRef<Ran()> attempt, StatementResult& result) {
  pause_.begin();
  for (uint32_t attempts = 1;; ++attempts) {
    if (block_ == Block::kNone) {
      sequences_.rolled_back();
      attempts == 1 ? transaction_.begin() : transaction_.begin_again();
    }
    // What an attempt before raised does not count, where it had read an inconsistent state.
    result = StatementResult();
    Ran ran = attempt();
    if (ran == Ran::kCompleted && block_ == Block::kNone) ran = commit(result);
    if (ran == Ran::kFailed) return false;
    if (ran == Ran::kCompleted) return true;
    if (block_ != Block::kNone || attempts >= most_attempts_ || RowWait::has_ended() ||
        pause_.waited() > kLongestTry) {
      result = conflict();
      result.gave_up = block_ == Block::kNone;
      return false;
    }
    pause_.after_conflict();
  }
}

std::string tag_of(ir::OperationKind kind, uint64_t rows) {
  switch (kind) {
    case ir::OperationKind::kSelect:
      return fmt::format("SELECT {}", rows);
    case ir::OperationKind::kInsert:
      return fmt::format("INSERT 0 {}", rows);
    case ir::OperationKind::kUpdate:
      return fmt::format("UPDATE {}", rows);
    case ir::OperationKind::kDelete:
      return fmt::format("DELETE {}", rows);
  }
  CHECK(false && "a kind of operation");
  return {};
}

bool hand_on(std::span<const ResultColumn> columns, std::span<const Value> values, Arena& arena,
             std::vector<Argument>& row, ResultSink& rows) {
  row.resize(columns.size());
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = Argument::of(values[i]);
    if (!columns[i].type.is_array || values[i].is_null()) continue;
    // The text has the blanks of each char(n), which reading one as such drops.
    Type type = columns[i].type;
    if (type.kind == TypeKind::kChar) type.kind = TypeKind::kVarchar;
    const Result<Argument> array = parse_argument(type, values[i].as_text(), arena);
    if (!array.ok()) return false;
    row[i] = *array;
  }
  rows.add(row);
  return true;
}

StatementResult no_array() {
  return StatementResult::failure(
      sqlstate::kNotSupported,
      "an array of the result has elements of another type than its own; cast the "
      "elements before they are collected");
}

StatementResult SqlSession::run_query(const BoundQuery& query, ir::OperationKind kind,
                                      std::span<const Argument> parameters, ResultSink& rows) {
  std::vector<Argument> arguments(parameters.begin(), parameters.end());
  for (const Argument& hidden : hidden_arguments(query.procedure)) arguments.push_back(hidden);
  RecordedRows recorded(query.columns, rows);
  RunRequest request = RunRequest::of(query.procedure, arguments, transaction_);
  request.body = query.body;
  request.recording = &recorded;
  request.sequences = &sequences_;
  request.stop = stop_;
  StatementResult result;
  const bool done = run_attempts(
      [&] {
        recorded.begin();
        return run_body(request, result);
      },
      result);
  if (done) result.tag = tag_of(kind, recorded.count());
  return result;
}

StatementResult SqlSession::run_select(const BoundStatement& statement, std::span<const Argument> parameters,
                                       ResultSink& rows) {
  StatementResult result;
  uint64_t count = 0;
  const bool done =
      run_attempts([&] { return find_selected(statement, parameters, {}, rows, count, result); }, result);
  if (done) result.tag = fmt::format("SELECT {}", count);
  return result;
}

SqlSession::Ran SqlSession::find_selected(const BoundStatement& statement,
                                          std::span<const Argument> parameters,
                                          std::span<const query::RowStore* const> given, ResultSink& rows,
                                          uint64_t& count, StatementResult& failure) {
  const BoundSelect& select = *statement.select();
  const QueryInputs inputs(select.procedure, parameters);
  std::vector<Argument> row;
  bool is_read = true;
  const auto add = [&](std::span<const Value> values) {
    arena_.reset();
    is_read = hand_on(select.columns, values, arena_, row, rows);
    ++count;
    return is_read;
  };
  rows.begin(select.columns);
  count = 0;
  const Ran ran = ended(queries_->run(select.queries, inputs.variables, inputs.arrays, transaction_,
                                      statement.system(), &sequences_, stop_, add, given),
                        failure);
  failure.raised = queries_->notices();
  if (is_read || ran != Ran::kCompleted) return ran;
  failure = no_array();
  return roll_back(failure);
}

std::vector<Argument> SqlSession::hidden_arguments(const ir::Procedure& procedure) const {
  if (!procedure.call_time.valid()) return {};
  return {Argument::of(Value::of_int(current_timestamp()))};
}

// A DO is logged by the rows that it changes.
StatementResult SqlSession::run_block(const BoundBlock& block) {
  if (is_read_only_ && block.procedure.writes) {
    return StatementResult::failure(sqlstate::kReadOnlyTransaction,
                                    "cannot execute DO of a block that writes in a read-only transaction");
  }
  StatementResult result;
  Notices raised;
  const bool done = run_attempts(
      [&] {
        raised = {};
        const std::vector<Argument> arguments = hidden_arguments(block.procedure);
        RunRequest request = RunRequest::of(block.procedure, arguments, transaction_);
        request.sequences = &sequences_;
        request.stop = stop_;
        request.notices = &raised;
        return run_body(request, result);
      },
      result);
  result.raised = raised;
  if (done) result.tag = "DO";
  return result;
}

StatementResult SqlSession::run_call(const BoundCall& bound, std::span<const Argument> parameters,
                                     ResultSink& rows) {
  const ir::Procedure& callee = program_.procedure(bound.callee);
  std::vector<Argument> arguments(parameters.begin(), parameters.end());
  arguments.resize(bound.procedure.parameters.size());
  for (const Argument& hidden : hidden_arguments(bound.procedure)) arguments.push_back(hidden);
  RunRequest request;
  request.procedure = &bound.procedure;
  request.body = bound.procedure.body;
  request.arguments = arguments;
  const Outcome outcome = interpreter_.run(request);
  if (!outcome.completed()) return StatementResult::failure(outcome.sqlstate, std::string(outcome.message));

  arena_.reset();
  Call call{bound.callee, {}};
  const std::span<const Argument> values = interpreter_.results();
  size_t taken = 0;  // of them
  std::string fault;
  // The next value that the bound procedure computed, as one of `type`.
  const auto take = [&](const Type& type) {
    Value value = values[taken].scalar;
    if (type.is_string() && !value.is_null()) value = Value::of_text(arena_.copy(value.as_text()));
    const ir::Parameter& own = bound.procedure.parameters[parameters.size() + taken];
    if (fault.empty()) fault = fit_argument(bound.procedure.variables[own.variable.value].type, type, value);
    ++taken;
    return value;
  };
  for (size_t i = 0; i < callee.parameters.size(); ++i) {
    const Type& type = argument_type(callee, i);
    if (!type.is_array) {
      call.arguments.push_back(Argument::of(take(type)));
    } else if (const BoundCall::Array& array = bound.arrays[i]; array.parameter) {
      call.arguments.push_back(parameters[*array.parameter]);
    } else if (array.elements) {
      const std::span<Value> elements = arena_.make_array<Value>(*array.elements);
      for (Value& each : elements) each = take(type.element());
      call.arguments.push_back(Argument::of_array(elements));
    } else if (!array.text) {
      call.arguments.emplace_back();
    } else {
      SqlError error;
      if (!parse_argument(type, *array.text, arena_, call.arguments.emplace_back(), error)) {
        return StatementResult::failure(error.sqlstate, std::string(error.message));
      }
    }
    if (!fault.empty()) {
      return StatementResult::failure(
          unfit_argument_state(type.element()),
          fmt::format("argument {} of procedure {} {}", i + 1, callee.name, fault));
    }
  }
  return block_ == Block::kNone ? call_alone(call, rows) : call_in_block(call, rows);
}

namespace {

StatementResult called(const ir::Procedure& callee, std::span<const Argument> results, ResultSink& rows) {
  // What a void function returns is an empty text, and NULL in LANGUAGE sql.
  const Argument nothing = callee.is_sql ? Argument() : Argument::of(Value::of_text(""));
  if (callee.is_function && results.empty()) results = {&nothing, 1};
  if (!results.empty()) rows.add(results);
  StatementResult told;
  told.tag = callee.is_function ? "SELECT 1" : "CALL";
  return told;
}

}  // namespace

StatementResult SqlSession::call_alone(const Call& call, ResultSink& rows) {
  const CallResult done = calls_.run(call, LoggedAs::kContent, stop_, most_attempts_);
  StatementResult result;
  switch (done.status) {
    case CallResult::Status::kCommitted:
      result = called(program_.procedure(call.procedure), done.results, rows);
      result.lsn = done.lsn;
      result.raised = calls_.notices();
      return result;
    case CallResult::Status::kRolledBack:
      result = StatementResult::failure(std::string(done.sqlstate), std::string(done.message));
      result.detail = done.detail;
      result.hint = done.hint;
      result.lsn = done.lsn;
      result.raised = calls_.notices();
      return result;
    case CallResult::Status::kStopped:
      return StatementResult::failure(std::string(done.sqlstate), std::string(done.message));
    case CallResult::Status::kRefused:
      return StatementResult::failure(
          done.sqlstate.empty() ? sqlstate::kNotInPrerequisiteState : std::string(done.sqlstate),
          std::string(done.message));
    case CallResult::Status::kGaveUp:
      result = conflict();
      result.gave_up = true;
      return result;
    case CallResult::Status::kOutOfMemory:
      return StatementResult::failure(sqlstate::kOutOfMemory, std::string(done.message));
    case CallResult::Status::kLogFailed:
      break;
  }
  return log_failure();
}

StatementResult SqlSession::call_in_block(const Call& clients, ResultSink& rows) {
  const ir::Procedure& procedure = program_.procedure(clients.procedure);
  Call call = clients;
  for (const Argument& hidden : hidden_arguments(procedure)) call.arguments.push_back(hidden);
  const char* code = "";
  if (const Result<void> checked = check_call(program_, call, &code); !checked) {
    return StatementResult::failure(code, checked.error().message);
  }
  StatementResult failure;
  Notices raised;
  RunRequest request = RunRequest::of(procedure, call.arguments, transaction_);
  request.sequences = &sequences_;
  request.stop = stop_;
  request.notices = &raised;
  const Ran ran = run_body(request, failure);
  failure.raised = raised;
  switch (ran) {
    case Ran::kCompleted: {
      StatementResult result = called(procedure, interpreter_.results(), rows);
      result.raised = std::move(raised);
      return result;
    }
    case Ran::kConflict:
      return conflict();
    case Ran::kFailed:
      break;
  }
  return failure;
}

}  // namespace mneme
