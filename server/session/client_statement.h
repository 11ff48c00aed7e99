// ClientStatement: a statement that a client has sent, as the session handles it.
//
// Flow        read_statement(): the first word says whether it is one of the session's own (SET, SHOW, COPY,
//             PREPARE, FETCH ...), else it is SQL's (procedures/parser)
// Not here    what the statement does (client_session.h).
// Errors      a failure in PostgreSQL's words, as parse_statement() has it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "procedures/session/explanation.h"
#include "procedures/session/sql_session.h"
#include "server/session/notifications.h"

namespace mneme {

struct SetStatement {
  // kSetConfig: SELECT set_config(name, value, is_local), of literals.
  enum class Kind { kSet, kReset, kShow, kSetConfig };
  Kind kind = Kind::kSet;
  std::string name;                  // "all": every one
  std::optional<std::string> value;  // nothing: DEFAULT
  bool is_local = false;
  std::string column;  // kSetConfig: what the result's column is named
};

struct DiscardStatement {
  bool all = false;  // DISCARD ALL, or DEALLOCATE ALL
  bool is_deallocate = false;
  std::string name;  // of the prepared statement, or what is discarded
};

struct CopyStatement {
  bool is_in = false;
  bool is_csv = false;
  bool is_binary = false;
  bool has_header = false;
  char delimiter = '\t';
  char quote = '"';
  char escape = '"';
  std::string null_text = "\\N";
  std::string table;
  std::vector<std::string> columns;  // none: all
  std::string query;                 // whose rows go out; empty: a table's
};

// One that has nothing to do here: VACUUM, ANALYZE, CLUSTER ...
struct IdleStatement {
  std::string tag;
  std::string warning = {};
};

struct ClientStatement;

// PREPARE name (types) AS statement
struct PrepareStatement {
  std::string name;
  std::vector<std::string> types;  // as they are written
  std::shared_ptr<const ClientStatement> statement;
};

// EXECUTE name (arguments)
struct ExecuteStatement {
  std::string name;
  std::vector<syntax::Expr> arguments;
  std::optional<ExplainOptions> explain;  // EXPLAIN EXECUTE
};

// DECLARE name CURSOR FOR query; FETCH, MOVE and CLOSE of one.
struct CursorStatement {
  enum class Kind { kDeclare, kFetch, kMove, kClose, kCloseAll };
  // Where a FETCH goes: `count` rows from here on, backwards where it is negative; to the row `count`, from
  // 1, or from -1 at the end; or `count` rows on, to give that one alone.
  enum class Direction { kForward, kAbsolute, kRelative };
  static constexpr int64_t kAll = INT64_MAX;
  Kind kind = Kind::kDeclare;
  std::string name;
  bool is_held = false;       // WITH HOLD: it outlives its block
  bool goes_forward = false;  // NO SCROLL
  std::shared_ptr<const ClientStatement> query;
  Direction direction = Direction::kForward;
  int64_t count = 1;
};

// LOCK TABLE: the names as they are written.
struct LockStatement {
  std::vector<std::string> tables;
  // The mode keeps others from changing rows.
  bool stops_writers = true;
};

// SET CONSTRAINTS: no names: ALL.
struct ConstraintsStatement {
  std::vector<std::string> names;
  bool defers = false;
};

// SELECT pg_advisory_lock(key) and its kind.
struct AdvisoryStatement {
  enum class Verb { kLock, kTry, kUnlock, kUnlockAll };
  Verb verb = Verb::kLock;
  bool is_shared = false;
  bool is_of_block = false;                      // it ends with the block
  bool is_pair = false;                          // the key is two ints
  std::string column;                            // what the result's column is named
  std::string key;                               // a query of the key's numbers; empty: there are none
  std::shared_ptr<const ClientStatement> query;  // the same, read

  const Type& result() const;
};

// LISTEN, UNLISTEN and NOTIFY.
struct NotifyStatement {
  enum class Verb { kNotify, kListen, kUnlisten, kUnlistenAll };
  Verb verb = Verb::kNotify;
  NotifyMessage message;  // its channel, of LISTEN and UNLISTEN
};

struct ClientStatement {
  std::string text;
  std::optional<ExplainOptions> explain;  // EXPLAIN: the command's plan is shown
  std::variant<std::monostate, std::shared_ptr<const syntax::Command>, SetStatement, DiscardStatement,
               CopyStatement, IdleStatement, PrepareStatement, ExecuteStatement, CursorStatement,
               LockStatement, AdvisoryStatement, ConstraintsStatement, NotifyStatement>
      what;  // monostate: empty

  bool is_empty() const { return std::holds_alternative<std::monostate>(what); }
  const syntax::Command* command() const {
    const auto* command = std::get_if<std::shared_ptr<const syntax::Command>>(&what);
    return command == nullptr ? nullptr : command->get();
  }
  bool changes_schema() const { return command() != nullptr && command()->changes_schema(); }
};

struct ReadStatement {
  std::optional<ClientStatement> statement;
  StatementResult failure;
};
ReadStatement read_statement(std::string_view text);

// Returns the failure of a statement that the session has written itself: its place is none in what the
// client has written.
StatementResult without_place(StatementResult failure);

}  // namespace mneme
