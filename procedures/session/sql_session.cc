#include "procedures/session/sql_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <unordered_set>

#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/parser/parser.h"
#include "procedures/query/query_runner.h"
#include "procedures/query/row_store.h"
#include "procedures/values/timestamp.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

constexpr uint32_t kMostAttempts = 10'000;

StatementResult conflict() {
  return StatementResult::failure(sqlstate::kSerializationFailure,
                                  "could not serialize access due to concurrent update");
}

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

// The rows of a result in PostgreSQL's text.
class TextRows final : public ResultSink {
 public:
  explicit TextRows(StatementResult& result) : result_(result) {}

  void begin(std::span<const ResultColumn> columns) override {
    columns_ = columns;
    result_.rows.clear();
  }
  void add(std::span<const Argument> row) override {
    auto& texts = result_.rows.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) texts.push_back(print_argument(columns_[i].type, row[i]));
  }

 private:
  std::span<const ResultColumn> columns_;
  StatementResult& result_;
};

std::string_view statement_word(ir::OperationKind kind) {
  switch (kind) {
    case ir::OperationKind::kSelect:
      return "SELECT FOR UPDATE";
    case ir::OperationKind::kInsert:
      return "INSERT";
    case ir::OperationKind::kUpdate:
      return "UPDATE";
    case ir::OperationKind::kDelete:
      break;
  }
  return "DELETE";
}

StatementResult read_only_failure(ir::OperationKind kind) {
  return StatementResult::failure(
      sqlstate::kReadOnlyTransaction,
      fmt::format("cannot execute {} in a read-only transaction", statement_word(kind)));
}

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

StatementResult failure_of(const SourceError& error) {
  StatementResult result = StatementResult::failure(
      error.sqlstate != nullptr ? error.sqlstate : sqlstate::kSyntaxError,
      fmt::format("line {}:{}: {}", error.where.line, error.where.column, error.message));
  result.where = error.where;
  return result;
}

ParsedStatement parse_statement(std::string_view text) {
  try {
    return {parse_command(text), {}};
  } catch (const SourceError& error) {
    return {std::nullopt, failure_of(error)};
  }
}

SqlSession::SqlSession(const Program& program, Database& database, WorkerId worker,
                       const SessionOptions& options)
    : program_(program),
      database_(database),
      calls_(program, database, worker, options),
      transaction_(database, database.worker(worker)),
      interpreter_(database.schema()),
      queries_(std::make_unique<query::QueryRunner>(database.schema())),
      sequences_(database, transaction_) {}

SqlSession::~SqlSession() = default;

template <typename Work>
StatementResult SqlSession::ending_where_it_throws(Work&& work) {
  try {
    return work();
  } catch (...) {
    // No memory, most likely. A transaction that is never ended would keep the rows that it claimed.
    transaction_.abort();
    if (block_ == Block::kOpen) block_ = Block::kFailed;
    throw;
  }
}

StatementResult SqlSession::run(const syntax::Command& command) {
  CHECK(!command.changes_schema());
  return ending_where_it_throws([&] { return run_text(command); });
}

StatementResult SqlSession::run_text(const syntax::Command& command) {
  using Kind = syntax::Command::Kind;
  if (command.kind != Kind::kOperation && command.kind != Kind::kCall) return durable(control(command));
  if (block_ == Block::kFailed) return in_failed_block();
  if (command.parameters > 0) {
    fail_block();
    return StatementResult::failure(sqlstate::kUndefinedParameter, "there is no parameter $1");
  }
  std::optional<BoundStatement> bound;
  try {
    // The command outlives what is bound to it.
    bound.emplace(program_, std::shared_ptr<const syntax::Command>(std::shared_ptr<void>(), &command));
  } catch (const SourceError& error) {
    fail_block();
    return failure_of(error);
  }
  StatementResult texts;
  TextRows rows(texts);
  StatementResult result = durable(execute(*bound, {}, rows));
  if (!result.ok()) return result;
  result.columns.assign(bound->columns().begin(), bound->columns().end());
  result.rows = std::move(texts.rows);
  return result;
}

StatementResult SqlSession::execute(const BoundStatement& statement, std::span<const Argument> parameters,
                                    ResultSink& rows, StopRequest* stop) {
  CHECK(parameters.size() == statement.parameters().size());
  stop_ = stop;
  return ending_where_it_throws([&] { return run_bound(statement, parameters, rows); });
}

