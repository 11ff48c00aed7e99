// The statements of a session: operations, queries, changes by queries and calls. Each runs in a transaction
// of its own or in the block that is open (sql_session.cc).
#include <fmt/format.h>

#include <chrono>
#include <unordered_set>

#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/query/query_runner.h"
#include "procedures/query/row_store.h"
#include "procedures/session/sql_session.h"
#include "procedures/values/timestamp.h"

namespace mneme {

namespace {

// How long a statement keeps trying while a block that is open, as one may be for ever, is in its way.
constexpr std::chrono::seconds kLongestTry{10};

// Hands the rows that the interpreter records to a sink.
class RecordedRows final : public Recording {
 public:
  RecordedRows(std::span<const ResultColumn> columns, ResultSink& rows)
      : columns_(columns), row_(columns.size()), rows_(rows) {}

  // Before an attempt.
  void begin() {
    rows_.begin(columns_);
    count_ = 0;
  }
  void record(OperationId, uint32_t, uint32_t rows, std::span<const Value> values) override {
    count_ += rows;
    const size_t width = row_.size();
    if (width == 0 || rows == 0) return;
    const size_t stride = values.size() / rows;  // what constraints look at comes behind the columns
    for (uint32_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < width; ++column)
        row_[column] = Argument::of(values[row * stride + column]);
      rows_.add(row_);
    }
  }
  Recorded recall(OperationId, uint32_t, uint32_t) override {
    CHECK(false && "a statement recalls nothing");
    return {};
  }
  std::optional<Recorded> find(OperationId, uint32_t, uint32_t) override { return std::nullopt; }

  uint32_t count() const { return count_; }

 private:
  const std::span<const ResultColumn> columns_;
  std::vector<Argument> row_;
  ResultSink& rows_;
  uint32_t count_ = 0;
};

class NoRows final : public ResultSink {
 public:
  void begin(std::span<const ResultColumn>) override {}
  void add(std::span<const Argument>) override {}
};

std::string tag_of(ir::OperationKind kind, uint32_t rows) {
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

}  // namespace

template <typename Attempt>
bool SqlSession::run_attempts(Attempt&& attempt, StatementResult& result) {
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
    if (block_ != Block::kNone || attempts >= most_attempts_ || pause_.waited() > kLongestTry) {
      result = conflict();
      result.gave_up = block_ == Block::kNone;
      return false;
    }
    pause_.after_conflict();
  }
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

namespace {

// A value for each variable of a query: its parameters, the time, and what it sets itself.
struct QueryInputs {
  QueryInputs(const ir::Procedure& procedure, std::span<const Argument> parameters)
      : variables(procedure.variables.size()), arrays(parameters.size()) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      variables[i] = parameters[i].scalar;
      arrays[i] = {parameters[i].array, parameters[i].null_array};
    }
    if (procedure.call_time.valid())
      variables[procedure.call_time.value] = Value::of_int(current_timestamp());
  }

  std::vector<Value> variables;
  std::vector<ArrayValue> arrays;
};

}  // namespace

StatementResult SqlSession::run_select(const BoundStatement& statement, std::span<const Argument> parameters,
                                       ResultSink& rows) {
  const BoundSelect& select = *statement.select();
  const QueryInputs inputs(select.procedure, parameters);
  StatementResult result;
  std::vector<Argument> row(select.columns.size());
  uint64_t count = 0;
  const auto add = [&](std::span<const Value> values) {
    arena_.reset();
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = Argument::of(values[i]);
      if (!select.columns[i].type.is_array || values[i].is_null()) continue;
      // The query has the array's text.
      const Result<Argument> array = parse_argument(select.columns[i].type, values[i].as_text(), arena_);
      CHECK(array.ok());
      row[i] = *array;
    }
    rows.add(row);
    ++count;
    return true;
  };
  const bool done = run_attempts(
      [&] {
        rows.begin(select.columns);
        count = 0;
        return ended(queries_->run(select.queries, inputs.variables, inputs.arrays, transaction_,
                                   statement.system(), &sequences_, stop_, add),
                     result);
      },
      result);
  if (done) result.tag = fmt::format("SELECT {}", count);
  return result;
}

StatementResult SqlSession::run_change(const BoundStatement& statement, std::span<const Argument> parameters,
                                       ResultSink& rows) {
  const BoundChange& change = *statement.change();
  const ir::OperationKind kind = statement.command().operation->kind;
  const BoundSelect& select = *change.rows;
  const QueryInputs inputs(select.procedure, parameters);
  RecordedRows recorded(change.each.columns, rows);
  StatementResult result;
  const bool done = run_attempts(
      [&] {
        recorded.begin();
        arena_.reset();
        query::RowStore found(select.columns.size());
        std::unordered_set<std::string> seen;
        const auto add = [&](std::span<const Value> values) {
          std::string key;
          for (size_t i = 0; i < change.key_columns; ++i)
            query::append_key(select.columns[i].type.kind, values[i], key);
          if (change.key_columns == 0 || seen.insert(std::move(key)).second) found.add(values, &arena_);
          return true;
        };
        Ran ran = ended(queries_->run(select.queries, inputs.variables, inputs.arrays, transaction_,
                                      statement.system(), &sequences_, stop_, add),
                        result);
        std::vector<uint32_t> times(found.size(), 1);
        if (change.erase && ran == Ran::kCompleted) ran = erase_found(change, found, times, result);
        std::vector<Argument> arguments(select.columns.size());
        for (size_t i = 0; i < found.size() && ran == Ran::kCompleted; ++i) {
          arguments.resize(select.columns.size());
          for (size_t column = 0; column < select.columns.size(); ++column)
            arguments[column] = Argument::of(found.row(i)[column]);
          arguments.insert(arguments.end(), parameters.begin(), parameters.end());
          for (const Argument& hidden : hidden_arguments(change.each.procedure)) arguments.push_back(hidden);
          RunRequest request = RunRequest::of(change.each.procedure, arguments, transaction_);
          request.body = change.each.body;
          request.recording = &recorded;
          request.sequences = &sequences_;
          request.stop = stop_;
          if (!change.conflict_columns.empty()) {
            std::string key;
            for (const size_t column : change.conflict_columns)
              query::append_key(select.columns[column].type.kind, found.row(i)[column], key);
            if (!seen.insert(std::move(key)).second) {
              result = StatementResult::failure(
                  sqlstate::kCardinality, "ON CONFLICT DO UPDATE command cannot affect row a second time");
              return roll_back(result);
            }
          }
          for (uint32_t n = 0; n < times[i] && ran == Ran::kCompleted; ++n) ran = run_body(request, result);
        }
        return ran;
      },
      result);
  if (done) result.tag = tag_of(kind, recorded.count());
  return result;
}

SqlSession::Ran SqlSession::erase_found(const BoundChange& change, const query::RowStore& found,
                                        std::vector<uint32_t>& times, StatementResult& failure) {
  NoRows none;
  for (size_t i = 0; i < found.size(); ++i) {
    std::vector<Argument> arguments;
    for (size_t column = 0; column < change.key_columns; ++column)
      arguments.push_back(Argument::of(found.row(i)[column]));
    for (const Argument& hidden : hidden_arguments(change.erase->procedure)) arguments.push_back(hidden);
    RecordedRows erased({}, none);
    RunRequest request = RunRequest::of(change.erase->procedure, arguments, transaction_);
    request.body = change.erase->body;
    request.recording = &erased;
    request.stop = stop_;
    if (const Ran ran = run_body(request, failure); ran != Ran::kCompleted) return ran;
    times[i] = erased.count();
  }
  return Ran::kCompleted;
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
