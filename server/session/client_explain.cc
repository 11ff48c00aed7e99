#include "server/session/client_explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/protocol/sqlstates.h"
#include "server/session/client_session.h"
#include "server/session/client_tokens.h"

namespace mneme {

namespace {

[[noreturn]] void refuse_explain(const char* code, std::string message) {
  throw StatementResult::failure(code, std::move(message));
}

[[noreturn]] void refuse_explain_at(const Tokens& tokens) {
  refuse_explain(sqlstate::kSyntaxError,
                 tokens.at_end() ? "syntax error at end of input"
                                 : fmt::format("syntax error at or near \"{}\"", tokens.peek().text));
}

[[noreturn]] void refuse_option(const std::string& option) {
  refuse_explain(sqlstate::kNotSupported,
                 fmt::format("EXPLAIN with {} is not supported; leave it out", option));
}

// Returns whether an option is on: without a value it is.
bool read_switch(Tokens& tokens, const std::string& option) {
  const Token& next = tokens.peek();
  if (next.kind == Token::Kind::kMark || next.kind == Token::Kind::kEnd) return true;
  const std::string value = tokens.take().text;
  if (value == "on" || value == "true" || value == "1") return true;
  if (value == "off" || value == "false" || value == "0") return false;
  refuse_explain(sqlstate::kSyntaxError, fmt::format("{} requires a Boolean value", option));
}

// What the options say of themselves; the others are refused where they are on.
struct Given {
  bool timing = false;
  bool summary = false;
};

void read_explain_option(Tokens& tokens, ExplainOptions& options, Given& given) {
  const Token named = tokens.take();
  const std::string& option = named.text;
  if (named.kind != Token::Kind::kWord && named.kind != Token::Kind::kName)
    refuse_explain(sqlstate::kSyntaxError, fmt::format("syntax error at or near \"{}\"", option));
  if (option == "format") {
    const std::string format = tokens.take().text;
    if (format != "text")
      refuse_explain(sqlstate::kNotSupported, "EXPLAIN explains as text alone; leave FORMAT out");
    return;
  }
  constexpr std::string_view kUnsupported[] = {"buffers", "costs", "settings", "verbose", "wal"};
  const bool is_unsupported = std::ranges::find(kUnsupported, option) != std::end(kUnsupported);
  if (!is_unsupported && option != "analyze" && option != "timing" && option != "summary") {
    refuse_explain(sqlstate::kSyntaxError, fmt::format("unrecognized EXPLAIN option \"{}\"", option));
  }
  const bool is_on = read_switch(tokens, option);
  if (is_unsupported && is_on) refuse_option(option);
  if (option == "analyze") options.analyze = is_on;
  if (option == "timing") options.timing = given.timing = is_on;
  if (option == "summary") options.summary = given.summary = is_on;
}

}  // namespace

std::optional<Explained> read_explain(std::string_view text) {
  Tokens tokens(text);
  if (!tokens.take_word("explain")) return std::nullopt;
  Explained explained;
  Given given;
  if (tokens.take_mark("(")) {
    do {
      read_explain_option(tokens, explained.options, given);
    } while (tokens.take_mark(","));
    if (!tokens.take_mark(")")) refuse_explain_at(tokens);
  } else {
    explained.options.analyze = tokens.take_word("analyze");
    if (tokens.take_word("verbose")) refuse_option("verbose");
  }
  if (given.timing && !explained.options.analyze)
    refuse_explain(sqlstate::kInvalidParameter, "EXPLAIN option TIMING requires ANALYZE");
  if (given.summary && !explained.options.analyze) refuse_option("summary");
  const size_t before = text.size() - tokens.rest().size();
  explained.text = text;
  std::replace_if(
      explained.text.begin(), explained.text.begin() + static_cast<ptrdiff_t>(before),
      [](char c) { return c != '\n'; }, ' ');
  return explained;
}

ClientSession::Ran ClientSession::explain(Named& named, const ExplainOptions& options,
                                          std::span<const Argument> parameters,
                                          std::span<const uint8_t> scales, ResultSink& rows) {
  if (seat_.block() == SqlSession::Block::kFailed) return {Done::kYes, SqlSession::in_failed_block()};
  if (!seat_.take()) return {Done::kRetry};
  std::vector<std::string> lines;
  std::optional<StatementResult> result =
      seat_.session().explain(*named.prepared, options, parameters, scales, lines, stop_.get());
  if (!result) return {Done::kRetry};
  if (!result->ok()) return {Done::kYes, *std::move(result)};
  rows.begin(explained_columns());
  for (const std::string& line : lines) {
    const Argument row = Argument::of(Value::of_text(line));
    rows.add({&row, 1});
  }
  result->tag = "EXPLAIN";
  return {Done::kYes, *std::move(result)};
}

const std::vector<ResultColumn>& ClientSession::explained_columns() {
  static const std::vector<ResultColumn> kColumns = {
      {"QUERY PLAN", {.kind = TypeKind::kVarchar, .is_text = true}}};
  return kColumns;
}

}  // namespace mneme
