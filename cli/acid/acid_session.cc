#include "cli/acid/acid_session.h"

#include <fmt/format.h>

#include "cli/bench/bench_driver.h"

namespace mneme {
namespace {

// What conflicts with a transaction that has stopped is tried again this often, until that one goes on.
constexpr std::chrono::milliseconds kBetweenTries{5};
constexpr uint32_t kMostTries = 20'000;
// Time for a transaction that is not held up. A machine that takes longer makes it look held up, which no
// rule forbids.
constexpr std::chrono::milliseconds kSoon{400};

}  // namespace

Result<AcidSession> AcidSession::open(const AcidTarget& target) {
  Result<std::unique_ptr<TargetConnection>> connection = TargetConnection::open(target.target);
  if (!connection) return connection.error();
  if (!target.isolation.empty()) {
    RETURN_IF_ERROR((*connection)
                        ->execute(fmt::format("SET default_transaction_isolation = '{}'", target.isolation),
                                  "set --isolation"));
  }
  return AcidSession(*std::move(connection));
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

void AcidSession::roll_back() {
  // A connection that is lost says so at the next statement.
  (void)connection_->ask("ROLLBACK");
}

Beside::Beside(const AcidTarget& target, std::vector<std::string> statements)
    : target_(target), statements_(std::move(statements)), thread_([this] {
        result_.emplace(run());
        has_ended_.store(true, std::memory_order_release);
      }) {}

Beside::~Beside() {
  if (thread_.joinable()) thread_.join();
}

bool Beside::ends_soon() {
  const auto deadline = std::chrono::steady_clock::now() + kSoon;
  while (!has_ended_.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

Result<TextRow> Beside::finish() {
  thread_.join();
  return *std::move(result_);
}

Result<TextRow> Beside::run() {
  Result<AcidSession> session = AcidSession::open(target_);
  if (!session) return session.error();
  for (uint32_t attempts = 0; attempts < kMostTries; ++attempts) {
    Result<std::optional<TextRow>> done = attempt(*session);
    if (!done) return done.error();
    if (*done) return **std::move(done);
    std::this_thread::sleep_for(kBetweenTries);
  }
  return failed("{} refuses {} again and again ({}); the tests ended there", target_.target.shown,
                statements_.front(), session->conflict());
}

Result<std::optional<TextRow>> Beside::attempt(AcidSession& session) const {
  const bool is_block = statements_.size() > 1;
  TextRow seen;
  const auto ask = [&](const std::string& sql) -> Result<bool> {
    Result<bool> done = session.ask(sql);
    if (done && *done) seen.insert(seen.end(), session.row().begin(), session.row().end());
    return done;
  };
  std::vector<std::string> all;
  if (is_block) all.emplace_back("BEGIN");
  all.insert(all.end(), statements_.begin(), statements_.end());
  if (is_block) all.emplace_back("COMMIT");
  for (const std::string& sql : all) {
    const Result<bool> done = ask(sql);
    if (!done) return done.error();
    if (!*done) return std::optional<TextRow>();
  }
  return std::optional(std::move(seen));
}

}  // namespace mneme
