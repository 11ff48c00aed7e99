// SqlSession: a user's statements, one at a time, each a transaction of its own or part of a BEGIN block.
//
// Flow        parse_command -> run(): bind -> execute(): interpret on a Transaction -> commit, as an ad-hoc
//             transaction (its record holds the rows that it changed) -> wait until it is durable -> tell
//             CALL outside of a block is a Session's call, and logged as the database's log has calls.
// Invariants  a result that run() returns is durable; one that execute() returns is not to be told before its
//             LSN is. A statement that failed outside of a block has changed
//             nothing; in a block it fails the block: all others but COMMIT and ROLLBACK are refused, and
//             both roll back, as in PostgreSQL. after a conflict a statement outside of a block is run again;
//             a block, whose user has seen what it read, fails with PostgreSQL's serialization failure.
// Errors      a StatementResult with PostgreSQL's sqlstate.
// Threads     the worker's.
// Not here    CREATE and DROP, as a session's program is constant: recovery/database/live_session.h makes
//             another afterwards.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/function_ref.h"
#include "engine/transaction/conflict_pause.h"
#include "engine/transaction/database.h"
#include "engine/transaction/transaction.h"
#include "procedures/binder/command_binder.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/syntax.h"
#include "procedures/query/row_store.h"
#include "procedures/session/bound_statement.h"
#include "procedures/session/result_sink.h"
#include "procedures/session/sequence_draws.h"
#include "procedures/session/session.h"

namespace mneme {

class RecordedRows;

namespace query {
class QueryRunner;
class RowStore;
}  // namespace query

struct StatementResult {
  std::string tag;                    // PostgreSQL's: "INSERT 0 1"; empty where it failed
  std::vector<ResultColumn> columns;  // of a SELECT, RETURNING, or a CALL with INOUT parameters
  std::vector<std::vector<std::optional<std::string>>> rows;  // in PostgreSQL's text; nothing: NULL
  std::string warning;                                        // a sentence, or empty
  std::string notice = {};                                    // lines, or empty
  Notices raised = {};                                        // what a procedure has said, in order
  std::string sqlstate;                                       // of a failure
  std::string message;
  std::string detail = {};  // of RAISE
  std::string hint = {};
  std::string client_message = {};  // in the place of `message`, for PostgreSQL's clients; empty: the same
  std::string context = {};         // of a COPY
  // The place of the failure in the statement's text; where there is one, "line 1:8: " begins the message.
  ir::SourceLocation where = {};
  // The client may be told once this is durable; nothing: at once. Of a result that run() returns it is.
  std::optional<Lsn> lsn = std::nullopt;
  // A statement outside of a block has met conflicts, and nothing else: it may be run again.
  bool gave_up = false;

  bool ok() const { return sqlstate.empty(); }
  static StatementResult failure(std::string sqlstate, std::string message) {
    StatementResult result;
    result.sqlstate = std::move(sqlstate);
    result.message = std::move(message);
    return result;
  }
};

namespace sqlstate {
inline constexpr const char* kActiveTransaction = "25001";
inline constexpr const char* kReadOnlyTransaction = "25006";
inline constexpr const char* kNoActiveTransaction = "25P01";
inline constexpr const char* kInvalidSavepoint = "3B001";
inline constexpr const char* kFailedTransaction = "25P02";
inline constexpr const char* kDeadlock = "40P01";
inline constexpr const char* kOutOfMemory = "53200";
inline constexpr const char* kNotInPrerequisiteState = "55000";
inline constexpr const char* kLockNotAvailable = "55P03";
inline constexpr const char* kIoError = "58030";
inline constexpr const char* kDataCorrupted = "XX001";
}  // namespace sqlstate

// The statement, or why it is none.
struct ParsedStatement {
  std::optional<syntax::Command> command;
  StatementResult failure;
};
ParsedStatement parse_statement(std::string_view text);
// A SourceError as the result of its statement.
StatementResult failure_of(const SourceError& error);

class SqlSession {
 public:
  // The program, the database and the machine code outlive the session; the program's catalog is the
  // database's.
  SqlSession(const Program& program, Database& database, WorkerId worker, const SessionOptions& options = {});
  SqlSession(const SqlSession&) = delete;
  SqlSession& operator=(const SqlSession&) = delete;
  ~SqlSession();

  // Anything but a change of the schema. Where it throws, as for want of memory, the transaction has ended:
  // nothing was changed, or the statement is committed. A block has failed then.
  // `stop`: as execute() has it.
  StatementResult run(const syntax::Command& command, StopRequest* stop = nullptr);
  // The same for a statement that is bound, with a value for each of its parameters, of the parameter's type.
  // Its rows go to the sink; it does not wait until the result is durable. `stop`: may end it; nullptr:
  // nothing does. `most_attempts`: of a statement outside of a block, after which it has given up.
  StatementResult execute(const BoundStatement& statement, std::span<const Argument> parameters,
                          ResultSink& rows, StopRequest* stop = nullptr,
                          uint32_t most_attempts = kMostAttempts);
  // BEGIN, COMMIT, ROLLBACK, and what savepoints have, without waiting.
  StatementResult control(const syntax::Command& command);
  // Returns what a statement gets in a block that has failed.
  static StatementResult in_failed_block();
  // The log makes the result durable, or says why it can't.
  StatementResult durable(StatementResult result);
  // For a statement that could not even be parsed: it fails the block as well.
  void fail_block();
  // From now on queries count the rows of their plans' nodes; nullptr: they don't.
  void count_rows(query::RowCounts* counts);

