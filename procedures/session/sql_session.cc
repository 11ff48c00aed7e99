#include "procedures/session/sql_session.h"

#include <fmt/format.h>

#include <thread>

#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/values/timestamp.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

constexpr uint32_t kMostAttempts = 10'000;

StatementResult refused(const SourceError& error) {
  return StatementResult::failure(
      error.sqlstate != nullptr ? error.sqlstate : sqlstate::kSyntaxError,
      fmt::format("line {}:{}: {}", error.where.line, error.where.column, error.message));
}

StatementResult conflict() {
  return StatementResult::failure(sqlstate::kSerializationFailure,
                                  "could not serialize access due to concurrent update");
}

// The rows of a query, in text, as the interpreter records them: all at once.
class RowCollector final : public Recording {
 public:
  explicit RowCollector(const BoundQuery& query) : query_(query) {}

  void record(OperationId, uint32_t, uint32_t rows, std::span<const Value> values) override {
    count_ = rows;
    rows_.clear();
    const size_t width = query_.columns.size();
    if (width == 0) return;
    for (uint32_t row = 0; row < rows; ++row) {
      auto& texts = rows_.emplace_back();
      for (size_t column = 0; column < width; ++column) {
        texts.push_back(
            print_argument(query_.columns[column].type, Argument::of(values[row * width + column])));
      }
    }
  }
  Recorded recall(OperationId, uint32_t, uint32_t) override {
    CHECK(false && "a statement recalls nothing");
    return {};
  }
  std::optional<Recorded> find(OperationId, uint32_t, uint32_t) override { return std::nullopt; }

  uint32_t count() const { return count_; }
  std::vector<std::vector<std::optional<std::string>>> take() { return std::move(rows_); }