StatementResult SqlSession::run_bound(const BoundStatement& statement, std::span<const Argument> parameters,
                                      ResultSink& rows) {
  if (block_ == Block::kFailed) return in_failed_block();
  has_touched_rows_ |= statement.touches_rows();
  has_read_rows_ |=
      statement.touches_rows() &&
      (!statement.command().operation || statement.command().operation->kind != ir::OperationKind::kInsert);
  StatementResult result;
  if (const BoundQuery* query = statement.query(); query != nullptr) {
    const ir::OperationKind kind = statement.command().operation->kind;
    if (is_read_only_ && !statement.is_read()) {
      result = read_only_failure(kind);
    } else {
      result = run_query(*query, kind, parameters, rows);
    }
  } else if (statement.select() != nullptr) {
    result = run_select(statement, parameters, rows);
  } else if (statement.change() != nullptr) {
    result = is_read_only_ ? read_only_failure(statement.command().operation->kind)
                           : run_change(statement, parameters, rows);
  } else if (is_read_only_ && program_.procedure(statement.call()->callee).writes) {
    result =
        StatementResult::failure(sqlstate::kReadOnlyTransaction,
                                 "cannot execute CALL of a procedure that writes in a read-only transaction");
  } else {
    rows.begin(statement.columns());
    result = run_call(*statement.call(), parameters, rows);
  }
  if (!result.ok()) fail_block();
  return result;
}

StatementResult SqlSession::control(const syntax::Command& command) {
  switch (command.kind) {
    case syntax::Command::Kind::kCommit:
      return end_block(true);
    case syntax::Command::Kind::kRollBack:
      return end_block(false);
    case syntax::Command::Kind::kSavepoint:
    case syntax::Command::Kind::kRelease:
    case syntax::Command::Kind::kRollBackTo:
      return control_savepoint(command);
    default:
      break;
  }
  CHECK(command.kind == syntax::Command::Kind::kBegin);
  return block_ == Block::kFailed ? in_failed_block() : begin_block(command.read_only);
}

StatementResult SqlSession::in_failed_block() {
  return StatementResult::failure(
      sqlstate::kFailedTransaction,
      "current transaction is aborted, commands ignored until end of transaction block");
}

StatementResult SqlSession::durable(StatementResult result) {
  if (!result.lsn || database_.log().wait_durable(*result.lsn)) return result;
  return log_failure();
}

void SqlSession::fail_block() {
  if (block_ == Block::kNone) return;
  if (savepoints_.empty()) transaction_.abort();
  block_ = Block::kFailed;
}

StatementResult SqlSession::control_savepoint(const syntax::Command& command) {
  using Kind = syntax::Command::Kind;
  const std::string_view word = command.kind == Kind::kSavepoint ? "SAVEPOINT"
                                : command.kind == Kind::kRelease ? "RELEASE SAVEPOINT"
                                                                 : "ROLLBACK TO SAVEPOINT";
  if (block_ == Block::kNone) {
    return StatementResult::failure(sqlstate::kNoActiveTransaction,
                                    fmt::format("{} can only be used in transaction blocks", word));
  }
  if (block_ == Block::kFailed && command.kind != Kind::kRollBackTo) return in_failed_block();
  StatementResult result;
  result.tag = command.kind == Kind::kRollBackTo ? "ROLLBACK"
               : command.kind == Kind::kRelease  ? "RELEASE"
                                                 : "SAVEPOINT";
  if (command.kind == Kind::kSavepoint) {
    savepoints_.push_back({command.name.text, transaction_.savepoint()});
    return result;
  }
  const auto found = std::find_if(savepoints_.rbegin(), savepoints_.rend(),
                                  [&](const NamedSavepoint& each) { return each.name == command.name.text; });
  if (found == savepoints_.rend()) {
    fail_block();
    return StatementResult::failure(sqlstate::kInvalidSavepoint,
                                    fmt::format("savepoint \"{}\" does not exist", command.name.text));
  }
  if (command.kind == Kind::kRelease) {
    savepoints_.erase(found.base() - 1, savepoints_.end());
    return result;
  }
  savepoints_.erase(found.base(), savepoints_.end());
  sequences_.rolled_back();  // what it wrote of them since is taken back, too
  // A conflict has ended the transaction.
  if (!transaction_.is_running() || !transaction_.roll_back_to(savepoints_.back().point)) {
    transaction_.abort();
    block_ = Block::kFailed;
    return conflict();
  }
  block_ = Block::kOpen;
  return result;
}

