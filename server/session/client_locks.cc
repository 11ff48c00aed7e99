// LOCK TABLE and SET CONSTRAINTS.
//
// Locks       transactions are serializable without them. A mode that keeps others from changing rows reads
//             all of the table's rows: under two-phase locking that locks them, else a change of them by
//             another transaction fails the block when it commits. The other modes ask whether there is such
//             a table.
// Constraints each statement is checked by all of them, DEFERRABLE ones as well: SET CONSTRAINTS ... DEFERRED
//             says so, and defers none.
#include "server/session/client_locks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "procedures/values/value_text.h"
#include "server/protocol/sqlstates.h"
#include "server/session/client_session.h"
#include "server/session/kept_values.h"

namespace mneme {

namespace {

struct TableLockMode {
  std::string_view words;
  bool stops_writers;
};

constexpr TableLockMode kLockModes[] = {
    {"access share", false},
    {"row share", false},
    {"row exclusive", false},
    {"share update exclusive", false},
    {"share", true},
    {"exclusive", true},
    {"access exclusive", true},
    {"share row exclusive", true},
};

[[noreturn]] void refuse_lock_at(const Tokens& tokens) {
  throw StatementResult::failure(sqlstate::kSyntaxError,
                                 tokens.at_end()
                                     ? "syntax error at end of input"
                                     : fmt::format("syntax error at or near \"{}\"", tokens.peek().text));
}

// A name that is only written in a message, or compared.
std::string take_plain_name(Tokens& tokens) {
  const Token token = tokens.peek();
  if ((token.kind != Token::Kind::kWord && token.kind != Token::Kind::kName) || token.text.empty())
    refuse_lock_at(tokens);
  return tokens.take().text;
}

}  // namespace

std::optional<LockStatement> read_lock_table(Tokens& tokens) {
  if (!tokens.take_word("lock")) return std::nullopt;
  tokens.take_word("table");
  LockStatement lock;
  do {
    tokens.take_word("only");
    lock.tables.push_back(take_relation(tokens));
    if (lock.tables.back().empty()) refuse_lock_at(tokens);
    tokens.take_mark("*");
  } while (tokens.take_mark(","));
  if (tokens.take_word("in")) {
    std::string words;
    while (!tokens.at_end() && tokens.peek().text != "mode")
      words += (words.empty() ? "" : " ") + take_plain_name(tokens);
    const auto mode = std::ranges::find(kLockModes, words, &TableLockMode::words);
    if (mode == std::end(kLockModes) || !tokens.take_word("mode")) refuse_lock_at(tokens);
    lock.stops_writers = mode->stops_writers;
  }
  if (tokens.take_word("nowait")) {
    throw StatementResult::failure(sqlstate::kNotSupported,
                                   "LOCK TABLE ... NOWAIT is not supported; leave NOWAIT out");
  }
  if (!tokens.at_end()) refuse_lock_at(tokens);
  return lock;
}

ConstraintsStatement read_constraints(Tokens& tokens) {
  ConstraintsStatement statement;
  if (!tokens.take_word("all")) {
    do {
      statement.names.push_back(take_plain_name(tokens));
    } while (tokens.take_mark(","));
  }
  statement.defers = tokens.take_word("deferred");
  if (!statement.defers && !tokens.take_word("immediate")) refuse_lock_at(tokens);
  if (!tokens.at_end()) refuse_lock_at(tokens);
  return statement;
}

ClientSession::Ran ClientSession::run_own_query(const std::string& query, ResultSink& rows, bool alone) {
  StatementResult failure;
  const auto named = name_statement(query, {}, failure);
  if (!named) return {Done::kYes, without_place(std::move(failure))};
  Ran ran = run_sql(**named, {}, {}, rows, alone);
  if (ran.done == Done::kYes && !ran.result.ok()) ran.result = without_place(std::move(ran.result));
  return ran;
}

ClientSession::Ran ClientSession::lock_tables(const LockStatement& lock, bool alone) {
  if (alone && seat_.block() == SqlSession::Block::kNone) {
    return {Done::kYes, StatementResult::failure(sqlstate::kNoActiveTransaction,
                                                 "LOCK TABLE can only be used in transaction blocks")};
  }
  for (const std::string& table : lock.tables) {
    KeptValues rows;
    const std::string query = lock.stops_writers ? fmt::format("SELECT count(*) FROM {}", table)
                                                 : fmt::format("SELECT 1 FROM {} LIMIT 0", table);
    Ran ran = run_own_query(query, rows, alone);
    if (ran.done != Done::kYes || !ran.result.ok()) return ran;
  }
  StatementResult done;
  done.tag = "LOCK TABLE";
  return {Done::kYes, std::move(done)};
}

ClientSession::Ran ClientSession::set_constraints(const ConstraintsStatement& statement, bool alone) {
  StatementResult done;
  done.tag = "SET CONSTRAINTS";
  if (alone && seat_.block() == SqlSession::Block::kNone)
    done.warning = "SET CONSTRAINTS can only be used in transaction blocks";
  for (const std::string& name : statement.names) {
    std::string quoted;
    for (const char c : name) quoted.append(c == '\'' ? 2 : 1, c);
    KeptValues rows;
    Ran ran = run_own_query(
        fmt::format("SELECT condeferrable FROM pg_catalog.pg_constraint WHERE conname = '{}'", quoted), rows,
        alone);
    if (ran.done != Done::kYes || !ran.result.ok()) return ran;
    if (rows.size() == 0) {
      return {Done::kYes, StatementResult::failure(sqlstate::kUndefinedObject,
                                                   fmt::format("constraint \"{}\" does not exist", name))};
    }
    bool is_deferrable = false;
    for (size_t i = 0; i < rows.size(); ++i) is_deferrable |= rows.row(i)[0].scalar.as_bool();
    if (statement.defers && !is_deferrable) {
      return {Done::kYes, StatementResult::failure(sqlstate::kWrongObject,
                                                   fmt::format("constraint \"{}\" is not deferrable", name))};
    }
  }
  if (statement.defers && !statement.names.empty())
    done.warning = "constraints are checked by each statement: none is deferred here";
  return {Done::kYes, std::move(done)};
}

}  // namespace mneme
