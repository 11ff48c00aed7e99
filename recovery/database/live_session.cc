#include "recovery/database/live_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/replay_notes.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/schema/qualified_name.h"
#include "procedures/catalog/system_catalog.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/values/numeric.h"
#include "recovery/database/schema_change.h"

namespace mneme {

namespace {

// Whether a client that was told of the one may go on with the other.
bool is_alike(const BoundStatement& one, const BoundStatement& other) {
  const auto same_kind = [](const Type& a, const Type& b) {
    return a.kind == b.kind && a.is_array == b.is_array;
  };
  const auto same_column = [&](const ResultColumn& a, const ResultColumn& b) {
    return a.name == b.name && same_kind(a.type, b.type);
  };
  return std::ranges::equal(one.columns(), other.columns(), same_column) &&
         std::ranges::equal(one.parameters(), other.parameters(), same_kind);
}

// PostgreSQL says of a function or a type in a schema that there is not that there is no such schema.
StatementResult with_missing_schema(StatementResult failure, const Program& program) {
  const bool is_of_such =
      failure.sqlstate == sqlstate::kUndefinedFunction || failure.sqlstate == sqlstate::kUndefinedObject;
  const size_t name = failure.message.find(kSchemaBegin);
  if (!is_of_such || name == std::string::npos) return failure;
  const std::string schema(schema_of(std::string_view(failure.message).substr(name)));
  if (schema == kNowhere || program.has_schema(schema)) return failure;
  failure.sqlstate = "3F000";
  failure.message = fmt::format("schema \"{}\" does not exist", schema);
  return failure;
}

// Numbers of fewer digits after the point than their parameter's type has get the type's: another execution
// may have brought one of more digits. `widened` stays empty where there is none. False: a number gets too
// large.
bool widen(std::span<const Type> types, std::span<const uint8_t> scales, std::span<const Argument> parameters,
           std::vector<Argument>& widened) {
  for (size_t i = 0; i < scales.size(); ++i) {
    const bool is_number = types[i].kind == TypeKind::kNumeric && !types[i].is_array;
    if (!is_number || scales[i] >= types[i].scale || parameters[i].scalar.is_null()) continue;
    if (widened.empty()) widened.assign(parameters.begin(), parameters.end());
    int128 number = 0;
    if (!rescale(parameters[i].scalar.as_numeric(), scales[i], types[i].scale, number)) return false;
    widened[i] = Argument::of(Value::of_numeric(number));
  }
  return true;
}

}  // namespace

LiveSession::LiveSession(WorkingDatabase& working, WorkerId worker, uint32_t change_threads,
                         std::optional<std::chrono::milliseconds> lock_timeout, ProcedureCode code)
    : working_(working),
      worker_(worker),
      change_threads_(change_threads),
      lock_timeout_(lock_timeout),
      code_(std::move(code)) {}

LiveSession::~LiveSession() {
  session_.reset();
  leave();
}

// False: it would wait for this thread's own block.
bool LiveSession::enter() {
  if (is_inside_) {
    working_.schema_latch().go_on(worker_);
    follow_read_only();
    return true;
  }
  if (working_.schema_latch().enter(worker_) != SchemaLatch::Entered::kInside) return false;
  is_inside_ = true;
  follow_schema();
  follow_read_only();
  return true;
}

bool LiveSession::try_enter() {
  if (is_inside_) {
    working_.schema_latch().go_on(worker_);
    follow_read_only();
    return true;
  }
  if (!working_.schema_latch().try_enter(worker_)) return false;
  is_inside_ = true;
  follow_schema();
  follow_read_only();
  return true;
}

void LiveSession::follow_schema() {
  const bool is_present = session_ && version_ == working_.schema_version();
  if (is_present && !(is_interim_ && units_->result() != nullptr)) return;
  // In this order: the session of a schema that is gone must not outlive what it refers to.
  session_.reset();
  if (code_) units_ = code_();
  const CompiledUnits* const ready = units_ ? units_->result() : nullptr;
  is_interim_ = units_ != nullptr && ready == nullptr;
  SessionOptions options;
  if (ready != nullptr) options.native = ready->functions();
  session_ = std::make_unique<SqlSession>(working_.program(), working_.database(), worker_, options);
  version_ = working_.schema_version();
}

void LiveSession::follow_read_only() {
  const bool is_standby = working_.is_standby();
  if (read_only_ || is_standby) session_->set_read_only(is_standby || *read_only_);
}

bool LiveSession::is_read_only() const {
  if (working_.is_standby()) return true;
  return read_only_.value_or(block() != SqlSession::Block::kNone && session_->is_read_only());
}

void LiveSession::leave() {
  if (!is_inside_ || block() != SqlSession::Block::kNone) return;
  is_inside_ = false;
  working_.schema_latch().leave(worker_);
}

StatementResult LiveSession::run(const std::string& text, StopRequest* stop) {
  ParsedStatement parsed = parse_statement(text);
  // Each of its statements may mean what one before it has made.
  if (parsed.command && parsed.command->kind == syntax::Command::Kind::kDoChanges)
    return run_changes(*parsed.command->changes, stop);
  parsed = with_schemas_of_client(std::move(parsed));
  if (parsed.command && parsed.command->changes_schema()) {
    if (is_read_only() && block() != SqlSession::Block::kFailed) {
      fail_block();
      return StatementResult::failure(
          sqlstate::kReadOnlyTransaction,
          fmt::format("cannot execute {} in a read-only transaction", tag_of_change(*parsed.command)));
    }
    const syntax::Definition* made = parsed.command->definition ? &*parsed.command->definition : nullptr;
    if (made != nullptr && made->table && made->table->query) return create_from_query(*parsed.command);
    return change(*parsed.command, parsed.command->text);
  }
  const Leave leave{*this};
  if (!enter()) return in_way();
  StatementResult result;
  if (parsed.command) {
    result = session_->run(*parsed.command, stop);
  } else {
    session_->fail_block();
    result = parsed.failure;
  }
  return result;
}

ParsedStatement LiveSession::with_schemas_of_client(ParsedStatement parsed) {
  if (!parsed.command || client_ == nullptr) return parsed;
  const bool was_inside = is_inside_;
  if (!was_inside && working_.schema_latch().enter(worker_) != SchemaLatch::Entered::kInside)
    return {std::nullopt, in_way()};
  std::string text;
  try {
    const Program& program = working_.program();
    text = with_schemas(parsed.command->text, program, SystemCatalog(program, client_.get()).search_path());
  } catch (const SourceError& error) {
    parsed = {std::nullopt, failure_of(error)};
  }
  if (!was_inside) working_.schema_latch().leave(worker_);
  return !parsed.command || text == parsed.command->text ? std::move(parsed) : parse_statement(text);
}

StatementResult LiveSession::bind(PreparedStatement& statement) {
  const std::string_view setting = SystemCatalog::search_path_of(statement.session_.get());
  if (statement.bound_ != nullptr && statement.version_ == version_ && statement.search_path_ == setting)
    return {};
  if (block() == SqlSession::Block::kFailed) return session_->in_failed_block();
  std::string text = statement.command_->text;
  try {
    const Program& program = working_.program();
    std::shared_ptr<const syntax::Command> command = statement.command_;
    const SearchPath path = SystemCatalog(program, statement.session_.get()).search_path();
    if (!path.is_usual() && !text.empty()) {
      text = with_schemas(text, program, path);
      if (text != command->text) command = std::make_shared<const syntax::Command>(parse_command(text));
    }
    auto bound =
        std::make_unique<BoundStatement>(program, std::move(command), statement.given_, statement.session_);
    if (statement.bound_ != nullptr && !is_alike(*bound, *statement.bound_)) {
      session_->fail_block();
      return StatementResult::failure(sqlstate::kNotSupported, "cached plan must not change result type");
    }
    statement.bound_ = std::move(bound);
    statement.version_ = version_;
    statement.search_path_ = setting;
    return {};
  } catch (SourceError& error) {
    session_->fail_block();
    if (text != statement.command_->text)
      error.where = place_before(statement.command_->text, text, error.where);
    return with_missing_schema(failure_of(error), working_.program());
  }
}

std::optional<StatementResult> LiveSession::prepare(PreparedStatement& statement) {
  using Kind = syntax::Command::Kind;
  const Kind kind = statement.command().kind;
  if (kind != Kind::kOperation && kind != Kind::kCall && kind != Kind::kDo) return StatementResult();
  if (!try_enter()) return std::nullopt;
  const Leave leave{*this};
  return bind(statement);
}

namespace {

class CountedRows final : public ResultSink {
 public:
  void begin(std::span<const ResultColumn>) override { count_ = 0; }
  void add(std::span<const Argument>) override { ++count_; }
  uint64_t count() const { return count_; }

