// LiveSession: runs a user's statements on a database at work, while this user or others change its schema.
//
// Flow        run(): parse -> CREATE, DROP ...: change_schema() -> anything else: enter the schema's latch ->
//             the session, made anew if the schema has changed -> leave
//             prepare(), execute(): the same for a PreparedStatement, which is bound again once the schema
//             has changed
// Invariants  a transaction, a BEGIN block too, sees one schema from its beginning to its end: a change waits
//             for it.
// Threads     the worker's. Any number on one database, each with a worker of its own.
// Waiting     run(): as SqlSession; before a transaction for a change of the schema that is being made, and
//             for a change until all other sessions' transactions have ended. execute_alone(): for these,
//             too. prepare(), execute(), control(): for nothing. Where a change of the schema keeps them out
//             they return nothing, and their caller asks again; and a result has the LSN that its caller
//             waits for.
// Errors      as SqlSession's and change_schema's. Where a change of the schema waits for a block that this
//             thread has open in another session, run() would wait for ever, and fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "procedures/native/background_units.h"
#include "procedures/session/explanation.h"
#include "procedures/session/sql_session.h"
#include "recovery/database/data_directory.h"

namespace mneme {

// A statement to be run often, by any session of the database, one at a time.
class PreparedStatement {
 public:
  // `given`: the types of its first parameters; kNull where the context is to decide.
  // `session`: what its functions say of the client.
  PreparedStatement(std::shared_ptr<const syntax::Command> command, std::vector<Type> given,
                    std::shared_ptr<const SessionValues> session = nullptr)
      : command_(std::move(command)), given_(std::move(given)), session_(std::move(session)) {}

  const syntax::Command& command() const { return *command_; }
  // Returns nullptr before prepare(), and for statements that are never bound: BEGIN, CREATE ...
  const BoundStatement* bound() const { return bound_.get(); }

 private:
  friend class LiveSession;

  std::shared_ptr<const syntax::Command> command_;
  std::vector<Type> given_;
  std::shared_ptr<const SessionValues> session_;
  std::unique_ptr<BoundStatement> bound_;  // to the schema of `version_`
  uint64_t version_ = 0;
  std::string search_path_;  // the client's, by which it was bound
};

// The procedures' machine code for the present schema. The caller is inside the schema's latch.
using ProcedureCode = std::function<std::shared_ptr<BackgroundUnits>()>;

// The session's parameter that set_change_commits() follows.
inline constexpr const char* kChangeCommits = "mneme.schema_change_commits";

class LiveSession {
 public:
  // `change_threads`: that put rows into new tables. `lock_timeout`: how long a change of the schema waits
  // for other sessions' transactions; nullopt: until they have ended.
  // `code`: without it calls are interpreted.
  LiveSession(WorkingDatabase& working, WorkerId worker, uint32_t change_threads,
              std::optional<std::chrono::milliseconds> lock_timeout = {}, ProcedureCode code = {});
  // Rolls a block back.
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // `stop`: may end a statement that changes no schema; nullptr: nothing does.
  StatementResult run(const std::string& text, StopRequest* stop = nullptr);

