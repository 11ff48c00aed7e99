// The statements of a client: SQL's, and the session's own.
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/lock_wait_mark.h"
#include "engine/table/row_wait.h"
#include "server/protocol/sqlstates.h"
#include "server/session/client_session.h"

namespace mneme {

namespace {

// A statement outside of a block is run again after a conflict. It may have met the insert of an open block,
// whose client the same thread serves. So after a few attempts at once it is tried again at intervals, and
// other clients have their turn meanwhile. One that waits for locks has a helper of its own, and keeps its
// age by trying without an end.
constexpr uint32_t kAttemptsAtOnce = 8;
constexpr uint64_t kPauseNanoseconds = 1'000'000;
constexpr uint64_t kNsAMillisecond = 1'000'000;
// So long others wait for blocks to end that a statement which is to run alone has found open.
constexpr std::chrono::milliseconds kLongestStop{10};

StatementResult tagged(std::string tag) {
  StatementResult result;
  result.tag = std::move(tag);
  return result;
}

// What BEGIN says of the block: READ ONLY, READ WRITE, or nothing.
std::optional<bool> read_only_mode(const ClientStatement& statement) {
  const syntax::Command& command = *statement.command();
  if (command.kind != syntax::Command::Kind::kBegin) return std::nullopt;
  constexpr std::string_view kWrite = "write";
  const auto found = std::ranges::search(statement.text, kWrite, {}, ascii_lower);
  if (command.read_only || !found.empty()) return command.read_only;
  return std::nullopt;
}

}  // namespace

ClientSession::Ran ClientSession::run(Named& named, std::span<const Argument> parameters,
                                      std::span<const uint8_t> scales, ResultSink& rows, bool alone) {
  activity_->begin_query(named.statement.text, in_block());
  if (named.statement.command() != nullptr)
    return run_sql(named, parameters, scales, rows, alone, named.statement.explain);
  if (seat_.block() == SqlSession::Block::kFailed) return {Done::kYes, SqlSession::in_failed_block()};
  const ClientStatement& statement = named.statement;
  // A failure that the engine does not know of fails the block, too.
  const auto checked = [&](Ran ran) {
    if (ran.done == Done::kYes && !ran.result.ok() && seat_.is_taken()) seat_.session().fail_block();
    return ran;
  };
  if (Ran learned = learn_same_columns(named); learned.done != Done::kYes || !learned.result.ok())
    return checked(std::move(learned));
  if (const auto* prepare = std::get_if<PrepareStatement>(&statement.what))
    return checked(prepare_named(*prepare));
  if (const auto* execute = std::get_if<ExecuteStatement>(&statement.what))
    return checked(execute_named(*execute, rows, alone));
  if (const auto* lock = std::get_if<LockStatement>(&statement.what))
    return checked(lock_tables(*lock, alone));
  if (const auto* advisory = std::get_if<AdvisoryStatement>(&statement.what))
    return checked(run_advisory(named, *advisory, parameters, scales, rows, alone));
  if (const auto* constraints = std::get_if<ConstraintsStatement>(&statement.what))
    return checked(set_constraints(*constraints, alone));
  if (const auto* notify = std::get_if<NotifyStatement>(&statement.what))
    return checked(run_notify(*notify, alone));
  rows.begin(named.columns);
  if (const auto* cursor = std::get_if<CursorStatement>(&statement.what)) {
    switch (cursor->kind) {
      case CursorStatement::Kind::kDeclare:
        return checked(declare(named, *cursor, parameters, scales, alone));
      case CursorStatement::Kind::kFetch:
      case CursorStatement::Kind::kMove:
        return checked({Done::kYes, fetch(*cursor, rows)});
      case CursorStatement::Kind::kClose:
      case CursorStatement::Kind::kCloseAll:
        return checked({Done::kYes, close_cursor(*cursor)});
    }
  }
  if (const auto* set = std::get_if<SetStatement>(&statement.what)) return {Done::kYes, run_set(*set, rows)};
  if (const auto* what = std::get_if<DiscardStatement>(&statement.what)) return {Done::kYes, discard(*what)};
  if (const auto* idle = std::get_if<IdleStatement>(&statement.what)) {
    StatementResult done = tagged(idle->tag);
    done.warning = idle->warning;
    return {Done::kYes, std::move(done)};
  }
  return {};
}

ClientSession::Ran ClientSession::run_sql(Named& named, std::span<const Argument> parameters,
                                          std::span<const uint8_t> scales, ResultSink& rows, bool alone,
                                          const std::optional<ExplainOptions>& options) {
  const syntax::Command& command = named.prepared->command();
  if (command.changes_schema() || command.kind == syntax::Command::Kind::kDoChanges)
    return change_schema(named.statement);
  if (options && !options->analyze) return explain(named, *options, parameters, scales, rows);
  using Kind = syntax::Command::Kind;
  if (command.kind != Kind::kOperation && command.kind != Kind::kCall && command.kind != Kind::kDo)
    return control(command, read_only_mode(named.statement));
  if (waiting_ == Waiting::kNever && host_.statements_wait()) return {Done::kWork};
  if (waits_for_log()) return {Done::kRetry};
  if (conflicts_ > 0 && monotonic_ns() < next_attempt_ns_) return {Done::kRetry};
  if (!alone || named.may_notify) {
    Ran begun = begin_implicit_block();
    if (begun.done != Done::kYes || !begun.result.ok()) return begun;
  }
  if (!seat_.take()) return {Done::kRetry};
  if (waiting_ == Waiting::kNever) {
    const std::optional<StatementResult> prepared = seat_.session().prepare(*named.prepared);
    if (!prepared) return {Done::kRetry};
    if (!prepared->ok()) return {Done::kYes, *prepared};
    // A join or a group of many rows takes its time, for which this loop's other clients don't wait.
    if (named.prepared->bound()->may_take_long()) return {Done::kWork};
  }
  seat_.session().set_read_only(settings_.is_read_only());
  settings_.runs_statement();
  forget_wishes(named);
  share_activities(named);
  const LockWaitMark mark(activity_->waits_for_lock());
  if (options) return explain(named, *options, parameters, scales, rows);
  if (conflicts_ >= alone_at_conflicts_ && seat_.block() == SqlSession::Block::kNone) {
    if (waiting_ == Waiting::kNever) return {Done::kWork};
    std::optional<StatementResult> result =
        seat_.session().execute_alone(*named.prepared, parameters, scales, rows, stop_.get(), kLongestStop);
    if (result) return {Done::kYes, grant_wishes(named, *std::move(result))};
    alone_at_conflicts_ *= 2;
  }
  const uint64_t most_ms = settings_.milliseconds(kSettleTimeout);
  const auto is_asked = [this] { return is_asked_to_stop(); };
  const RowWait wait(is_asked, most_ms == 0 ? 0 : monotonic_ns() + most_ms * kNsAMillisecond);
  const uint32_t attempts = host_.statements_wait() ? kMostAttempts : conflicts_ == 0 ? kAttemptsAtOnce : 1;
  std::optional<StatementResult> result =
      seat_.session().execute(*named.prepared, parameters, scales, rows, stop_.get(), attempts);
  if (!result) return {Done::kRetry};
  if (RowWait::has_ended() && !result->ok()) {
    if (is_asked_to_stop()) return {Done::kYes, stopped()};
    return {Done::kYes,
            StatementResult::failure(sqlstate::kCannotConnectNow,
                                     "the log has yet to be replayed into rows that the statement "
                                     "needs, and it has waited for mneme.settle_timeout")};
  }
  if (result->gave_up && attempts < kMostAttempts && ++conflicts_ < kMostAttempts) {
    next_attempt_ns_ = monotonic_ns() + kPauseNanoseconds;
    activity_->waits_for_lock().store(true, std::memory_order_relaxed);
    return {Done::kRetry};
  }
  return {Done::kYes, grant_wishes(named, *std::move(result))};
}

// Those of a try that was given up.
void ClientSession::forget_wishes(const Named& named) {
  const BoundStatement* bound = named.prepared->bound();
  if (bound == nullptr || bound->system() == nullptr) return;
  static_cast<void>(bound->system()->take_wishes());
  static_cast<void>(bound->system()->take_notices());
}

std::vector<SystemCatalog::Wish> ClientSession::wishes_of(const Named& named) {
  const BoundStatement* bound = named.prepared->bound();
  if (bound == nullptr || bound->system() == nullptr) return {};
  return bound->system()->take_wishes();
}

StatementResult ClientSession::grant_wishes(const Named& named, StatementResult result) {
  const std::vector<SystemCatalog::Wish> wishes = wishes_of(named);
  result = grant_notifications(named, std::move(result));
  if (wishes.empty() || !result.ok()) return result;
  for (const SystemCatalog::Wish& wish : wishes) {
    if (wish.is_local && !in_block()) continue;  // its block has ended with it
    StatementResult set = settings_.set(wish.name, wish.value, wish.is_local);
    if (set.ok()) continue;
    if (seat_.is_taken()) seat_.session().fail_block();
    return set;
  }
  share_settings();
  return result;
}

bool ClientSession::waits_for_log() const {
  return seat_.block() == SqlSession::Block::kNone && host_.durable().value < settings_.place(kWaitForLsn);
}

ClientSession::Ran ClientSession::control(const syntax::Command& command, std::optional<bool> read_only) {
  using Kind = syntax::Command::Kind;
  if (command.kind == Kind::kBegin && read_only == false && host_.is_standby()) {
    if (seat_.is_taken()) seat_.session().fail_block();
    return {Done::kYes, StatementResult::failure(sqlstate::kNotSupported,
                                                 "cannot set transaction read-write mode during recovery")};
  }
  if (command.kind == Kind::kBegin && waits_for_log()) return {Done::kRetry};
  if (!seat_.take()) return {Done::kRetry};
  const SqlSession::Block before = seat_.block();
  if (command.kind == Kind::kBegin && is_implicit_) {
    is_implicit_ = false;  // it is the client's from here on
    settings_.begin_block(command.isolation, read_only);
    return {Done::kYes, tagged(command.is_start ? "START TRANSACTION" : "BEGIN")};
  }
  const bool is_of_savepoint =
      command.kind == Kind::kSavepoint || command.kind == Kind::kRelease || command.kind == Kind::kRollBackTo;
  if (is_implicit_ && is_of_savepoint) {
    seat_.session().fail_block();
    return {Done::kYes, StatementResult::failure(sqlstate::kNoActiveTransaction,
                                                 "savepoints can only be used in transaction blocks")};
  }
  syntax::Command wanted;
  wanted.kind = command.kind;
  wanted.name = command.name;
  wanted.read_only = command.read_only;
  Notifications::Turn turn;
  StatementResult no_room;
  if (command.kind == Kind::kCommit && before == SqlSession::Block::kOpen) {
    turn = take_turn_to_notify();
    no_room = no_room_to_notify();
    if (!no_room.ok()) wanted.kind = Kind::kRollBack;
  }
  std::optional<StatementResult> result = seat_.session().control(wanted);
  if (!result) return {Done::kRetry};
  if (is_implicit_) {
    result->warning = "there is no transaction in progress";
    is_implicit_ = false;
  }
  if (result->ok() && command.is_start) result->tag = "START TRANSACTION";
  if (result->ok()) follow_savepoint(command);
  const SqlSession::Block after = seat_.block();
  if (before == SqlSession::Block::kNone && after == SqlSession::Block::kOpen)
    settings_.begin_block(command.isolation, read_only);
  if (before != SqlSession::Block::kNone && after == SqlSession::Block::kNone) {
    const bool is_committed = result->ok() && result->tag == "COMMIT";
    if (is_committed) send_notifications(turn, result->lsn);
    after_block(is_committed);
  }
  return {Done::kYes, no_room.ok() ? *std::move(result) : std::move(no_room)};
}

void ClientSession::after_block(bool is_committed) {
  settings_.end_block(is_committed);
  forget_notifications();
  host_.advisory_locks().give_up_all(id_, AdvisoryLocks::Until::kEndOfBlock);
  share_settings();
  portals_.clear();
  end_cursors(is_committed);
}

ClientSession::Ran ClientSession::begin_implicit_block() {
  if (seat_.block() != SqlSession::Block::kNone) return {};
  syntax::Command begin;
  begin.kind = syntax::Command::Kind::kBegin;
  Ran begun = control(begin);
  is_implicit_ = begun.done == Done::kYes && begun.result.ok();
  return begun;
}

ClientSession::Ran ClientSession::end_implicit_block() {
  syntax::Command commit;
  commit.kind = syntax::Command::Kind::kCommit;
  is_implicit_ = false;
  Ran ended = control(commit);
  if (ended.done != Done::kYes) is_implicit_ = true;
  return ended;
}

ClientSession::Ran ClientSession::change_schema(const ClientStatement& statement) {
  if (waiting_ == Waiting::kNever) return {Done::kWork};
  if (is_implicit_) {
    Ran ended = end_implicit_block();
    if (ended.done != Done::kYes || !ended.result.ok()) return ended;
  }
  if (!seat_.take()) return {Done::kRetry};
  seat_.session().set_read_only(settings_.is_read_only());
  seat_.session().set_client(values_);
  seat_.session().set_change_commits(settings_.get(kChangeCommits) == "on");
  Ran changed{Done::kYes, seat_.session().run(statement.text)};
  replies_.saw(Lsn{host_.durable().value - 1});
  return changed;
}

void ClientSession::share_activities(const Named& named) {
  constexpr std::string_view kView = "pg_stat_activity";
  const BoundStatement* const bound = named.prepared->bound();
  // Bound or not, a statement that names it shows it.
  const bool shows =
      (bound != nullptr && bound->system() != nullptr && bound->system()->shows_activities()) ||
      !std::ranges::search(named.statement.text, kView, {}, ascii_lower).empty();
  if (!shows) return;
  set_activities(*values_, host_.activities());
}

void ClientSession::share_settings() {
  activity_->set_application(settings_.get("application_name").value_or(""));
  const std::vector<Settings::Shown> shown = settings_.all();
  std::vector<SystemCatalog::Setting> settings;
  for (const Settings::Shown& each : shown) settings.push_back({each.name, each.value});
  SystemCatalog::set_settings(*values_, settings);
}

StatementResult ClientSession::run_set(const SetStatement& statement, ResultSink& rows) {
  using Kind = SetStatement::Kind;
  const auto add = [&](std::initializer_list<std::string_view> texts) {
    std::vector<Argument> row;
    for (const std::string_view text : texts) row.push_back(Argument::of(Value::of_text(text)));
    rows.add(row);
  };
  if (statement.kind == Kind::kShow) {
    if (statement.name == "mneme.replay_lsn")
      return add({std::to_string(host_.durable().value)}), tagged("SHOW");
    if (statement.name == "mneme.replay_lag")
      return add({fmt::format("{}ms", host_.lag().count())}), tagged("SHOW");
    if (statement.name == "mneme.recovered_share")
      return add({fmt::format("{:.3f}", host_.recovered_share())}), tagged("SHOW");
    // What a standby must have replayed to show all that this session has seen.
    if (statement.name == "mneme.last_lsn")
      return add({std::to_string(replies_.newest().value + 1)}), tagged("SHOW");
    if (statement.name == "all") {
      for (const Settings::Shown& shown : settings_.all()) add({shown.name, shown.value, ""});
      return tagged("SHOW");
    }
    const std::optional<std::string> value = settings_.get(statement.name);
    if (!value) {
      return StatementResult::failure(
          sqlstate::kUndefinedObject,
          fmt::format("unrecognized configuration parameter \"{}\"", statement.name));
    }
    add({*value});
    return tagged("SHOW");
  }
  if (statement.kind == Kind::kReset && statement.name == "all") {
    settings_.reset_all();
    share_settings();
    return tagged("RESET");
  }
  if (statement.is_local && statement.kind == Kind::kSet && !in_block()) {
    Settings tried = settings_;
    StatementResult done = statement.value ? tried.set(statement.name, *statement.value, true)
                                           : tried.reset(statement.name, true);
    if (done.ok()) done.tag = "SET";
    if (done.ok()) done.warning = "SET LOCAL can only be used in transaction blocks";
    return done;
  }
  StatementResult done = statement.kind == Kind::kReset || !statement.value
                             ? settings_.reset(statement.name, statement.is_local)
                             : settings_.set(statement.name, *statement.value, statement.is_local);
  share_settings();
  if (done.ok()) done.tag = statement.kind == Kind::kReset ? "RESET" : "SET";
  if (done.ok() && statement.kind == Kind::kSetConfig) {
    add({settings_.get(statement.name).value_or("")});
    done.tag = "SELECT 1";
  }
  if (!done.ok() && seat_.is_taken()) seat_.session().fail_block();
  return done;
}

StatementResult ClientSession::discard(const DiscardStatement& statement) {
  if (statement.is_deallocate) {
    if (statement.all) {
      statements_.clear();
      return tagged("DEALLOCATE ALL");
    }
    const auto found = statements_.find(statement.name);
    if (found == statements_.end()) {
      if (seat_.is_taken()) seat_.session().fail_block();
      return StatementResult::failure(
          sqlstate::kUndefinedStatement,
          fmt::format("prepared statement \"{}\" does not exist", statement.name));
    }
    statements_.erase(found);
    return tagged("DEALLOCATE");
  }
  if (in_block() && statement.all) {
    seat_.session().fail_block();
    return StatementResult::failure(sqlstate::kActiveTransaction,
                                    "DISCARD ALL cannot run inside a transaction block");
  }
  if (statement.all) {
    statements_.clear();
    cursors_.clear();
    host_.advisory_locks().give_up_all(id_, AdvisoryLocks::Until::kGivenUp);
    host_.notifications().unlisten_all(id_);
    settings_.reset_all();
    share_settings();
  }
  std::string tag = "DISCARD " + statement.name;
  std::ranges::transform(tag, tag.begin(), [](char c) { return is_ascii_letter(c) ? c & ~0x20 : c; });
  return tagged(std::move(tag));
}

}  // namespace mneme
