// AcidSession: a client of a server whose transactions are stopped in the midst; Beside: a client that runs
// one transaction beside it.
//
// Conflicts   a server may make a transaction wait, or refuse it (40001, 40P01): both isolate. A refused one
//             is made again until it gets through, as a client would.
// Errors      any other refusal ends the tests with the server's words.
// Threads     an AcidSession has one owner. A Beside has a thread of its own from its constructor to
//             finish().
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "cli/bench/target_connection.h"

namespace mneme {

struct AcidTarget {
  Target target;
  std::string isolation;  // of the sessions; empty: the server's own
};

class AcidSession {
 public:
  static Result<AcidSession> open(const AcidTarget& target);

  // One statement inside of a transaction, or that is one. Returns whether it was done; false: it was refused
  // for a conflict, the transaction is over, and conflict() has the SQLSTATE.
  Result<bool> ask(const std::string& sql);
  // The row that the last statement gave; empty: none, or several.
  const TextRow& row() const { return row_; }
  const std::string& conflict() const { return conflict_; }

  // A statement that is a transaction: again until no conflict refuses it. Returns its row, if it has one.
  Result<TextRow> settle(const std::string& sql);
  // The same, of a procedure that is to raise an error. Returns its SQLSTATE; empty: it raised none.
  Result<std::string> settle_error(const std::string& sql);
  Result<std::vector<TextRow>> rows(const std::string& sql);
  // Returns whether the count is above 0; nullopt if the server refuses the statement.
  std::optional<bool> try_count(const std::string& sql);
  void roll_back();
  // The number by which the server's own views name it; empty: it has none.
  const std::string& process() const { return process_; }

 private:
  explicit AcidSession(std::unique_ptr<TargetConnection> connection) : connection_(std::move(connection)) {}

  std::unique_ptr<TargetConnection> connection_;
  std::string process_;
  TextRow row_;
  std::string conflict_;
};

class Beside {
 public:
  // Begins on a session that is open: `statements`, within BEGIN and COMMIT if there are several, again until
  // no conflict refuses them.
  Beside(AcidSession session, std::vector<std::string> statements);
  ~Beside();
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  // Returns whether it ends while the others stand still. It does not where it was refused, or the server
  // says that it waits for a lock, as `watcher`, another session, sees; or after some time, where the server
  // says nothing of that kind.
  bool ends_soon(AcidSession& watcher);
  // Waits for its end. Returns the last row of each statement's, after each other.
  Result<TextRow> finish();

 private:
  Result<TextRow> run();
  Result<std::optional<TextRow>> attempt();
  // Returns nullopt if the server has no view of its sessions.
  static std::optional<bool> waits_for_lock(AcidSession& watcher, const std::string& process);

  AcidSession session_;  // the thread's, but for process()
  const std::string process_;
  const std::vector<std::string> statements_;
  // The thread's; released by it, and acquired by ends_soon().
  std::atomic<bool> was_refused_{false};
  std::atomic<bool> has_ended_{false};
  std::optional<Result<TextRow>> result_;  // the thread's until it has ended
  std::thread thread_;
};

}  // namespace mneme
