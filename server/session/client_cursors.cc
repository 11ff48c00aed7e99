// PREPARE and EXECUTE as statements, and cursors: DECLARE, FETCH, MOVE, CLOSE.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/schema/array_form.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/values/type_oids.h"
#include "procedures/values/value_text.h"
#include "server/protocol/sqlstates.h"
#include "server/session/client_session.h"
#include "server/session/kept_values.h"

namespace mneme {

// A query's rows, as they were when it was declared. `at`: the row that was given last, from 1; 0 before the
// first, one more than there are behind the last.
struct ClientSession::Cursor {
  KeptValues rows;
  bool is_held = false;
  bool is_of_block = false;  // the block that is open has declared it
  bool goes_forward = false;
  int64_t at = 0;
  uint64_t number = 0;  // of those that the session has declared
};

namespace {

StatementResult missing_cursor(const std::string& name) {
  return StatementResult::failure(sqlstate::kUndefinedCursor,
                                  fmt::format("cursor \"{}\" does not exist", name));
}

StatementResult missing_statement(const std::string& name) {
  return StatementResult::failure(sqlstate::kUndefinedStatement,
                                  fmt::format("prepared statement \"{}\" does not exist", name));
}

StatementResult done_as(std::string tag) {
  StatementResult result;
  result.tag = std::move(tag);
  return result;
}

// Makes an array, which the query gave as elements or as a text, what the parameter holds.
StatementResult fit_array(const Type& given, const Type& wanted, Arena& arena, Argument& array) {
  if (given.is_array == wanted.is_array) return {};
  if (given.is_array) {
    const std::optional<std::string> text = print_argument(given, array);
    array = Argument::of(text ? Value::of_text(arena.copy(*text)) : Value::null());
    return {};
  }
  SqlError error;
  if (array.scalar.is_null() || parse_argument(wanted, array.scalar.as_text(), arena, array, error))
    return {};
  return StatementResult::failure(error.sqlstate, std::string(error.message));
}

}  // namespace

// ---- PREPARE and EXECUTE ----

ClientSession::Ran ClientSession::prepare_named(const PrepareStatement& statement) {
  if (statements_.contains(statement.name)) {
    return {Done::kYes, StatementResult::failure(
                            sqlstate::kDuplicateStatement,
                            fmt::format("prepared statement \"{}\" already exists", statement.name))};
  }
  std::vector<Type> given;
  for (const std::string& type : statement.types) {
    StatementResult failure;
    const auto cast = name_statement(fmt::format("SELECT CAST(NULL AS {}\n)", type), {}, failure);
    if (!cast) return {Done::kYes, std::move(failure)};
    Ran bound = prepare(**cast);
    if (bound.done != Done::kYes) return bound;
    bound.result.where = {};
    if (!bound.result.ok()) return bound;
    // A parameter has no modifiers in PostgreSQL.
    given.push_back(type_of_oid(oid_of(columns_of(**cast)[0].type)).value_or(Type()));
  }
  auto named = std::make_shared<Named>();
  named->statement = *statement.statement;
  named->prepared = std::make_unique<PreparedStatement>(
      std::get<std::shared_ptr<const syntax::Command>>(named->statement.what), std::move(given), values_);
  Ran prepared = prepare(*named);
  if (prepared.done != Done::kYes || !prepared.result.ok()) return prepared;
  statements_[statement.name] = std::move(named);
  return {Done::kYes, done_as("PREPARE")};
}

ClientSession::Ran ClientSession::execute_named(const ExecuteStatement& statement, ResultSink& rows,
                                                bool alone) {
  const auto found = statements_.find(statement.name);
  if (found == statements_.end()) return {Done::kYes, missing_statement(statement.name)};
  const std::shared_ptr<Named> named = found->second;
  Ran prepared = prepare(*named);
  if (prepared.done != Done::kYes || !prepared.result.ok()) return prepared;
  if (named->statement.command() == nullptr) {
    return {Done::kYes,
            StatementResult::failure(sqlstate::kNotSupported,
                                     "EXECUTE of a statement of the session's own is not supported; "
                                     "send the statement itself")};
  }
  const std::span<const Type> types = parameters_of(*named);
  if (types.size() != statement.arguments.size()) {
    return {
        Done::kYes,
        StatementResult::failure(
            sqlstate::kSyntaxError,
            fmt::format(
                "wrong number of parameters for prepared statement \"{}\": expected {} parameters but got {}",
                statement.name, types.size(), statement.arguments.size()))};
  }
  KeptValues arguments;
  std::vector<uint8_t> scales;
  if (!types.empty()) {
    std::string query = "SELECT ";
    for (size_t i = 0; i < types.size(); ++i) {
      const bool is_form = is_array_form(types[i]);
      const Type type = is_form ? declared_element(types[i]) : types[i].element();
      // A parameter of type char takes texts of any length.
      const bool is_char = type.kind == TypeKind::kChar;
      query += fmt::format("{}CAST(NULL AS {}{})", i == 0 ? "" : ", ", is_char ? "text" : type_name(type),
                           is_form || types[i].is_array ? "[]" : "");
    }
    ParsedStatement parsed = parse_statement(query);
    CHECK(parsed.command.has_value());
    // The arguments stand where the NULLs do.
    auto values = std::make_shared<syntax::Query>(*parsed.command->operation->query);
    for (size_t i = 0; i < types.size(); ++i) {
      syntax::Expr& cast = values->first.select->items[i].expr;
      cast.where = statement.arguments[i].where;
      cast.args[0] = statement.arguments[i];
    }
    parsed.command->operation->query = std::move(values);
    // It is not parsed again, as the arguments are in no text.
    parsed.command->text.clear();
    Named evaluation;
    evaluation.statement.what = std::make_shared<const syntax::Command>(*std::move(parsed.command));
    evaluation.prepared = std::make_unique<PreparedStatement>(
        std::get<std::shared_ptr<const syntax::Command>>(evaluation.statement.what), std::vector<Type>(),
        values_);
    Ran bound = prepare(evaluation);
    if (bound.done != Done::kYes || !bound.result.ok()) return bound;
    Ran evaluated = run_sql(evaluation, {}, {}, arguments, alone);
    if (evaluated.done != Done::kYes || !evaluated.result.ok()) return evaluated;
    CHECK(arguments.columns().size() == types.size());
    if (arguments.size() != 1) {
      return {Done::kYes,
              StatementResult::failure(sqlstate::kNotSupported,
                                       "set-returning functions are not allowed in EXECUTE parameters")};
    }
  }
  std::vector<Argument> parameters;
  Arena arena;
  for (size_t i = 0; i < types.size(); ++i) {
    parameters.push_back(arguments.row(0)[i]);
    if (types[i].is_array || is_array_form(types[i])) {
      scales.push_back(0);
      const StatementResult fitted = fit_array(arguments.columns()[i].type, types[i], arena, parameters[i]);
      if (!fitted.ok()) return {Done::kYes, fitted};
      continue;
    }
    if (types[i].kind == TypeKind::kChar && !parameters[i].scalar.is_null()) {
      std::string_view text = parameters[i].scalar.as_text();
      text.remove_suffix(text.size() - (text.find_last_not_of(' ') + 1));
      parameters[i] = Argument::of(Value::of_text(text));
    }
    // A number's digits after the point are the value's own, or its type's.
    const Type& given = arguments.columns()[i].type;
    if (types[i].kind == TypeKind::kDecimal && given.kind == TypeKind::kNumeric &&
        !parameters[i].scalar.is_null())
      parameters[i] = Argument::of(Value::of_decimal(parameters[i].scalar.as_numeric(), given.scale));
    const bool has_own_digits = given.kind == TypeKind::kDecimal && !parameters[i].scalar.is_null();
    scales.push_back(has_own_digits ? parameters[i].scalar.digits() : given.scale);
  }
  return run_sql(*named, parameters, scales, rows, alone,
                 statement.explain ? statement.explain : named->statement.explain);
}

// ---- cursors ----

ClientSession::Ran ClientSession::declare(Named& named, const CursorStatement& statement,
                                          std::span<const Argument> parameters,
                                          std::span<const uint8_t> scales, bool alone) {
  if (alone && !statement.is_held && seat_.block() == SqlSession::Block::kNone) {
    return {Done::kYes, StatementResult::failure(sqlstate::kNoActiveTransaction,
                                                 "DECLARE CURSOR can only be used in transaction blocks")};
  }
  if (cursors_.contains(statement.name)) {
    return {Done::kYes,
            StatementResult::failure(sqlstate::kDuplicateCursor,
                                     fmt::format("cursor \"{}\" already exists", statement.name))};
  }
  auto cursor = std::make_shared<Cursor>();
  Ran ran = run_sql(named, parameters, scales, cursor->rows, alone);
  size_t bytes = cursor->rows.bytes();
  for (const auto& [name, other] : cursors_) bytes += other->rows.bytes();
  if (bytes > kMostResultBytes) ran.result = too_large();
  if (ran.done != Done::kYes || !ran.result.ok()) return ran;
  cursor->is_held = statement.is_held;
  cursor->is_of_block = seat_.block() != SqlSession::Block::kNone;
  cursor->goes_forward = statement.goes_forward;
  cursor->number = ++declared_cursors_;
  cursors_[statement.name] = std::move(cursor);
  ran.result.tag = "DECLARE CURSOR";
  return ran;
}

StatementResult ClientSession::fetch(const CursorStatement& statement, ResultSink& rows) {
  using Direction = CursorStatement::Direction;
  const auto found = cursors_.find(statement.name);
  if (found == cursors_.end()) return missing_cursor(statement.name);
  Cursor& cursor = *found->second;
  const auto size = static_cast<int64_t>(cursor.rows.size());
  const int64_t behind = size + 1;
  const int64_t count = statement.count;
  int64_t first = cursor.at;  // the rows from `first` to `last` are given, in that order
  int64_t last = cursor.at;
  int64_t at = cursor.at;
  bool gives_rows = true;
  if (statement.direction == Direction::kForward && count != 0) {
    const bool is_forward = count > 0;
    first = cursor.at + (is_forward ? 1 : -1);
    at = is_forward ? (count >= behind - cursor.at ? behind : cursor.at + count)
                    : (-count >= cursor.at ? 0 : cursor.at + count);
    last = size == 0 ? 0 : std::clamp<int64_t>(at, 1, size);
    gives_rows = is_forward ? first <= last : first >= last && first >= 1;
  } else {
    if (statement.direction == Direction::kAbsolute) {
      at = count >= 0 ? count : behind + count;
    } else {
      at = cursor.at + count;
    }
    at = std::clamp<int64_t>(at, 0, behind);
    first = last = at;
    gives_rows = at >= 1 && at <= size;
  }
  if (cursor.goes_forward && (at < cursor.at || (first < cursor.at && gives_rows))) {
    return StatementResult::failure(sqlstate::kNotInPrerequisiteState, "cursor can only scan forward");
  }
  cursor.at = at;
  int64_t given = 0;
  if (gives_rows && size > 0) {
    const int64_t step = first <= last ? 1 : -1;
    for (int64_t row = first;; row += step) {
      if (statement.kind == CursorStatement::Kind::kFetch)
        rows.add(cursor.rows.row(static_cast<size_t>(row - 1)));
      ++given;
      if (row == last) break;
    }
  }
  return done_as(
      fmt::format("{} {}", statement.kind == CursorStatement::Kind::kFetch ? "FETCH" : "MOVE", given));
}

StatementResult ClientSession::close_cursor(const CursorStatement& statement) {
  if (statement.kind == CursorStatement::Kind::kCloseAll) {
    cursors_.clear();
    return done_as("CLOSE CURSOR ALL");
  }
  const auto found = cursors_.find(statement.name);
  if (found == cursors_.end()) return missing_cursor(statement.name);
  cursors_.erase(found);
  return done_as("CLOSE CURSOR");
}

std::optional<std::span<const ResultColumn>> ClientSession::columns_of_cursor(std::string_view name) const {
  const auto found = cursors_.find(name);
  if (found == cursors_.end()) return std::nullopt;
  return found->second->rows.columns();
}

ClientSession::Done ClientSession::execute_cursor(std::string_view name, int32_t most) {
  if (seat_.block() == SqlSession::Block::kFailed) {
    report(SqlSession::in_failed_block());
    return Done::kFailed;
  }
  CursorStatement statement;
  statement.kind = CursorStatement::Kind::kFetch;
  statement.name = name;
  statement.count = most <= 0 ? CursorStatement::kAll : most;
  std::vector<std::byte> bytes;
  RowWriter rows({}, bytes);
  rows.begin(*columns_of_cursor(name));
  StatementResult fetched = fetch(statement, rows);
  if (rows.is_too_large()) fetched = too_large();
  if (!fetched.ok()) {
    if (seat_.is_taken()) seat_.session().fail_block();
    report(fetched);
    return Done::kFailed;
  }
  MessageWriter writer = out();
  writer.bytes(bytes);
  if (most > 0 && rows.count() == static_cast<size_t>(most)) {
    write_bare('s', writer);
  } else {
    write_command_complete(fmt::format("SELECT {}", rows.count()), writer);
  }
  return Done::kYes;
}

void ClientSession::end_cursors(bool is_committed) {
  std::erase_if(cursors_, [&](const auto& each) {
    const Cursor& cursor = *each.second;
    return cursor.is_of_block && (!is_committed || !cursor.is_held);
  });
  for (auto& [name, cursor] : cursors_) cursor->is_of_block = false;
  savepoints_.clear();
}

// ROLLBACK TO takes with it the cursors that were declared since, and what was notified.
void ClientSession::follow_savepoint(const syntax::Command& command) {
  using Kind = syntax::Command::Kind;
  if (command.kind == Kind::kSavepoint) {
    savepoints_.push_back(
        {command.name.text, declared_cursors_, notices_.messages.size(), notices_.listens.size()});
    return;
  }
  if (command.kind != Kind::kRelease && command.kind != Kind::kRollBackTo) return;
  while (!savepoints_.empty() && savepoints_.back().name != command.name.text) savepoints_.pop_back();
  if (savepoints_.empty()) return;
  if (command.kind == Kind::kRelease) return savepoints_.pop_back();
  const BlockSavepoint& last = savepoints_.back();
  std::erase_if(cursors_, [&](const auto& each) { return each.second->number > last.cursors; });
  cut_notifications(last.messages, last.listens);
}

ClientSession::Ran ClientSession::learn_same_columns(Named& named) {
  const std::vector<ResultColumn> told = named.columns;
  Ran learned = learn_columns(named);
  if (learned.done != Done::kYes || !learned.result.ok()) return learned;
  const auto same = [](const ResultColumn& a, const ResultColumn& b) {
    return a.name == b.name && a.type == b.type;
  };
  if (std::ranges::equal(told, named.columns, same)) return learned;
  return {Done::kYes, StatementResult::failure(sqlstate::kNotSupported, std::string(kChangedResult))};
}

ClientSession::Ran ClientSession::learn_columns(Named& named) {
  if (const auto* execute = std::get_if<ExecuteStatement>(&named.statement.what)) {
    const auto found = statements_.find(execute->name);
    if (found == statements_.end()) return {Done::kYes, missing_statement(execute->name)};
    if (found->second->statement.command() == nullptr) return {};  // it is refused as it runs
    Ran prepared = prepare(*found->second);
    if (prepared.done != Done::kYes || !prepared.result.ok()) return prepared;
    const std::span<const ResultColumn> columns =
        execute->explain ? explained_columns() : columns_of(*found->second);
    named.columns.assign(columns.begin(), columns.end());
  } else if (const auto* cursor = std::get_if<CursorStatement>(&named.statement.what);
             cursor != nullptr && cursor->kind == CursorStatement::Kind::kFetch) {
    const auto found = cursors_.find(cursor->name);
    if (found == cursors_.end()) return {Done::kYes, missing_cursor(cursor->name)};
    const std::span<const ResultColumn> columns = found->second->rows.columns();
    named.columns.assign(columns.begin(), columns.end());
  }
  return {};
}

}  // namespace mneme