  // Binds it to the present schema, unless it is: bound() has its types and columns then. A success, or why
  // it can't be. A statement that has once been described to a client keeps its columns, or is refused.
  std::optional<StatementResult> prepare(PreparedStatement& statement);
  // Prepares it, and puts the lines of its plan into `lines`. It is an operation or a CALL. With ANALYZE it
  // is a SELECT, which runs as execute() would run it; its rows are dropped.
  std::optional<StatementResult> explain(PreparedStatement& statement, const ExplainOptions& options,
                                         std::span<const Argument> parameters,
                                         std::span<const uint8_t> scales, std::vector<std::string>& lines,
                                         StopRequest* stop = nullptr);
  // An operation or a CALL, with the values of its parameters; prepares it first. `scales`: as
  // BoundStatement::fit_digits has them; empty: every value has its parameter's type. `stop`: may end it;
  // nullptr: nothing does. `most_attempts`: as SqlSession::execute() has it.
  std::optional<StatementResult> execute(PreparedStatement& statement, std::span<const Argument> parameters,
                                         std::span<const uint8_t> scales, ResultSink& rows,
                                         StopRequest* stop = nullptr, uint32_t most_attempts = kMostAttempts);
  // The same for a statement outside of a block that others' changes keep from committing, as they do if it
  // reads much: while it runs no other session's transaction is open, so that nothing can change what it has
  // read. Waits for the open ones; returns nothing if some have not ended after `longest`.
  std::optional<StatementResult> execute_alone(PreparedStatement& statement,
                                               std::span<const Argument> parameters,
                                               std::span<const uint8_t> scales, ResultSink& rows,
                                               StopRequest* stop, std::chrono::milliseconds longest);
  // BEGIN, COMMIT and ROLLBACK.
  std::optional<StatementResult> control(const syntax::Command& command);
  bool has_changed_rows() const { return session_ && session_->has_changed_rows(); }
  bool has_read_rows() const { return session_ && session_->has_read_rows(); }
  // Between two statements: the next one may come on another thread.
  void rest() {
    if (is_inside_) working_.schema_latch().rest(worker_);
  }
  // What SqlSession::set_read_only() has, and for changes of the schema, too. It holds until the next call.
  void set_read_only(bool is_read_only) { read_only_ = is_read_only; }
  // Whether a change of the schema in a block commits what the block has done; else it is refused behind
  // statements that change rows.
  void set_change_commits(bool commits) { change_commits_ = commits; }
  // The client whose statements run() gets from here on: its search path says what names mean. nullptr: names
  // without a schema are those of public.
  void set_client(std::shared_ptr<const SessionValues> client) { client_ = std::move(client); }
  // For a statement that failed before it ran.
  void fail_block() {
    if (session_) session_->fail_block();
  }

  SqlSession::Block block() const { return session_ ? session_->block() : SqlSession::Block::kNone; }

 private:
  StatementResult change(const syntax::Command& command, const std::string& text);
  StatementResult run_changes(const syntax::ChangeBlock& changes, StopRequest* stop);
  StatementResult change_in_block(const syntax::Command& command, const std::string& text);
  StatementResult create_from_query(const syntax::Command& command);
  StatementResult insert_from_query(const syntax::Name& table, const syntax::Operation& rows);
  StatementResult insert_rows(const syntax::Name& table, const std::vector<std::vector<Argument>>& rows);
  // Returns what a statement gets that would wait for ever for a change of the schema.
  static StatementResult in_way();
  bool is_read_only() const;
  bool enter();
  bool try_enter();
  // These are called inside the latch, or while others are kept out.
  void follow_schema();
  void follow_read_only();
  StatementResult bind_and_execute(PreparedStatement& statement, std::span<const Argument> parameters,
                                   std::span<const uint8_t> scales, ResultSink& rows, StopRequest* stop,
                                   uint32_t most_attempts);
  StatementResult execute_bound(PreparedStatement& statement, std::span<const Argument> parameters,
                                std::span<const uint8_t> scales, ResultSink& rows, StopRequest* stop,
                                uint32_t most_attempts);
  StatementResult bind(PreparedStatement& statement);
  // The statement, of which no name depends on the client's search path.
  ParsedStatement with_schemas_of_client(ParsedStatement parsed);
  void leave();
  struct Leave {  // also where an exception ends the statement
    LiveSession& session;
    ~Leave() { session.leave(); }
  };

  WorkingDatabase& working_;
  const WorkerId worker_;
  const uint32_t change_threads_;
  const std::optional<std::chrono::milliseconds> lock_timeout_;
  const ProcedureCode code_;
  std::shared_ptr<const SessionValues> client_;
  std::optional<bool> read_only_;
  bool change_commits_ = false;
  bool is_inside_ = false;
  // The session is for this version of the schema. Once the schema has changed, it is at rest, and refers to
  // tables that are gone.
  uint64_t version_ = 0;
  std::shared_ptr<BackgroundUnits> units_;  // outlive the session that runs them
  bool is_interim_ = false;                 // calls are interpreted until the machine code is there
  std::unique_ptr<SqlSession> session_;
};

}  // namespace mneme