StatementResult SqlSession::begin_block(bool read_only) {
  StatementResult result;
  result.tag = "BEGIN";
  if (block_ == Block::kNone) {
    sequences_.rolled_back();
    transaction_.begin();
    block_ = Block::kOpen;
    is_read_only_ = read_only;
    has_touched_rows_ = has_read_rows_ = false;
  } else {
    result.warning = "there is already a transaction in progress";
  }
  return result;
}

StatementResult SqlSession::end_block(bool commit_it) {
  StatementResult result;
  const Block block = std::exchange(block_, Block::kNone);
  is_read_only_ = false;
  savepoints_.clear();
  if (block == Block::kNone) {
    result.tag = commit_it ? "COMMIT" : "ROLLBACK";
    result.warning = "there is no transaction in progress";
    return result;
  }
  if (block == Block::kFailed || !commit_it) {
    transaction_.abort();
    result.tag = "ROLLBACK";
    return result;
  }
  switch (commit(result)) {
    case Ran::kCompleted:
      result.tag = "COMMIT";
      return result;
    case Ran::kConflict:
      return conflict();
    case Ran::kFailed:
      break;
  }
  return result;
}

template <typename Attempt>
bool SqlSession::run_attempts(Attempt&& attempt, StatementResult& result) {
  for (uint32_t attempts = 1;; ++attempts) {
    if (block_ == Block::kNone) {
      sequences_.rolled_back();
      attempts == 1 ? transaction_.begin() : transaction_.begin_again();
    }
    Ran ran = attempt();
    if (ran == Ran::kCompleted && block_ == Block::kNone) ran = commit(result);
    if (ran == Ran::kFailed) return false;
    if (ran == Ran::kCompleted) return true;
    if (block_ != Block::kNone || attempts == kMostAttempts) {
      result = conflict();
      return false;
    }
    std::this_thread::yield();
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
        std::vector<Argument> arguments(select.columns.size());
        for (size_t i = 0; i < found.size() && ran == Ran::kCompleted; ++i) {
          arguments.resize(select.columns.size());
          for (size_t column = 0; column < select.columns.size(); ++column)
            arguments[column] = Argument::of(found.row(i)[column]);
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
          ran = run_body(request, result);
        }
        return ran;
      },
      result);
  if (done) result.tag = tag_of(kind, recorded.count());
  return result;
}

SqlSession::Ran SqlSession::run_body(const RunRequest& request, StatementResult& failure) {
  return ended(interpreter_.run(request), failure);
}

SqlSession::Ran SqlSession::ended(const Outcome& outcome, StatementResult& failure) {
  switch (outcome.kind) {
    case Outcome::Kind::kCompleted:
      return Ran::kCompleted;
    case Outcome::Kind::kConflict:
      transaction_.abort();
      return Ran::kConflict;
    case Outcome::Kind::kRaised:
      // Another transaction draws from the same sequence.
      if (std::string_view(outcome.sqlstate) == sqlstate::kSerializationFailure) {
        transaction_.abort();
        return Ran::kConflict;
      }
      failure = StatementResult::failure(outcome.sqlstate, std::string(outcome.message));
      return roll_back(failure);
    case Outcome::Kind::kStopped:
      // It says nothing of what was read, so it counts whether that was consistent or not.
      failure = StatementResult::failure(outcome.sqlstate, std::string(outcome.message));
      if (savepoints_.empty()) transaction_.abort();
      return Ran::kFailed;
    case Outcome::Kind::kOutOfMemory:
      break;
  }
  transaction_.abort();
  failure = StatementResult::failure(sqlstate::kOutOfMemory,
                                     "the database is full: there is no room for another row");
  return Ran::kFailed;
}

SqlSession::Ran SqlSession::roll_back(StatementResult& failure) {
  if (!savepoints_.empty()) {
    if (transaction_.has_read_consistently()) {
      failure.lsn = transaction_.highest_read();
      return Ran::kFailed;
    }
    transaction_.abort();
    return Ran::kConflict;
  }
  // The values that raised may have been read from an inconsistent state: then the error does not count.
  const CommitOutcome ended = transaction_.roll_back();
  if (ended.status == CommitStatus::kConflict) return Ran::kConflict;
  if (ended.status == CommitStatus::kLogFailed) failure = log_failure();
  failure.lsn = ended.lsn;
  return Ran::kFailed;
}

