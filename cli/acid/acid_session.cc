#include "cli/acid/acid_session.h"

#include <fmt/format.h>

#include "cli/bench/bench_driver.h"

namespace mneme {
namespace {

// What conflicts with a transaction that has stopped is tried again this often, until that one goes on.
constexpr std::chrono::milliseconds kBetweenTries{5};
constexpr uint32_t kMostTries = 20'000;
// Time for a transaction that is not held up: where the server tells whether it waits, and where it doesn't.
// What takes longer looks held up, and then an anomaly may go unseen.
constexpr std::chrono::seconds kLongestWatch{60};
constexpr std::chrono::seconds kSoon{2};
constexpr std::chrono::milliseconds kBetweenWatches{10};

}  // namespace

Result<AcidSession> AcidSession::open(const AcidTarget& target) {
  Result<std::unique_ptr<TargetConnection>> connection = TargetConnection::open(target.target);
  if (!connection) return connection.error();
  if (!target.isolation.empty()) {
    RETURN_IF_ERROR((*connection)
                        ->execute(fmt::format("SET default_transaction_isolation = '{}'", target.isolation),
                                  "set --isolation"));
  }
  AcidSession session(*std::move(connection));
  // A server that knows no such function has no view of its sessions either.
  if (const CallReply& reply = session.connection_->ask("SELECT pg_backend_pid()");
      reply.ok() && reply.has_row)
    session.process_ = reply.row[0].value_or("");
  return session;
}

Result<bool> AcidSession::ask(const std::string& sql) {
  const CallReply& reply = connection_->ask(sql);
  row_.clear();
  conflict_.clear();
  if (reply.ok()) {
    if (reply.has_row) row_ = reply.row;
    return true;
  }
  if (!reply.is_lost && class_of(reply.sqlstate) == ErrorClass::kConflict) {
    conflict_ = reply.sqlstate;
    roll_back();
    return false;
  }
  return failed("{} refuses {}: {} (SQLSTATE {}); the tests ended there", connection_->target().shown, sql,
                reply.message, reply.sqlstate);
}

Result<TextRow> AcidSession::settle(const std::string& sql) {
  for (uint32_t attempt = 0; attempt < kMostTries; ++attempt) {
    const Result<bool> done = ask(sql);
    if (!done) return done.error();
    if (*done) return row_;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return failed("{} refuses {} again and again ({}); the tests ended there", connection_->target().shown, sql,
                conflict_);
}

Result<std::string> AcidSession::settle_error(const std::string& sql) {
  for (uint32_t attempt = 0; attempt < kMostTries; ++attempt) {
    const CallReply& reply = connection_->ask(sql);
    if (reply.is_lost) {
      return failed("the connection to {} failed in {}: {}", connection_->target().shown, sql, reply.message);
    }
    if (reply.ok() || class_of(reply.sqlstate) != ErrorClass::kConflict) return reply.sqlstate;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return failed("{} refuses {} again and again; the tests ended there", connection_->target().shown, sql);
}

Result<std::vector<TextRow>> AcidSession::rows(const std::string& sql) {
  return connection_->query(sql, sql);
}

std::optional<bool> AcidSession::try_count(const std::string& sql) {
  const CallReply& reply = connection_->ask(sql);
  if (!reply.ok() || !reply.has_row) return std::nullopt;
  return reply.row[0] != "0";
}

void AcidSession::roll_back() {
  // A connection that is lost says so at the next statement.
  (void)connection_->ask("ROLLBACK");
}

Beside::Beside(AcidSession session, std::vector<std::string> statements)
    : session_(std::move(session)),
      process_(session_.process()),
      statements_(std::move(statements)),
      thread_([this] {
        result_.emplace(run());
        has_ended_.store(true, std::memory_order_release);
      }) {}

Beside::~Beside() {
  if (thread_.joinable()) thread_.join();
}

bool Beside::ends_soon(AcidSession& watcher) {
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::seconds longest = kLongestWatch;
  while (!has_ended_.load(std::memory_order_acquire)) {
    if (was_refused_.load(std::memory_order_acquire)) return false;
    if (longest == kLongestWatch) {
      const std::optional<bool> waits = waits_for_lock(watcher, process_);
      if (!waits) longest = kSoon;
      if (waits.value_or(false)) return false;
    }
    if (std::chrono::steady_clock::now() - begin >= longest) return false;
    std::this_thread::sleep_for(kBetweenWatches);
  }
  return true;
}

std::optional<bool> Beside::waits_for_lock(AcidSession& watcher, const std::string& process) {
  if (process.empty()) return std::nullopt;
  return watcher.try_count(fmt::format(
      "SELECT count(*) FROM pg_stat_activity WHERE pid = {} AND wait_event_type = 'Lock'", process));
}

Result<TextRow> Beside::finish() {
  thread_.join();
  return *std::move(result_);
}

Result<TextRow> Beside::run() {
  for (uint32_t attempts = 0; attempts < kMostTries; ++attempts) {
    Result<std::optional<TextRow>> done = attempt();
    if (!done) return done.error();
    if (*done) return **std::move(done);
    was_refused_.store(true, std::memory_order_release);
    std::this_thread::sleep_for(kBetweenTries);
  }
  return failed("{} is refused again and again ({}); the tests ended there", statements_.front(),
                session_.conflict());
}

Result<std::optional<TextRow>> Beside::attempt() {
  std::vector<std::string> all = statements_;
  if (all.size() > 1) {
    all.insert(all.begin(), "BEGIN");
    all.emplace_back("COMMIT");
  }
  TextRow seen;
  for (const std::string& sql : all) {
    const Result<bool> done = session_.ask(sql);
    if (!done) return done.error();
    if (!*done) return std::optional<TextRow>();
    seen.insert(seen.end(), session_.row().begin(), session_.row().end());
  }
  return std::optional(std::move(seen));
}

}  // namespace mneme