 private:
  uint64_t count_ = 0;
};

// While it lives, the session's queries count the rows of their plans' nodes.
class Counting {
 public:
  Counting(SqlSession& session, query::RowCounts& counts) : session_(session) {
    session_.count_rows(&counts);
  }
  ~Counting() { session_.count_rows(nullptr); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  SqlSession& session_;
};

}  // namespace

std::optional<StatementResult> LiveSession::explain(PreparedStatement& statement,
                                                    const ExplainOptions& options,
                                                    std::span<const Argument> parameters,
                                                    std::span<const uint8_t> scales,
                                                    std::vector<std::string>& lines, StopRequest* stop) {
  if (!try_enter()) return std::nullopt;
  const Leave leave{*this};
  StatementResult bound = bind(statement);
  if (!bound.ok()) return bound;
  const BoundStatement& explained = *statement.bound_;
  const AnalyzedNotes notes(working_.program(), holds_calls(working_.database().record_content()),
                            block() != SqlSession::Block::kNone);
  if (!options.analyze) {
    lines = mneme::explain(working_.program(), explained, notes, nullptr);
    return bound;
  }
  if (explained.call() != nullptr || explained.with() != nullptr ||
      explained.command().operation->kind != ir::OperationKind::kSelect) {
    session_->fail_block();
    return StatementResult::failure(
        sqlstate::kNotSupported,
        "EXPLAIN ANALYZE runs a SELECT alone, and no function as one; leave ANALYZE out");
  }
  ExplainCounts counts;
  CountedRows rows;
  const Counting counting(*session_, counts.nodes);
  const uint64_t begun = monotonic_ns();
  StatementResult result = execute_bound(statement, parameters, scales, rows, stop, kMostAttempts);
  const uint64_t nanoseconds = monotonic_ns() - begun;
  if (!result.ok()) return result;
  counts.rows = rows.count();
  lines = mneme::explain(working_.program(), *statement.bound_, notes, &counts);
  if (options.summary && options.timing)
    lines.push_back(fmt::format("Execution Time: {:.3f} ms", static_cast<double>(nanoseconds) / 1e6));
  return result;
}

std::optional<StatementResult> LiveSession::execute(PreparedStatement& statement,
                                                    std::span<const Argument> parameters,
                                                    std::span<const uint8_t> scales, ResultSink& rows,
                                                    StopRequest* stop, uint32_t most_attempts) {
  if (!try_enter()) return std::nullopt;
  const Leave leave{*this};
  return bind_and_execute(statement, parameters, scales, rows, stop, most_attempts);
}

std::optional<StatementResult> LiveSession::execute_alone(PreparedStatement& statement,
                                                          std::span<const Argument> parameters,
                                                          std::span<const uint8_t> scales, ResultSink& rows,
                                                          StopRequest* stop,
                                                          std::chrono::milliseconds longest) {
  CHECK(!is_inside_);
  SchemaLatch::Change others(working_.schema_latch());
  if (others.stop_workers(longest) != SchemaLatch::Change::Stopped::kStopped) return std::nullopt;
  follow_schema();
  follow_read_only();
  return bind_and_execute(statement, parameters, scales, rows, stop, kMostAttempts);
}

StatementResult LiveSession::bind_and_execute(PreparedStatement& statement,
                                              std::span<const Argument> parameters,
                                              std::span<const uint8_t> scales, ResultSink& rows,
                                              StopRequest* stop, uint32_t most_attempts) {
  StatementResult bound = bind(statement);
  if (!bound.ok()) return bound;
  return execute_bound(statement, parameters, scales, rows, stop, most_attempts);
}

StatementResult LiveSession::execute_bound(PreparedStatement& statement, std::span<const Argument> parameters,
                                           std::span<const uint8_t> scales, ResultSink& rows,
                                           StopRequest* stop, uint32_t most_attempts) {
  try {
    statement.bound_->fit_digits(working_.program(), scales);
  } catch (const SourceError& error) {
    session_->fail_block();
    return failure_of(error);
  }
  std::vector<Argument> widened;
  if (!widen(statement.bound_->parameters(), scales, parameters, widened)) {
    session_->fail_block();
    return StatementResult::failure(sqlstate::kOutOfRange, "numeric field overflow");
  }
  return session_->execute(*statement.bound_, widened.empty() ? parameters : widened, rows, stop,
                           most_attempts);
}

std::optional<StatementResult> LiveSession::control(const syntax::Command& command) {
  if (!try_enter()) return std::nullopt;
  const Leave leave{*this};
  return session_->control(command);
}

StatementResult LiveSession::change(const syntax::Command& command, const std::string& text) {
  if (block() == SqlSession::Block::kNone)
    return change_schema(working_, command, text, change_threads_, lock_timeout_);
  if (block() == SqlSession::Block::kFailed) return SqlSession::in_failed_block();
  if (session_->has_changed_rows() && !change_commits_) {
    session_->fail_block();
    StatementResult refused = StatementResult::failure(
        sqlstate::kActiveTransaction,
        fmt::format("{} cannot run inside a transaction block behind statements that change rows: "
                    "commit them first",
                    tag_of_change(command)));
    refused.hint = fmt::format("With {} = on a change of the schema commits them itself.", kChangeCommits);
    return refused;
  }
  return change_in_block(command, text);
}

// Another block takes the place of this one, behind the change. This one has done nothing, or is committed,
// which says whether what it has read still stood.
StatementResult LiveSession::change_in_block(const syntax::Command& command, const std::string& text) {
  syntax::Command again;
  again.kind = syntax::Command::Kind::kBegin;
  again.read_only = session_->is_read_only();
  syntax::Command end;
  const bool commits = session_->has_touched_rows();
  const bool changed = session_->has_changed_rows();
  end.kind = commits ? syntax::Command::Kind::kCommit : syntax::Command::Kind::kRollBack;
  StatementResult ended = session_->control(end);
  if (!ended.ok()) {
    session_->control(again);
    session_->fail_block();
    return ended;
  }
  leave();
  StatementResult result = change_schema(working_, command, text, change_threads_, lock_timeout_);
  if (!enter()) {
    return StatementResult::failure(
        sqlstate::kDeadlock, "another change of the schema waits for a block of this thread: try again");
  }
  session_->control(again);
  if (!result.ok()) {
    session_->fail_block();
  } else {
    result.warning = fmt::format("{} takes effect at once{}: ROLLBACK does not undo it", result.tag,
                                 changed ? ", and has committed what its block had done" : "");
  }
  return result;
}

}  // namespace mneme
