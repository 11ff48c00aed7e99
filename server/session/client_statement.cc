#include "server/session/client_statement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"

namespace mneme {
namespace {

// A word in lower case, a quoted name or string without its quotes, or a mark.
struct Token {
  enum class Kind { kWord, kName, kString, kMark, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
};

class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) { advance(); }

  const Token& peek() const { return token_; }
  Token take() {
    Token taken = token_;
    advance();
    return taken;
  }
  bool take_word(std::string_view word) {
    if (token_.kind != Token::Kind::kWord || token_.text != word) return false;
    advance();
    return true;
  }
  bool take_mark(std::string_view mark) {
    if (token_.kind != Token::Kind::kMark || token_.text != mark) return false;
    advance();
    return true;
  }
  // Returns the text from the next token on.
  std::string_view rest() const { return from_token_; }
  bool at_end() const { return token_.kind == Token::Kind::kEnd; }

 private:
  void skip_blanks() {
    for (;;) {
      while (!rest_.empty() && is_ascii_blank(rest_[0])) rest_.remove_prefix(1);
      if (rest_.starts_with("--")) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (rest_.starts_with("/*")) {
        const size_t end = rest_.find("*/");
        rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 2);
      } else {
        return;
      }
    }
  }
  void advance() {
    skip_blanks();
    from_token_ = rest_;
    token_ = {};
    if (rest_.empty() || rest_ == ";") return;
    const char c = rest_[0];
    const auto is_word = [](char letter) {
      return is_ascii_letter(letter) || is_ascii_digit(letter) || letter == '_' || letter == '.' ||
             letter == '-' || letter == '+';
    };
    // E'...': a string with escapes, which is how clients write tabs.
    const bool is_escape = (c == 'e' || c == 'E') && rest_.size() > 1 && rest_[1] == '\'';
    if (c == '\'' || c == '"' || is_escape) {
      if (is_escape) rest_.remove_prefix(1);
      quoted(rest_[0], is_escape);
      token_.kind = c == '"' ? Token::Kind::kName : Token::Kind::kString;
    } else if (is_word(c)) {
      const auto end = std::ranges::find_if_not(rest_, is_word);
      token_.kind = Token::Kind::kWord;
      token_.text.assign(rest_.begin(), end);
      std::ranges::transform(token_.text, token_.text.begin(), ascii_lower);
      rest_.remove_prefix(token_.text.size());
    } else {
      token_.kind = Token::Kind::kMark;
      token_.text = c;
      rest_.remove_prefix(1);
    }
  }
  void quoted(char quote, bool has_escapes) {
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == quote) {
        if (rest_.empty() || rest_[0] != quote) return;
        rest_.remove_prefix(1);
      } else if (has_escapes && c == '\\' && !rest_.empty()) {
        const char escaped = rest_[0];
        rest_.remove_prefix(1);
        c = escaped == 't'   ? '\t'
            : escaped == 'n' ? '\n'
            : escaped == 'r' ? '\r'
            : escaped == 'b' ? '\b'
                             : escaped;
      }
      token_.text.push_back(c);
    }
  }

  std::string_view rest_;
  std::string_view from_token_;
  Token token_;
};

struct Refused {
  std::string sqlstate;
  std::string message;
};

[[noreturn]] void syntax_error(const Tokens& tokens) {
  throw Refused{sqlstate::kSyntaxError,
                tokens.at_end() ? "syntax error at end of input"
                                : fmt::format("syntax error at or near \"{}\"", tokens.peek().text)};
}