SqlSession::Ran SqlSession::commit(StatementResult& result) {
  const CommitOutcome committed = transaction_.commit_ad_hoc();
  if (committed.status != CommitStatus::kCommitted) sequences_.rolled_back();
  switch (committed.status) {
    case CommitStatus::kCommitted:
      sequences_.committed();
      result.lsn = committed.lsn;
      return Ran::kCompleted;
    case CommitStatus::kConflict:
      return Ran::kConflict;
    case CommitStatus::kLogFailed:
      result = log_failure();
      return Ran::kFailed;
    case CommitStatus::kTooLarge:
      result = StatementResult::failure(
          sqlstate::kProgramLimit,
          fmt::format(
              "the rows that were changed take more than the {} bytes that a log record holds; change fewer "
              "in one transaction",
              kMaxPayloadBytes));
      return Ran::kFailed;
    case CommitStatus::kUnnamed:
      break;
  }
  result = StatementResult::failure(sqlstate::kNotInPrerequisiteState,
                                    "a row of a table that has no primary key was changed, and the log "
                                    "names rows by it; INSERT is all that such a "
                                    "table takes");
  return Ran::kFailed;
}

StatementResult SqlSession::log_failure() const {
  const std::optional<Error> error = database_.log().failure();
  CHECK(error.has_value());
  return StatementResult::failure(sqlstate::kIoError, error->message);
}

std::vector<Argument> SqlSession::hidden_arguments(const ir::Procedure& procedure) const {
  if (!procedure.call_time.valid()) return {};
  return {Argument::of(Value::of_int(current_timestamp()))};
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
  std::span<const Argument> values = interpreter_.results();
  size_t skipped = 0;  // arrays, which the bound procedure does not have
  for (size_t i = 0; i < callee.parameters.size(); ++i) {
    const Type& type = argument_type(callee, i);
    if (!type.is_array) {
      Value value = values.front().scalar;
      if (type.is_string() && !value.is_null()) value = Value::of_text(arena_.copy(value.as_text()));
      const Type& own =
          bound.procedure
              .variables[bound.procedure.parameters[parameters.size() + call.arguments.size() - skipped]
                             .variable.value]
              .type;
      if (const std::string fault = fit_argument(own, type, value); !fault.empty()) {
        return StatementResult::failure(
            unfit_argument_state(type),
            fmt::format("argument {} of procedure {} {}", i + 1, callee.name, fault));
      }
      call.arguments.push_back(Argument::of(value));
      values = values.subspan(1);
      continue;
    }
    ++skipped;
    if (bound.arrays[i].parameter) {
      call.arguments.push_back(parameters[*bound.arrays[i].parameter]);
    } else if (!bound.arrays[i].text) {
      call.arguments.emplace_back();
    } else {
      SqlError error;
      if (!parse_argument(type, *bound.arrays[i].text, arena_, call.arguments.emplace_back(), error)) {
        return StatementResult::failure(error.sqlstate, std::string(error.message));
      }
    }
  }
  return block_ == Block::kNone ? call_alone(call, rows) : call_in_block(call, rows);
}

namespace {

StatementResult called(std::span<const Argument> results, ResultSink& rows) {
  if (!results.empty()) rows.add(results);
  StatementResult told;
  told.tag = "CALL";
  return told;
}

}  // namespace

StatementResult SqlSession::call_alone(const Call& call, ResultSink& rows) {
  const CallResult done = calls_.run(call, LoggedAs::kContent, stop_);
  StatementResult result;
  switch (done.status) {
    case CallResult::Status::kCommitted:
      result = called(done.results, rows);
      result.lsn = done.lsn;
      return result;
    case CallResult::Status::kRolledBack:
      result = StatementResult::failure(std::string(done.sqlstate), std::string(done.message));
      result.lsn = done.lsn;
      return result;
    case CallResult::Status::kStopped:
      return StatementResult::failure(std::string(done.sqlstate), std::string(done.message));
    case CallResult::Status::kRefused:
      return StatementResult::failure(
          done.sqlstate.empty() ? sqlstate::kNotInPrerequisiteState : std::string(done.sqlstate),
          std::string(done.message));
    case CallResult::Status::kGaveUp:
      return conflict();
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
  RunRequest request = RunRequest::of(procedure, call.arguments, transaction_);
  request.stop = stop_;
  switch (run_body(request, failure)) {
    case Ran::kCompleted:
      return called(interpreter_.results(), rows);
    case Ran::kConflict:
      return conflict();
    case Ran::kFailed:
      break;
  }
  return failure;
}

}  // namespace mneme
