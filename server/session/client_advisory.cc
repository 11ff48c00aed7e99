// SELECT pg_advisory_lock(key) and its kind: by themselves, as clients send them. The key is any expression
// without a table. One that waits is tried again at intervals, as a statement that has met a conflict is: a
// request to cancel and statement_timeout end it.
#include "server/session/client_advisory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "procedures/values/type_oids.h"
#include "server/protocol/sqlstates.h"
#include "server/session/client_session.h"
#include "server/session/kept_values.h"

namespace mneme {

namespace {

using Verb = AdvisoryStatement::Verb;

struct AdvisoryFunction {
  std::string_view name;
  Verb verb;
  bool is_shared = false;
  bool is_of_block = false;
};

constexpr AdvisoryFunction kFunctions[] = {
    {"pg_advisory_lock", Verb::kLock},
    {"pg_advisory_lock_shared", Verb::kLock, true},
    {"pg_advisory_unlock", Verb::kUnlock},
    {"pg_advisory_unlock_all", Verb::kUnlockAll},
    {"pg_advisory_unlock_shared", Verb::kUnlock, true},
    {"pg_advisory_xact_lock", Verb::kLock, false, true},
    {"pg_advisory_xact_lock_shared", Verb::kLock, true, true},
    {"pg_try_advisory_lock", Verb::kTry},
    {"pg_try_advisory_lock_shared", Verb::kTry, true},
    {"pg_try_advisory_xact_lock", Verb::kTry, false, true},
    {"pg_try_advisory_xact_lock_shared", Verb::kTry, true, true},
};

// Returns the arguments up to the parenthesis that closes what is open.
std::vector<std::string> take_arguments(Tokens& tokens) {
  std::vector<std::string> arguments;
  std::string_view from = tokens.rest();
  for (size_t depth = 0; !tokens.at_end();) {
    const bool is_mark = tokens.peek().kind == Token::Kind::kMark;
    const std::string mark = is_mark ? tokens.peek().text : "";
    const bool ends = depth == 0 && (mark == ")" || mark == ",");
    if (ends) {
      const size_t size = from.size() - tokens.rest().size();
      if (size > 0 || mark == "," || !arguments.empty()) arguments.emplace_back(from.substr(0, size));
    }
    if (ends && mark == ")") break;
    if (mark == "(") ++depth;
    if (mark == ")") --depth;
    tokens.take();
    if (ends) from = tokens.rest();
  }
  return arguments;
}

}  // namespace

std::optional<AdvisoryStatement> read_advisory(Tokens tokens) {
  if (!tokens.take_word("select") || tokens.peek().kind != Token::Kind::kWord) return std::nullopt;
  std::string name = tokens.take().text;
  constexpr std::string_view kCatalog = "pg_catalog.";
  if (name.starts_with(kCatalog)) name.erase(0, kCatalog.size());
  const auto* const function = std::ranges::find(kFunctions, name, &AdvisoryFunction::name);
  if (function == std::end(kFunctions) || !tokens.take_mark("(")) return std::nullopt;
  const std::vector<std::string> arguments = take_arguments(tokens);
  const size_t count = arguments.size();
  if (!tokens.take_mark(")")) return std::nullopt;
  AdvisoryStatement statement;
  statement.verb = function->verb;
  statement.is_shared = function->is_shared;
  statement.is_of_block = function->is_of_block;
  statement.is_pair = count == 2;
  statement.column = name;
  if (tokens.take_word("as") || !tokens.at_end()) {
    const Token::Kind kind = tokens.peek().kind;
    if (kind != Token::Kind::kWord && kind != Token::Kind::kName) return std::nullopt;
    statement.column = tokens.take().text;
  }
  if (!tokens.at_end()) return std::nullopt;
  if (function->verb == Verb::kUnlockAll ? count != 0 : count != 1 && count != 2) return std::nullopt;
  for (const std::string& argument : arguments) {
    statement.key += fmt::format("{} CAST({} AS {})", statement.key.empty() ? "SELECT" : ",", argument,
                                 statement.is_pair ? "int" : "bigint");
  }
  return statement;
}

const Type& AdvisoryStatement::result() const {
  static constexpr Type kTruth{.kind = TypeKind::kBoolean};
  static constexpr Type kNothing{.kind = TypeKind::kVarchar, .is_text = true};
  return verb == Verb::kTry || verb == Verb::kUnlock ? kTruth : kNothing;
}

ClientSession::Ran ClientSession::run_advisory(Named& named, const AdvisoryStatement& statement,
                                               std::span<const Argument> parameters,
                                               std::span<const uint8_t> scales, ResultSink& rows,
                                               bool alone) {
  using Locks = AdvisoryLocks;
  Locks& locks = host_.advisory_locks();
  Locks::Key key{.is_pair = statement.is_pair};
  bool is_null = false;
  if (statement.query) {
    KeptValues found;
    Ran ran = run_sql(named, parameters, scales, found, alone);
    if (ran.done == Done::kYes && !ran.result.ok()) ran.result = without_place(std::move(ran.result));
    if (ran.done != Done::kYes || !ran.result.ok()) return ran;
    std::vector<int64_t> numbers;
    for (const Argument& each : found.row(0)) {
      is_null |= each.scalar.is_null();
      numbers.push_back(each.scalar.is_null() ? 0 : each.scalar.as_int());
    }
    key.number = numbers[0];
    if (statement.is_pair)
      key.number =
          static_cast<int64_t>(static_cast<uint64_t>(numbers[0]) << 32 | static_cast<uint32_t>(numbers[1]));
  }
  const Locks::Mode mode = statement.is_shared ? Locks::Mode::kShared : Locks::Mode::kExclusive;
  StatementResult done;
  done.tag = "SELECT 1";
  Value value = Value::of_text("");
  if (is_null) {
    // Every one of these functions is strict.
    value = Value::null();
  } else if (statement.verb == Verb::kUnlockAll) {
    locks.give_up_all(id_, Locks::Until::kGivenUp);
  } else if (statement.verb == Verb::kUnlock) {
    const bool is_held = locks.give_up(id_, key, mode);
    if (!is_held) {
      RaisedNotice& warning = done.raised.emplace_back();
      warning.level = ir::RaiseLevel::kWarning;
      warning.sqlstate = "01000";
      warning.message =
          fmt::format("you don't own a lock of type {}", statement.is_shared ? "ShareLock" : "ExclusiveLock");
    }
    value = Value::of_bool(is_held);
  } else {
    const bool waits = statement.verb == Verb::kLock;
    const auto until = statement.is_of_block ? Locks::Until::kEndOfBlock : Locks::Until::kGivenUp;
    const Locks::Outcome outcome = locks.take(id_, key, mode, until, waits);
    if (outcome == Locks::Outcome::kDeadlock) {
      return {Done::kYes, StatementResult::failure("40P01", "deadlock detected")};
    }
    if (outcome == Locks::Outcome::kTooMany) {
      return {Done::kYes,
              StatementResult::failure(
                  sqlstate::kOutOfMemory,
                  fmt::format("more than {} advisory locks at a time are not supported", Locks::kMostLocks))};
    }
    if (outcome == Locks::Outcome::kHeldByOthers && waits) {
      activity_->waits_for_lock().store(true, std::memory_order_relaxed);
      return {Done::kRetry};
    }
    // A statement by itself is a block that ends at once.
    if (statement.is_of_block && seat_.block() == SqlSession::Block::kNone)
      locks.give_up_all(id_, Locks::Until::kEndOfBlock);
    if (!waits) value = Value::of_bool(outcome == Locks::Outcome::kTaken);
  }
  rows.begin(named.columns);
  const Argument only = Argument::of(value);
  rows.add({&only, 1});
  return {Done::kYes, std::move(done)};
}

}  // namespace mneme