std::string take_name(Tokens& tokens) {
  const Token token = tokens.take();
  if (token.kind != Token::Kind::kWord && token.kind != Token::Kind::kName) syntax_error(tokens);
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
    set.value = tokens.take_word("local") ? std::nullopt : read_value(tokens);
  } else if (tokens.take_word("names")) {
    set.name = "client_encoding";
    set.value = read_value(tokens);
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
  } else if (tokens.take_word("format")) {
    const std::string format = tokens.take().text;
    if (format == "csv") {
      set_csv();
    } else if (format != "text") {
      throw Refused{sqlstate::kNotSupported,
                    fmt::format("COPY format \"{}\" is not supported; use text or csv", format)};
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

CopyStatement read_copy(Tokens& tokens) {
  CopyStatement copy;
  if (tokens.take_mark("("))
    throw Refused{sqlstate::kNotSupported,
                  "COPY of a query is not supported; copy a table, or SELECT the rows"};
  copy.table = take_name(tokens);
  if (copy.table.starts_with("public.")) copy.table.erase(0, 7);
  if (tokens.take_mark("(")) {
    do {
      copy.columns.push_back(take_name(tokens));
    } while (tokens.take_mark(","));
    if (!tokens.take_mark(")")) syntax_error(tokens);
  }
  copy.is_in = tokens.take_word("from");
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
  return copy;
}

// Reads one option of EXPLAIN (...). Refuses an option that asks for something EXPLAIN doesn't show here.
void read_explain_option(Tokens& tokens) {
  const std::string option = take_name(tokens);
  if (option == "format") {
    const std::string format = tokens.take().text;
    if (format != "text")
      throw Refused{sqlstate::kNotSupported, "EXPLAIN explains as text alone; leave FORMAT out"};
    return;
  }
  constexpr std::string_view kOptions[] = {"analyze", "buffers", "costs",   "settings",
                                           "summary", "timing",  "verbose", "wal"};
  if (std::ranges::find(kOptions, option) == std::end(kOptions))
    throw Refused{sqlstate::kSyntaxError, fmt::format("unrecognized EXPLAIN option \"{}\"", option)};
  const Token& next = tokens.peek();
  const bool is_off = next.text == "off" || next.text == "false" || next.text == "0";
  if (!is_off) {
    throw Refused{sqlstate::kNotSupported,
                  fmt::format("EXPLAIN with {} is not supported; leave it out", option)};
  }
  tokens.take();
}

// Returns the statement that EXPLAIN is asked about, with blanks for what stands before it, so that places in
// it stay; nullopt where the statement is another one.
std::optional<std::string> read_explain(std::string_view text) {
  Tokens tokens(text);
  if (!tokens.take_word("explain")) return std::nullopt;
  if (tokens.take_mark("(")) {
    do {
      read_explain_option(tokens);
    } while (tokens.take_mark(","));
    if (!tokens.take_mark(")")) syntax_error(tokens);
  } else {
    for (const std::string_view option : {"analyze", "verbose"}) {
      if (tokens.take_word(option))
        throw Refused{sqlstate::kNotSupported,
                      fmt::format("EXPLAIN with {} is not supported; leave it out", option)};
    }
  }
  const std::string_view rest = tokens.rest();
  return std::string(text.size() - rest.size(), ' ') + std::string(rest);
}

constexpr std::string_view kIdle[] = {"vacuum",   "analyze", "checkpoint", "listen",
                                      "unlisten", "reindex", "cluster"};

// Returns nullopt where the statement is SQL's.
std::optional<ClientStatement> read_own(std::string_view text) {
  Tokens tokens(text);
  ClientStatement statement;
  statement.text = text;
  if (tokens.at_end()) return statement;
  if (tokens.take_word("set")) {
    statement.what = read_set(tokens);
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
    statement.what = discard;
  } else if (tokens.take_word("deallocate")) {
    DiscardStatement discard;
    discard.is_deallocate = true;
    tokens.take_word("prepare");
    discard.name = take_name(tokens);
    discard.all = discard.name == "all";
    expect_end(tokens);
    statement.what = discard;
  } else if (std::optional<SetStatement> set_config = read_set_config(tokens)) {
    statement.what = *std::move(set_config);
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
  std::optional<std::string> explained;
  try {
    explained = read_explain(text);
    std::optional<ClientStatement> own = explained ? std::nullopt : read_own(text);
    if (own) return {std::move(own), {}};
  } catch (const Refused& refused) {
    return {std::nullopt, StatementResult::failure(refused.sqlstate, refused.message)};
  }
  ParsedStatement parsed = parse_statement(explained ? *explained : text);
  if (!parsed.command) return {std::nullopt, std::move(parsed.failure)};
  if (explained && parsed.command->kind != syntax::Command::Kind::kOperation) {
    return {std::nullopt,
            StatementResult::failure(sqlstate::kSyntaxError,
                                     "EXPLAIN explains a SELECT, an INSERT, an UPDATE or a DELETE")};
  }
  ClientStatement statement;
  statement.text = text;
  statement.explains = explained.has_value();
  statement.what = std::make_shared<const syntax::Command>(*std::move(parsed.command));
  return {std::move(statement), {}};
}

}  // namespace mneme
