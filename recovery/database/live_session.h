// LiveSession: runs a user's statements on a database at work, while this user or others change its schema.
//
// Flow        run(): parse -> CREATE and DROP: change_schema() -> anything else: enter the schema's latch ->
//             the session, made anew if the schema has changed -> leave
// Invariants  a transaction, a BEGIN block too, sees one schema from its beginning to its end: a change waits
//             for it.
// Threads     the worker's. Any number on one database, each with a worker of its own.
// Waiting     as SqlSession; before a transaction for a change of the schema that is being made, and for a
//             change until all other sessions' transactions have ended.
// Errors      as SqlSession's and change_schema's. Where a change of the schema waits for a block that this
//             thread has open in another session, a statement here would wait for ever, and fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "procedures/session/sql_session.h"
#include "recovery/database/data_directory.h"

namespace mneme {

class LiveSession {
 public:
  // `change_threads`: that put rows into new tables. `lock_timeout`: how long a change of the schema waits
  // for other sessions' transactions; nullopt: until they have ended.
  LiveSession(WorkingDatabase& working, WorkerId worker, uint32_t change_threads,
              std::optional<std::chrono::milliseconds> lock_timeout = {});
  // Rolls a block back.
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  StatementResult run(const std::string& text);
  SqlSession::Block block() const { return session_ ? session_->block() : SqlSession::Block::kNone; }

 private:
  StatementResult change(const syntax::Command& command, const std::string& text);
  bool enter();
  void leave();

  WorkingDatabase& working_;
  const WorkerId worker_;
  const uint32_t change_threads_;
  const std::optional<std::chrono::milliseconds> lock_timeout_;
  bool is_inside_ = false;
  // The session is for this version of the schema. Once the schema has changed, it is at rest, and refers to
  // tables that are gone.
  uint64_t version_ = 0;
  std::unique_ptr<SqlSession> session_;
};

}  // namespace mneme