 private:
  const BoundQuery& query_;
  uint32_t count_ = 0;
  std::vector<std::vector<std::optional<std::string>>> rows_;
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

ParsedStatement parse_statement(std::string_view text) {
  try {
    return {parse_command(text), {}};
  } catch (const SourceError& error) {
    return {std::nullopt, refused(error)};
  }
}

SqlSession::SqlSession(const Program& program, Database& database, WorkerId worker,
                       const SessionOptions& options)
    : program_(program),
      database_(database),
      calls_(program, database, worker, options),
      transaction_(database, database.worker(worker)),
      interpreter_(database.schema()) {}

StatementResult SqlSession::run(const syntax::Command& command) {
  CHECK(!command.changes_schema());
  try {
    return run_any(command);
  } catch (...) {
    // No memory, most likely. A transaction that is never ended would keep the rows that it claimed.
    transaction_.abort();
    if (block_ == Block::kOpen) block_ = Block::kFailed;
    throw;
  }
}

StatementResult SqlSession::run_any(const syntax::Command& command) {
  if (command.kind == syntax::Command::Kind::kCommit) return end_block(true);
  if (command.kind == syntax::Command::Kind::kRollBack) return end_block(false);
  if (block_ == Block::kFailed) {
    return StatementResult::failure(
        sqlstate::kFailedTransaction,
        "current transaction is aborted, commands ignored until end of transaction block");
  }
  StatementResult result;
  try {
    switch (command.kind) {
      case syntax::Command::Kind::kBegin:
        return begin_block();
      case syntax::Command::Kind::kOperation:
        result = run_query(*command.operation);
        break;
      default:
        result = run_call(command);
        break;
    }
  } catch (const SourceError& error) {
    result = refused(error);
  }
  if (!result.ok()) fail_block();
  return result;
}

void SqlSession::fail_block() {
  if (block_ == Block::kNone) return;
  transaction_.abort();
  block_ = Block::kFailed;
}

StatementResult SqlSession::begin_block() {
  StatementResult result;
  result.tag = "BEGIN";
  if (block_ == Block::kNone) {
    transaction_.begin();
    block_ = Block::kOpen;
  } else {
    result.warning = "there is already a transaction in progress";
  }
  return result;
}

StatementResult SqlSession::end_block(bool commit_it) {
  StatementResult result;
  const Block block = std::exchange(block_, Block::kNone);
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

StatementResult SqlSession::run_query(const syntax::Operation& operation) {
  const BoundQuery query = bind_query(program_, operation);
  const std::vector<Argument> arguments = hidden_arguments(query.procedure);
  RowCollector collector(query);
  RunRequest request = RunRequest::of(query.procedure, arguments, transaction_);
  request.body = query.body;
  request.recording = &collector;
  StatementResult result;
  for (uint32_t attempts = 1;; ++attempts) {
    if (block_ == Block::kNone) {
      attempts == 1 ? transaction_.begin() : transaction_.begin_again();
    }
    Ran ran = run_body(request, result);
    if (ran == Ran::kCompleted && block_ == Block::kNone) ran = commit(result);
    if (ran == Ran::kFailed) return result;
    if (ran == Ran::kCompleted) break;
    if (block_ != Block::kNone || attempts == kMostAttempts) return conflict();
    std::this_thread::yield();
  }
  result.tag = tag_of(operation.kind, collector.count());
  result.columns = query.columns;
  result.rows = collector.take();
  return result;
}

SqlSession::Ran SqlSession::run_body(const RunRequest& request, StatementResult& failure) {
  const Outcome outcome = interpreter_.run(request);
  switch (outcome.kind) {
    case Outcome::Kind::kCompleted:
      return Ran::kCompleted;
    case Outcome::Kind::kConflict:
      transaction_.abort();
      return Ran::kConflict;
    case Outcome::Kind::kRaised:
      failure = StatementResult::failure(outcome.sqlstate, std::string(outcome.message));
      // The values that raised may have been read from an inconsistent state: then the error does not count.
      return transaction_.roll_back().status == CommitStatus::kConflict ? Ran::kConflict : Ran::kFailed;
    case Outcome::Kind::kOutOfMemory:
      break;
  }
  transaction_.abort();
  failure = StatementResult::failure(sqlstate::kOutOfMemory,
                                     "the database is full: there is no room for another row");
  return Ran::kFailed;
}

SqlSession::Ran SqlSession::commit(StatementResult& failure) {
  const CommitOutcome committed = transaction_.commit_ad_hoc();
  switch (committed.status) {
    case CommitStatus::kCommitted:
      return is_durable(committed.lsn, failure) ? Ran::kCompleted : Ran::kFailed;
    case CommitStatus::kConflict:
      return Ran::kConflict;
    case CommitStatus::kLogFailed:
      failure = log_failure();
      return Ran::kFailed;
    case CommitStatus::kTooLarge:
      failure = StatementResult::failure(
          sqlstate::kProgramLimit,
          fmt::format(
              "the rows that were changed take more than the {} bytes that a log record holds; change fewer "
              "in one transaction",
              kMaxPayloadBytes));
      return Ran::kFailed;
    case CommitStatus::kUnnamed:
      break;
  }
  failure = StatementResult::failure(sqlstate::kNotInPrerequisiteState,
                                     "a row of a table that has no primary key was changed, and the log "
                                     "names rows by it; INSERT is all that such a "
                                     "table takes");
  return Ran::kFailed;
}

// No result is returned before it is durable, even if this statement only read what others wrote.
bool SqlSession::is_durable(Lsn lsn, StatementResult& failure) {
  if (database_.log().wait_durable(lsn)) return true;
  failure = log_failure();
  return false;
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

StatementResult SqlSession::run_call(const syntax::Command& command) {
  const BoundCall bound = bind_call(program_, command);
  const ir::Procedure& callee = program_.procedure(bound.callee);
  std::vector<Argument> arguments(bound.procedure.parameters.size());
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
              .variables[bound.procedure.parameters[call.arguments.size() - skipped].variable.value]
              .type;
      if (const std::string fault = fit_argument(own, type, value); !fault.empty()) {
        return StatementResult::failure(
            type.is_string() ? sqlstate::kStringTooLong : sqlstate::kOutOfRange,
            fmt::format("argument {} of procedure {} {}", i + 1, callee.name, fault));
      }
      call.arguments.push_back(Argument::of(value));
      values = values.subspan(1);
      continue;
    }
    ++skipped;
    if (!bound.arrays[i]) {
      call.arguments.emplace_back();
    } else {
      const Result<Argument> array = parse_argument(type, *bound.arrays[i], arena_);
      if (!array) return StatementResult::failure(sqlstate::kInvalidText, array.error().message);
      call.arguments.push_back(*array);
    }
  }
  return block_ == Block::kNone ? call_alone(call) : call_in_block(call);
}

StatementResult SqlSession::call_alone(const Call& call) {
  const CallResult done = calls_.run(call);
  StatementResult failure;
  switch (done.status) {
    case CallResult::Status::kCommitted:
      if (!is_durable(done.lsn, failure)) return failure;
      return results_of(program_.procedure(call.procedure), done.results);
    case CallResult::Status::kRolledBack:
      if (!is_durable(done.lsn, failure)) return failure;
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

StatementResult SqlSession::call_in_block(const Call& clients) {
  const ir::Procedure& procedure = program_.procedure(clients.procedure);
  Call call = clients;
  for (const Argument& hidden : hidden_arguments(procedure)) call.arguments.push_back(hidden);
  const char* code = "";
  if (const Result<void> checked = check_call(program_, call, &code); !checked) {
    return StatementResult::failure(code, checked.error().message);
  }
  StatementResult failure;
  switch (run_body(RunRequest::of(procedure, call.arguments, transaction_), failure)) {
    case Ran::kCompleted:
      return results_of(procedure, interpreter_.results());
    case Ran::kConflict:
      return conflict();
    case Ran::kFailed:
      break;
  }
  return failure;
}

StatementResult SqlSession::results_of(const ir::Procedure& procedure,
                                       std::span<const Argument> results) const {
  StatementResult told;
  told.tag = "CALL";
  for (const ir::Parameter& parameter : procedure.parameters) {
    if (!parameter.inout) continue;
    const ir::Variable& variable = procedure.variables[parameter.variable.value];
    if (told.rows.empty()) told.rows.emplace_back();
    told.rows[0].push_back(print_argument(variable.type, results[told.columns.size()]));
    told.columns.push_back({variable.name, variable.type});
  }
  return told;
}

}  // namespace mneme
