#include "server/session/client_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "server/protocol/sqlstates.h"
#include "server/session/client_advisory.h"
#include "server/session/client_explain.h"
#include "server/session/client_locks.h"
#include "server/session/client_notify.h"
#include "server/session/client_tokens.h"

namespace mneme {
namespace {

struct Refused {
  std::string sqlstate;
  std::string message;
};

constexpr std::string_view kUnexplained =
    "EXPLAIN explains a SELECT, an INSERT, an UPDATE, a DELETE, a CALL or an EXECUTE";

[[noreturn]] void syntax_error(const Tokens& tokens) {
  throw Refused{sqlstate::kSyntaxError,
                tokens.at_end() ? "syntax error at end of input"
                                : fmt::format("syntax error at or near \"{}\"", tokens.peek().text)};
}

std::string take_name(Tokens& tokens) {
  const Token token = tokens.take();
  if (token.kind != Token::Kind::kWord && token.kind != Token::Kind::kName) syntax_error(tokens);
  if (token.text.empty()) throw Refused{sqlstate::kSyntaxError, "zero-length delimited identifier"};
  return token.text;
}

// The values behind SET name TO, joined as PostgreSQL keeps lists.
std::optional<std::string> read_value(Tokens& tokens) {
  if (tokens.take_word("default")) return std::nullopt;
  std::string value;
  do {
    if (!value.empty()) value += ", ";
    std::string part;
    const bool is_name = tokens.peek().kind == Token::Kind::kName;
    const Token token = tokens.take();
    if (token.kind == Token::Kind::kEnd || token.kind == Token::Kind::kMark) syntax_error(tokens);
    part = is_name ? '"' + token.text + '"' : token.text;
    while (tokens.peek().kind == Token::Kind::kWord) part += " " + tokens.take().text;
    value += part;
  } while (tokens.take_mark(","));
  return value;
}

std::string take_role(Tokens& tokens) {
  const Token token = tokens.take();
  if (token.kind == Token::Kind::kEnd || token.kind == Token::Kind::kMark) syntax_error(tokens);
  return token.text;
}

void expect_end(const Tokens& tokens) {
  if (!tokens.at_end()) syntax_error(tokens);
}

// TRANSACTION ISOLATION LEVEL ..., READ ONLY ...
SetStatement read_transaction_modes(Tokens& tokens, std::string_view prefix) {
  SetStatement set;
  set.is_local = prefix.empty();
  do {
    if (tokens.take_word("isolation")) {
      if (!tokens.take_word("level")) syntax_error(tokens);
      set.name = std::string(prefix) + "transaction_isolation";
      set.value = tokens.take().text;
      if (*set.value == "repeatable" || *set.value == "read")
        set.value = *set.value + " " + tokens.take().text;
    } else if (tokens.take_word("read")) {
      set.name = std::string(prefix) + "transaction_read_only";
      set.value = tokens.take_word("only") ? "on" : "off";
      if (*set.value == "off" && !tokens.take_word("write")) syntax_error(tokens);
    } else if (tokens.take_word("not") || tokens.peek().text == "deferrable") {
      if (!tokens.take_word("deferrable")) syntax_error(tokens);
      set.name = std::string(prefix) + "transaction_deferrable";
      set.value = "off";
    } else {
      syntax_error(tokens);
    }
  } while (tokens.take_mark(",") || !tokens.at_end());
  return set;
}

// INTERVAL '+01:00' HOUR TO MINUTE, as PostgreSQL shows such a zone: <+01>-01.
std::string zone_of_interval(Tokens& tokens) {
  if (tokens.peek().kind != Token::Kind::kString) syntax_error(tokens);
  std::string offset = tokens.take().text;
  for (const char* const word : {"hour", "to", "minute"}) static_cast<void>(tokens.take_word(word));
  const bool is_west = offset.starts_with('-');
  if (is_west || offset.starts_with('+')) offset.erase(0, 1);
  if (offset.ends_with(":00")) offset.resize(offset.size() - 3);
  if (offset.find_first_not_of("0:") == std::string::npos) return "UTC";
  return fmt::format("<{0}{2}>{1}{2}", is_west ? '-' : '+', is_west ? '+' : '-', offset);
}

SetStatement read_set(Tokens& tokens) {
  SetStatement set;
  if (tokens.take_word("local")) {
    set.is_local = true;
  } else if (tokens.take_word("session")) {
    if (tokens.take_word("characteristics")) {
      if (!tokens.take_word("as") || !tokens.take_word("transaction")) syntax_error(tokens);
      return read_transaction_modes(tokens, "default_");
    }
    if (tokens.take_word("authorization"))
      throw Refused{sqlstate::kNotSupported, "SET SESSION AUTHORIZATION is not supported"};
  }
  if (tokens.take_word("transaction")) return read_transaction_modes(tokens, "");
  if (tokens.take_word("time")) {
    if (!tokens.take_word("zone")) syntax_error(tokens);
    set.name = "timezone";
    if (tokens.take_word("interval")) {
      set.value = zone_of_interval(tokens);
    } else {
      set.value = tokens.take_word("local") ? std::nullopt : read_value(tokens);
    }
  } else if (tokens.take_word("names")) {
    set.name = "client_encoding";
    set.value = read_value(tokens);
  } else if (tokens.take_word("role")) {
    set.name = "role";
    if (!tokens.take_word("to")) tokens.take_mark("=");
    if (!tokens.take_word("default")) set.value = take_role(tokens);
  } else {
    set.name = take_name(tokens);
    if (!tokens.take_word("to") && !tokens.take_mark("=")) syntax_error(tokens);
    set.value = read_value(tokens);
  }
  expect_end(tokens);
  return set;
}

SetStatement read_show(Tokens& tokens, SetStatement::Kind kind) {
  SetStatement show;
  show.kind = kind;
  if (tokens.take_word("time")) {
    if (!tokens.take_word("zone")) syntax_error(tokens);
    show.name = "timezone";
  } else if (tokens.take_word("transaction")) {
    if (!tokens.take_word("isolation") || !tokens.take_word("level")) syntax_error(tokens);
    show.name = "transaction_isolation";
  } else {
    show.name = take_name(tokens);
  }
  expect_end(tokens);
  return show;
}

// Returns nullopt where the statement is another one than SELECT set_config('name', 'value', is_local).
std::optional<SetStatement> read_set_config(Tokens tokens) {
  SetStatement set;
  set.kind = SetStatement::Kind::kSetConfig;
  set.column = "set_config";
  if (!tokens.take_word("select")) return std::nullopt;
  if (!tokens.take_word("set_config") && !tokens.take_word("pg_catalog.set_config")) return std::nullopt;
  if (!tokens.take_mark("(") || tokens.peek().kind != Token::Kind::kString) return std::nullopt;
  set.name = tokens.take().text;
  if (!tokens.take_mark(",")) return std::nullopt;
  if (tokens.peek().kind == Token::Kind::kString) {
    set.value = tokens.take().text;
  } else if (!tokens.take_word("null")) {
    return std::nullopt;
  }
  if (!tokens.take_mark(",")) return std::nullopt;
  set.is_local = tokens.take_word("true");
  if ((!set.is_local && !tokens.take_word("false")) || !tokens.take_mark(")")) return std::nullopt;
  if (tokens.take_word("as")) set.column = take_name(tokens);
  if (!tokens.at_end()) return std::nullopt;
  return set;
}

// ALTER ... OWNER TO name, as a dump has it behind each object. Nobody owns one here.
std::optional<IdleStatement> read_new_owner(Tokens tokens) {
  if (!tokens.take_word("alter")) return std::nullopt;
  std::string kind;
  for (const char* const each : {"table", "sequence", "view", "function", "procedure", "type", "schema"}) {
    if (kind.empty() && tokens.take_word(each)) kind = each;
  }
  if (kind.empty()) return std::nullopt;
  while (!tokens.at_end() && !tokens.take_word("owner")) tokens.take();
  if (!tokens.take_word("to")) return std::nullopt;
  tokens.take();
  if (!tokens.at_end()) return std::nullopt;
  std::ranges::transform(kind, kind.begin(), [](char c) { return is_ascii_letter(c) ? c & ~0x20 : c; });
  return IdleStatement{"ALTER " + kind, "there are no owners: every client has all rights"};
}

char one_character(Tokens& tokens) {
  const Token token = tokens.take();
  if (token.kind != Token::Kind::kString || token.text.size() != 1)
    throw Refused{sqlstate::kNotSupported,
                  "COPY's delimiter, quote and escape are a single character of one byte"};
  return token.text[0];
}

bool read_bool(Tokens& tokens) {
  const Token& next = tokens.peek();
  if (next.kind == Token::Kind::kEnd || next.text == "," || next.text == ")") return true;
  const std::string text = tokens.take().text;
  return text == "true" || text == "on" || text == "1" || text == "match";
}

// One option, as in WITH (...), or as before PostgreSQL 9.
void read_copy_option(Tokens& tokens, CopyStatement& copy) {
  const auto set_csv = [&] {
    copy.is_csv = true;
    copy.delimiter = ',';
    copy.null_text.clear();
  };
  if (tokens.take_word("csv")) {
    set_csv();
  } else if (tokens.take_word("binary")) {
    copy.is_binary = true;
  } else if (tokens.take_word("format")) {
    const std::string format = tokens.take().text;
    if (format == "csv") {
      set_csv();
    } else if (format == "binary") {
      copy.is_binary = true;
    } else if (format != "text") {
      throw Refused{sqlstate::kInvalidParameter, fmt::format("COPY format \"{}\" not recognized", format)};
    }
  } else if (tokens.take_word("header")) {
    copy.has_header = read_bool(tokens);
  } else if (tokens.take_word("freeze")) {
    read_bool(tokens);  // rows in memory are as good as frozen
  } else if (tokens.take_word("delimiter") || tokens.take_word("delimiters")) {
    tokens.take_word("as");
    copy.delimiter = one_character(tokens);
  } else if (tokens.take_word("null")) {
    tokens.take_word("as");
    copy.null_text = tokens.take().text;
  } else if (tokens.take_word("quote")) {
    tokens.take_word("as");
    copy.quote = one_character(tokens);
    copy.escape = copy.quote;
  } else if (tokens.take_word("escape")) {
    tokens.take_word("as");
    copy.escape = one_character(tokens);
  } else if (tokens.take_word("encoding")) {
    const std::string encoding = tokens.take().text;
    if (encoding != "UTF8" && encoding != "utf8" && encoding != "utf-8" && encoding != "UTF-8")
      throw Refused{sqlstate::kNotSupported,
                    fmt::format("COPY from the encoding {} is not supported; use UTF8", encoding)};
  } else {
    throw Refused{sqlstate::kSyntaxError, fmt::format("option \"{}\" not recognized", tokens.peek().text)};
  }
}

// The text up to the parenthesis that ends it.
std::string read_query(Tokens& tokens) {
  const std::string_view from = tokens.rest();
  for (int depth = 1;;) {
    if (tokens.at_end()) syntax_error(tokens);
    const bool is_mark = tokens.peek().kind == Token::Kind::kMark;
    if (is_mark && tokens.peek().text == "(") ++depth;
    if (is_mark && tokens.peek().text == ")" && --depth == 0) break;
    tokens.take();
  }
  std::string query(from.substr(0, from.size() - tokens.rest().size()));
  tokens.take();
  return query;
}

CopyStatement read_copy(Tokens& tokens) {
  CopyStatement copy;
  if (tokens.take_mark("(")) {
    copy.query = read_query(tokens);
  } else {
    copy.table = take_relation(tokens);
    if (copy.table.empty()) syntax_error(tokens);
  }
  if (copy.query.empty() && tokens.take_mark("(")) {
    do {
      copy.columns.push_back(take_name(tokens));
    } while (tokens.take_mark(","));
    if (!tokens.take_mark(")")) syntax_error(tokens);
  }
  copy.is_in = copy.query.empty() && tokens.take_word("from");
  if (!copy.is_in && !tokens.take_word("to")) syntax_error(tokens);
  const std::string place = tokens.take().text;
  if (place != (copy.is_in ? "stdin" : "stdout")) {
    throw Refused{sqlstate::kNotSupported,
                  "COPY from and to the server's files and programs is not supported; use STDIN and STDOUT"};
  }
  tokens.take_word("with");
  if (tokens.take_mark("(")) {
    do {
      read_copy_option(tokens, copy);
    } while (tokens.take_mark(","));
    if (!tokens.take_mark(")")) syntax_error(tokens);
  }
  while (!tokens.at_end()) read_copy_option(tokens, copy);
  if (copy.is_binary && (copy.is_csv || copy.has_header)) {
    throw Refused{sqlstate::kInvalidParameter, "COPY in binary has no header and no CSV"};
  }
  return copy;
}

// The text of a statement from here on, with blanks for what stands before it, so that places in it stay.
std::string in_place(std::string_view text, const Tokens& tokens) {
  const size_t before = text.size() - tokens.rest().size();
  std::string rest(text);
  std::replace_if(
      rest.begin(), rest.begin() + static_cast<ptrdiff_t>(before), [](char c) { return c != '\n'; }, ' ');
  return rest;
}

// The statement in PREPARE or DECLARE. `queries`: it must be a query.
std::shared_ptr<const ClientStatement> read_inner(std::string_view text, const Tokens& tokens,
                                                  bool is_query) {
  ParsedStatement parsed = parse_statement(in_place(text, tokens));
  if (!parsed.command) throw std::move(parsed.failure);
  const bool is_accepted = parsed.command->kind == syntax::Command::Kind::kOperation &&
                           (!is_query || parsed.command->operation->kind == ir::OperationKind::kSelect);
  if (!is_accepted) syntax_error(tokens);
  if (is_query && parsed.command->operation->query->changes_in_with()) {
    throw Refused{sqlstate::kNotSupported,
                  "DECLARE CURSOR must not contain data-modifying statements in WITH"};
  }
  auto inner = std::make_shared<ClientStatement>();
  inner->text = in_place(text, tokens);
  inner->what = std::make_shared<const syntax::Command>(*std::move(parsed.command));
  return inner;
}

// The parts between commas, up to the parenthesis that closes the list.
std::vector<std::string> read_parts(Tokens& tokens) {
  std::vector<std::string> parts;
  std::string_view from = tokens.rest();
  for (int depth = 0;;) {
    if (tokens.at_end()) syntax_error(tokens);
    const bool is_mark = tokens.peek().kind == Token::Kind::kMark;
    const std::string mark = is_mark ? tokens.peek().text : "";
    if (depth == 0 && (mark == "," || mark == ")")) {
      const std::string_view part = from.substr(0, from.size() - tokens.rest().size());
      parts.emplace_back(part.substr(0, part.find_last_not_of(" \t\n\v\f\r") + 1));
      if (parts.back().empty()) syntax_error(tokens);
      tokens.take();
      if (mark == ")") return parts;
      from = tokens.rest();
      continue;
    }
    if (mark == "(" || mark == "[") ++depth;
    if (mark == ")" || mark == "]") --depth;
    tokens.take();
  }
}

PrepareStatement read_prepare(std::string_view text, Tokens& tokens) {
  PrepareStatement prepare;
  prepare.name = take_name(tokens);
  if (tokens.take_mark("(")) prepare.types = read_parts(tokens);
  if (!tokens.take_word("as")) syntax_error(tokens);
  prepare.statement = read_inner(text, tokens, false);
  return prepare;
}

// The arguments are read as those of a CALL in the statement's place.
ExecuteStatement read_execute(std::string_view text, Tokens& tokens) {
  constexpr std::string_view kCall = "CALL p ";
  ExecuteStatement execute;
  execute.name = take_name(tokens);
  if (tokens.at_end()) return execute;
  if (tokens.peek().kind != Token::Kind::kMark || tokens.peek().text != "(") syntax_error(tokens);
  std::string call = in_place(text, tokens);
  call.replace(text.size() - tokens.rest().size() - kCall.size(), kCall.size(), kCall);
  ParsedStatement parsed = parse_statement(call);
  if (!parsed.command) {
    parsed.failure.sqlstate = sqlstate::kSyntaxError;
    throw std::move(parsed.failure);
  }
  if (parsed.command->parameters > 0)
    throw Refused{sqlstate::kUndefinedParameter, "there is no parameter $1"};
  execute.arguments = std::move(parsed.command->args);
  if (execute.arguments.empty()) syntax_error(tokens);
  return execute;
}

CursorStatement read_declare(std::string_view text, Tokens& tokens) {
  CursorStatement declare;
  declare.name = take_name(tokens);
  bool scrolls = false;
  for (;;) {
    if (tokens.take_word("no")) {
      if (!tokens.take_word("scroll")) syntax_error(tokens);
      declare.goes_forward = true;
    } else if (tokens.take_word("binary")) {
      throw Refused{sqlstate::kNotSupported,
                    "binary cursors are not supported; ask for the binary format of results"};
    } else if (tokens.take_word("scroll")) {
      scrolls = true;
    } else if (!tokens.take_word("insensitive") && !tokens.take_word("asensitive")) {
      break;
    }
  }
  if (!tokens.take_word("cursor")) syntax_error(tokens);
  if (scrolls && declare.goes_forward)
    throw Refused{sqlstate::kInvalidCursorDefinition, "cannot specify both SCROLL and NO SCROLL"};
  if (tokens.take_word("with")) {
    if (!tokens.take_word("hold")) syntax_error(tokens);
    declare.is_held = true;
  } else if (tokens.take_word("without")) {
    if (!tokens.take_word("hold")) syntax_error(tokens);
  }
  if (!tokens.take_word("for")) syntax_error(tokens);
  declare.query = read_inner(text, tokens, true);
  return declare;
}

std::optional<int64_t> take_count(Tokens& tokens) {
  if (tokens.take_word("all")) return CursorStatement::kAll;
  const Token& token = tokens.peek();
  if (token.kind != Token::Kind::kWord) return std::nullopt;
  int64_t count = 0;
  const char* const begin = token.text.data() + (token.text.starts_with('+') ? 1 : 0);
  const char* const end = token.text.data() + token.text.size();
  const auto [read, error] = std::from_chars(begin, end, count);
  if (read != end || begin == end) return std::nullopt;
  if (error != std::errc() || count != static_cast<int32_t>(count)) syntax_error(tokens);
  tokens.take();
  return count;
}

CursorStatement read_fetch(Tokens& tokens, CursorStatement::Kind kind) {
  using Direction = CursorStatement::Direction;
  CursorStatement fetch;
  fetch.kind = kind;
  const auto set = [&](Direction direction, int64_t count) {
    fetch.direction = direction;
    fetch.count = count;
  };
  const auto set_counted = [&](Direction direction) {
    const std::optional<int64_t> count = take_count(tokens);
    if (!count || *count == CursorStatement::kAll) syntax_error(tokens);
    set(direction, *count);
  };
  if (tokens.take_word("next")) {
    set(Direction::kForward, 1);
  } else if (tokens.take_word("prior")) {
    set(Direction::kForward, -1);
  } else if (tokens.take_word("first")) {
    set(Direction::kAbsolute, 1);
  } else if (tokens.take_word("last")) {
    set(Direction::kAbsolute, -1);
  } else if (tokens.take_word("absolute")) {
    set_counted(Direction::kAbsolute);
  } else if (tokens.take_word("relative")) {
    set_counted(Direction::kRelative);
  } else if (tokens.take_word("forward")) {
    set(Direction::kForward, take_count(tokens).value_or(1));
  } else if (tokens.take_word("backward")) {
    set(Direction::kForward, -take_count(tokens).value_or(1));
  } else if (const std::optional<int64_t> count = take_count(tokens)) {
    set(Direction::kForward, *count);
  }
  if (!tokens.take_word("from")) tokens.take_word("in");
  fetch.name = take_name(tokens);
  expect_end(tokens);
  return fetch;
}

constexpr std::string_view kIdle[] = {"vacuum", "analyze", "checkpoint", "reindex", "cluster"};

// Returns nullopt where the statement is SQL's.
std::optional<ClientStatement> read_own(std::string_view text) {
  Tokens tokens(text);
  ClientStatement statement;
  statement.text = text;
  if (tokens.at_end()) return statement;
  if (std::optional<LockStatement> lock = read_lock_table(tokens)) {
    statement.what = *std::move(lock);
  } else if (tokens.take_word("set")) {
    if (tokens.take_word("constraints")) {
      statement.what = read_constraints(tokens);
    } else {
      statement.what = read_set(tokens);
    }
  } else if (tokens.take_word("show")) {
    statement.what = read_show(tokens, SetStatement::Kind::kShow);
  } else if (tokens.take_word("reset")) {
    statement.what = read_show(tokens, SetStatement::Kind::kReset);
  } else if (tokens.take_word("discard")) {
    DiscardStatement discard;
    const std::string what = take_name(tokens);
    if (what != "all" && what != "plans" && what != "sequences" && what != "temp" && what != "temporary")
      syntax_error(tokens);
    discard.all = what == "all";
    discard.name = what == "temporary" ? "temp" : what;
    statement.what = discard;
  } else if (tokens.take_word("deallocate")) {
    DiscardStatement discard;
    discard.is_deallocate = true;
    tokens.take_word("prepare");
    discard.name = take_name(tokens);
    discard.all = discard.name == "all";
    expect_end(tokens);
    statement.what = discard;
  } else if (tokens.take_word("prepare")) {
    statement.what = read_prepare(text, tokens);
  } else if (tokens.take_word("execute")) {
    statement.what = read_execute(text, tokens);
  } else if (tokens.take_word("declare")) {
    statement.what = read_declare(text, tokens);
  } else if (tokens.take_word("fetch")) {
    statement.what = read_fetch(tokens, CursorStatement::Kind::kFetch);
  } else if (tokens.take_word("move")) {
    statement.what = read_fetch(tokens, CursorStatement::Kind::kMove);
  } else if (tokens.take_word("close")) {
    CursorStatement close;
    close.kind = tokens.take_word("all") ? CursorStatement::Kind::kCloseAll : CursorStatement::Kind::kClose;
    if (close.kind == CursorStatement::Kind::kClose) close.name = take_name(tokens);
    expect_end(tokens);
    statement.what = close;
  } else if (std::optional<SetStatement> set_config = read_set_config(tokens)) {
    statement.what = *std::move(set_config);
  } else if (std::optional<AdvisoryStatement> advisory = read_advisory(tokens)) {
    if (!advisory->key.empty()) {
      ParsedStatement parsed = parse_statement(advisory->key);
      if (!parsed.command) throw without_place(std::move(parsed.failure));
      auto query = std::make_shared<ClientStatement>();
      query->text = advisory->key;
      query->what = std::make_shared<const syntax::Command>(*std::move(parsed.command));
      advisory->query = std::move(query);
    }
    statement.what = *std::move(advisory);
  } else if (std::optional<NotifyStatement> notify = read_notify(tokens)) {
    statement.what = *std::move(notify);
  } else if (std::optional<IdleStatement> owner = read_new_owner(tokens)) {
    statement.what = *std::move(owner);
  } else if (tokens.take_word("copy")) {
    statement.what = read_copy(tokens);
  } else if (tokens.peek().kind == Token::Kind::kWord &&
             std::ranges::find(kIdle, tokens.peek().text) != std::end(kIdle)) {
    std::string tag = tokens.take().text;
    std::ranges::transform(tag, tag.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    statement.what = IdleStatement{tag};
  } else {
    return std::nullopt;
  }
  return statement;
}

}  // namespace

ReadStatement read_statement(std::string_view text) {
  std::optional<Explained> explained;
  try {
    explained = read_explain(text);
    std::optional<ClientStatement> own = read_own(explained ? explained->text : text);
    if (own && explained) {
      auto* execute = std::get_if<ExecuteStatement>(&own->what);
      if (execute == nullptr) throw Refused{sqlstate::kSyntaxError, std::string(kUnexplained)};
      execute->explain = explained->options;
      own->text = text;
    }
    if (own) return {std::move(own), {}};
  } catch (const Refused& refused) {
    return {std::nullopt, StatementResult::failure(refused.sqlstate, refused.message)};
  } catch (StatementResult& failure) {
    return {std::nullopt, std::move(failure)};
  }
  ParsedStatement parsed = parse_statement(explained ? explained->text : text);
  if (!parsed.command) return {std::nullopt, std::move(parsed.failure)};
  if (explained && parsed.command->kind != syntax::Command::Kind::kOperation &&
      parsed.command->kind != syntax::Command::Kind::kCall)
    return {std::nullopt, StatementResult::failure(sqlstate::kSyntaxError, std::string(kUnexplained))};
  ClientStatement statement;
  statement.text = text;
  if (explained) statement.explain = explained->options;
  statement.what = std::make_shared<const syntax::Command>(*std::move(parsed.command));
  return {std::move(statement), {}};
}

StatementResult without_place(StatementResult failure) {
  const std::string place = fmt::format("line {}:{}: ", failure.where.line, failure.where.column);
  if (failure.where.line != 0 && failure.message.starts_with(place)) failure.message.erase(0, place.size());
  failure.where = {};
  return failure;
}

}  // namespace mneme