  enum class Block { kNone, kOpen, kFailed };
  Block block() const { return block_; }
  // Whether a statement of the block has looked at rows. While none has, the block may begin anew.
  bool has_touched_rows() const { return has_touched_rows_ || !savepoints_.empty(); }
  // Whether one has changed rows, or locked them. While none has, nothing of the block has to be undone.
  bool has_changed_rows() const { return has_changed_rows_ || !savepoints_.empty(); }
  // Whether one has read some: all but INSERT do. While none has, the block may be committed in parts, and
  // only ROLLBACK can tell.
  bool has_read_rows() const { return has_read_rows_ || !savepoints_.empty(); }
  bool is_read_only() const { return is_read_only_; }
  // The block, or the statements that follow outside of one, must write nothing, or may write.
  void set_read_only(bool is_read_only) { is_read_only_ = is_read_only; }

 private:
  // kFailed: `failure` says why. After anything but kCompleted the transaction has ended.
  enum class Ran { kCompleted, kConflict, kFailed };

  template <typename Work>
  StatementResult ending_where_it_throws(Work&& work);
  StatementResult run_text(const syntax::Command& command, StopRequest* stop);
  bool may_change(const BoundStatement& statement) const;
  StatementResult run_bound(const BoundStatement& statement, std::span<const Argument> parameters,
                            ResultSink& rows);
  StatementResult run_query(const BoundQuery& query, ir::OperationKind kind,
                            std::span<const Argument> parameters, ResultSink& rows);
  StatementResult run_select(const BoundStatement& statement, std::span<const Argument> parameters,
                             ResultSink& rows);
  StatementResult run_change(const BoundStatement& statement, std::span<const Argument> parameters,
                             ResultSink& rows);
  // A statement whose WITH changes rows.
  StatementResult run_with(const BoundStatement& statement, std::span<const Argument> parameters,
                           ResultSink& rows);
  // Runs `attempt` in a transaction, again after a conflict, unless a block is open.
  bool run_attempts(FunctionRef<Ran()> attempt, StatementResult& result);
  StatementResult run_block(const BoundBlock& block);
  StatementResult run_call(const BoundCall& bound, std::span<const Argument> parameters, ResultSink& rows);
  StatementResult call_alone(const Call& call, ResultSink& rows);
  StatementResult call_in_block(const Call& call, ResultSink& rows);
  StatementResult begin_block(bool read_only);
  StatementResult end_block(bool commit);
  StatementResult control_savepoint(const syntax::Command& command);

  // Runs the body in the open transaction.
  Ran run_body(const RunRequest& request, StatementResult& failure);
  // As run_body(); but where the row refers to one that is not there, `waits` is set, and nothing has
  // happened.
  Ran run_or_wait(const RunRequest& request, RecordedRows& recorded, bool& waits, StatementResult& failure);
  // What a run's end means to the open transaction.
  Ran ended(const Outcome& outcome, StatementResult& failure);
  // Ends the transaction whose statement raised.
  Ran roll_back(StatementResult& failure);
  Ran commit(StatementResult& result);
  StatementResult log_failure() const;
  // Returns what a statement or block gets that met another transaction's change.
  static StatementResult conflict();
  // Finds the rows that the statement, or a part of its WITH, changes. `seen`: the keys of those found
  // already.
  Ran find_changed(const BoundStatement& statement, const BoundChange& change,
                   std::span<const Argument> parameters, std::span<const query::RowStore* const> given,
                   std::unordered_set<std::string>& seen, query::RowStore& found, Arena& texts,
                   StatementResult& failure);
  // Changes them, and hands on what is returned. `count`: how many rows were changed.
  Ran change_found(const BoundStatement& statement, const BoundChange& change,
                   std::span<const Argument> parameters, const query::RowStore& found, ResultSink& rows,
                   uint64_t& count, Arena& texts, StatementResult& failure);
  Ran find_selected(const BoundStatement& statement, std::span<const Argument> parameters,
                    std::span<const query::RowStore* const> given, ResultSink& rows, uint64_t& count,
                    StatementResult& failure);
  // A statement with changes in WITH, at work.
  struct WithRun;
  Ran run_parts(WithRun& run);
  Ran change_merged(WithRun& run);
  Ran find_part(WithRun& run, size_t number);
  // What the part returns, without its changes.
  Ran return_rows(WithRun& run, size_t number);
  // Deletes the found rows, and says how many equal ones there were of each.
  Ran erase_found(const BoundChange& change, const query::RowStore& found, std::vector<uint32_t>& times,
                  StatementResult& failure);
  // Hands on what RETURNING makes of the changed rows, by a query.
  Ran run_returned(const BoundStatement& statement, const BoundChange& change,
                   std::span<const Argument> parameters, const query::RowStore& changed, ResultSink& rows,
                   StatementResult& failure);
  std::vector<Argument> hidden_arguments(const ir::Procedure& procedure) const;

  const Program& program_;
  Database& database_;
  LastDrawn last_drawn_;
  Session calls_;  // outside of blocks
  Transaction transaction_;
  ConflictPause pause_;
  Interpreter interpreter_;
  std::unique_ptr<query::QueryRunner> queries_;
  SequenceDraws sequences_;
  Arena arena_;                  // a call's arguments
  StopRequest* stop_ = nullptr;  // of the statement that runs
  uint32_t most_attempts_ = kMostAttempts;
  Block block_ = Block::kNone;
  bool is_read_only_ = false;  // the block
  bool has_touched_rows_ = false;
  bool has_changed_rows_ = false;
  bool has_read_rows_ = false;
  // The open block's savepoints, the newest one last. While there is one, a statement that fails leaves the
  // transaction open.
  struct NamedSavepoint {
    std::string name;
    Transaction::Savepoint point;
  };
  std::vector<NamedSavepoint> savepoints_;
};

}  // namespace mneme
