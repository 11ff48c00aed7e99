#include "procedures/session/sql_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/parser/parser.h"
#include "procedures/query/query_runner.h"
#include "procedures/query/row_store.h"
#include "procedures/times/timestamp.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

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

// `locks`: a SELECT locks its rows; others that may not run change some in WITH.
std::string_view statement_word(ir::OperationKind kind, bool locks) {
  switch (kind) {
    case ir::OperationKind::kSelect:
      return locks ? "SELECT FOR UPDATE" : "SELECT";
    case ir::OperationKind::kInsert:
      return "INSERT";
    case ir::OperationKind::kUpdate:
      return "UPDATE";
    case ir::OperationKind::kDelete:
      break;
  }
  return "DELETE";
}

StatementResult read_only_failure(ir::OperationKind kind, bool locks = true) {
  return StatementResult::failure(
      sqlstate::kReadOnlyTransaction,
      fmt::format("cannot execute {} in a read-only transaction", statement_word(kind, locks)));
}

}  // namespace

StatementResult failure_of(const SourceError& error) {
  StatementResult result = StatementResult::failure(
      error.sqlstate != nullptr ? error.sqlstate : sqlstate::kSyntaxError,
      fmt::format("line {}:{}: {}", error.where.line, error.where.column, error.message));
  result.where = error.where;
  result.hint = error.hint;
  result.detail = error.detail;
  result.client_message = error.client_message;
  return result;
}

ParsedStatement parse_statement(std::string_view text) {
  try {
    return {parse_command(text), {}};
  } catch (const SourceError& error) {
    return {std::nullopt, failure_of(error)};
  }
}

static SessionOptions with_last_drawn(SessionOptions options, LastDrawn& last) {
  options.last_drawn = &last;
  return options;
}

SqlSession::SqlSession(const Program& program, Database& database, WorkerId worker,
                       const SessionOptions& options)
    : program_(program),
      database_(database),
      calls_(program, database, worker, with_last_drawn(options, last_drawn_)),
      transaction_(database, database.worker(worker)),
      pause_(database.worker_count(), ~worker.value * 0x9e3779b97f4a7c15),
      interpreter_(database.schema()),
      queries_(std::make_unique<query::QueryRunner>(database.schema())),
      sequences_(database, transaction_, &last_drawn_) {}

SqlSession::~SqlSession() = default;

void SqlSession::count_rows(query::RowCounts* counts) {
  queries_->count_rows(counts);
}

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

StatementResult SqlSession::run(const syntax::Command& command, StopRequest* stop) {
  CHECK(!command.changes_schema());
  return ending_where_it_throws([&] { return run_text(command, stop); });
}

StatementResult SqlSession::run_text(const syntax::Command& command, StopRequest* stop) {
  using Kind = syntax::Command::Kind;
  if (command.kind == Kind::kDoChanges) {
    fail_block();
    return StatementResult::failure(sqlstate::kNotSupported,
                                    "a DO block changes no schema here: write each change by itself");
  }
  if (command.kind != Kind::kOperation && command.kind != Kind::kCall && command.kind != Kind::kDo)
    return durable(control(command));
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
  StatementResult result = durable(execute(*bound, {}, rows, stop));
  if (!result.ok()) return result;
  result.columns.assign(bound->columns().begin(), bound->columns().end());
  result.rows = std::move(texts.rows);
  return result;
}

StatementResult SqlSession::execute(const BoundStatement& statement, std::span<const Argument> parameters,
                                    ResultSink& rows, StopRequest* stop, uint32_t most_attempts) {
  CHECK(parameters.size() == statement.parameters().size());
  stop_ = stop;
  most_attempts_ = most_attempts;
  return ending_where_it_throws([&] { return run_bound(statement, parameters, rows); });
}

// Locks count as changes.
bool SqlSession::may_change(const BoundStatement& statement) const {
  if (const BoundCall* call = statement.call(); call != nullptr)
    return program_.procedure(call->callee).writes;
  if (const BoundBlock* block = statement.block(); block != nullptr) return block->procedure.writes;
  return !statement.is_read();
}

StatementResult SqlSession::run_bound(const BoundStatement& statement, std::span<const Argument> parameters,
                                      ResultSink& rows) {
  if (block_ == Block::kFailed) return in_failed_block();
  sequences_.set_read_only(is_read_only_);
  has_touched_rows_ |= statement.touches_rows();
  has_changed_rows_ |= statement.touches_rows() && may_change(statement);
  has_read_rows_ |=
      statement.touches_rows() && (statement.with() != nullptr || !statement.command().operation ||
                                   statement.command().operation->kind != ir::OperationKind::kInsert);
  StatementResult result;
  if (const BoundQuery* query = statement.query(); query != nullptr) {
    const ir::OperationKind kind = statement.command().operation->kind;
    if (is_read_only_ && !statement.is_read()) {
      result = read_only_failure(kind);
    } else {
      result = run_query(*query, kind, parameters, rows);
    }
  } else if (statement.with() != nullptr) {
    result = is_read_only_ ? read_only_failure(statement.command().operation->kind, /*locks=*/false)
                           : run_with(statement, parameters, rows);
  } else if (statement.select() != nullptr) {
    const bool locks = is_read_only_ && !statement.is_read();
    result = locks ? read_only_failure(statement.command().operation->kind)
                   : run_select(statement, parameters, rows);
  } else if (statement.change() != nullptr) {
    result = is_read_only_ ? read_only_failure(statement.command().operation->kind)
                           : run_change(statement, parameters, rows);
  } else if (statement.block() != nullptr) {
    result = run_block(*statement.block());
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

StatementResult SqlSession::conflict() {
  return StatementResult::failure(sqlstate::kSerializationFailure,
                                  "could not serialize access due to concurrent update");
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
    has_touched_rows_ = has_changed_rows_ = has_read_rows_ = false;
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
      if (sequences_.met_conflict()) {
        transaction_.abort();
        return Ran::kConflict;
      }
      failure = StatementResult::failure(outcome.sqlstate, std::string(outcome.message));
      failure.detail = outcome.detail;
      failure.hint = outcome.hint;
      return roll_back(failure);
    case Outcome::Kind::kStopped:
      // It says nothing of what was read, so it counts whether that was consistent or not.
      failure = StatementResult::failure(outcome.sqlstate, std::string(outcome.message));
      if (savepoints_.empty()) transaction_.abort();
      return Ran::kFailed;
    case Outcome::Kind::kOutOfMemory:
      break;
    case Outcome::Kind::kOutsideHint:
      CHECK(false && "no key is checked where none is told");
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
                                    "a row of a table that has no primary key was changed, and this log, "
                                    "made with --log all, names rows by it; INSERT is all that such a table "
                                    "takes");
  return Ran::kFailed;
}

StatementResult SqlSession::log_failure() const {
  const std::optional<Error> error = database_.log().failure();
  CHECK(error.has_value());
  return StatementResult::failure(sqlstate::kIoError, error->message);
}

}  // namespace mneme
