#include "procedures/parser/parser.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/deep_stack.h"
#include "base/utf8.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/reserved_words.h"
#include "procedures/parser/syntax_advice.h"
#include "procedures/parser/tree_reader.h"
#include "procedures/parser/written_strings.h"

namespace mneme {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), ascii_lower);
  return text;
}

// The error's words, and the tokens that they are.
struct Surroundings {
  std::vector<antlr4::Token*> tokens_before;  // of the same statement, nearest first
  std::vector<std::string> words_before;
  bool in_body = false;  // between a procedure's dollar quotes
};

Surroundings look_around(antlr4::TokenStream& tokens, antlr4::Token* offending) {
  Surroundings result;
  for (size_t i = offending->getTokenIndex(); i-- > 0;) {
    antlr4::Token* token = tokens.get(i);
    if (token->getChannel() != antlr4::Token::DEFAULT_CHANNEL) continue;
    const size_t type = token->getType();
    if (type == MnemeLexer::SEMICOLON || type == MnemeLexer::BEGIN || type == MnemeLexer::THEN ||
        type == MnemeLexer::ELSE || type == MnemeLexer::LOOP || type == MnemeLexer::DECLARE) {
      break;
    }
    result.tokens_before.push_back(token);
    result.words_before.push_back(lower(token->getText()));
  }
  for (size_t i = 0; i < offending->getTokenIndex(); ++i) {
    if (tokens.get(i)->getType() == MnemeLexer::DOLLAR_QUOTE) result.in_body = !result.in_body;
  }
  return result;
}

// The tokens of the grammar's rule `name`.
bool is_name_token(size_t type) {
  constexpr std::array kNames = {MnemeLexer::IDENTIFIER,  MnemeLexer::QUOTED_IDENTIFIER,
                                 MnemeLexer::CALL,        MnemeLexer::COMMIT,
                                 MnemeLexer::CONSTANT,    MnemeLexer::DROP,
                                 MnemeLexer::INDEX,       MnemeLexer::KEY,
                                 MnemeLexer::LANGUAGE,    MnemeLexer::PROCEDURE,
                                 MnemeLexer::REPLACE,     MnemeLexer::REVERSE,
                                 MnemeLexer::ROLLBACK,    MnemeLexer::START,
                                 MnemeLexer::TIME,        MnemeLexer::TIMESTAMP,
                                 MnemeLexer::TRANSACTION, MnemeLexer::VARYING,
                                 MnemeLexer::WORK,        MnemeLexer::ZONE,
                                 MnemeLexer::ABORT,       MnemeLexer::ADD,
                                 MnemeLexer::ALTER,       MnemeLexer::CASCADE,
                                 MnemeLexer::EXISTS,      MnemeLexer::RESTRICT,
                                 MnemeLexer::TRUNCATE,    MnemeLexer::ESCAPE,
                                 MnemeLexer::RELEASE,     MnemeLexer::SAVEPOINT,
                                 MnemeLexer::GENERATED,   MnemeLexer::OVER,
                                 MnemeLexer::ASSERT,      MnemeLexer::COMMENT,
                                 MnemeLexer::DIAGNOSTICS, MnemeLexer::FUNCTION,
                                 MnemeLexer::GET,         MnemeLexer::RETURNS,
                                 MnemeLexer::ROUTINE,     MnemeLexer::SEQUENCE,
                                 MnemeLexer::SETOF,       MnemeLexer::VIEW,
                                 MnemeLexer::MERGE,       MnemeLexer::TYPE,
                                 MnemeLexer::SCHEMA};
  return std::ranges::find(kNames, type) != kNames.end();
}

std::string describe_expected(const antlr4::Parser& parser, const antlr4::misc::IntervalSet& expected) {
  constexpr size_t kMostNamed = 6;
  std::vector<std::string> names;
  bool name = false;
  for (const ssize_t type : expected.toList()) {
    if (type == MnemeLexer::IDENTIFIER) name = true;
  }
  if (name) names.push_back("a name");
  for (const ssize_t type : expected.toList()) {
    if (type < 0) {
      names.push_back("the end of the file");
      continue;
    }
    std::string literal = parser.getVocabulary().getLiteralName(type);
    std::string symbol = parser.getVocabulary().getSymbolicName(type);
    if (literal.empty()) {
      while (!symbol.empty() && symbol.back() == '_') symbol.pop_back();
      if (name && is_name_token(static_cast<size_t>(type))) continue;
      if (type == MnemeLexer::DOLLAR_QUOTE) symbol = "$$";
      if (type == MnemeLexer::STRING) symbol = "a quoted string";
      if (type == MnemeLexer::INTEGER) symbol = "a whole number";
      literal = symbol;
    }
    names.push_back(literal);
  }
  if (names.empty() || names.size() > kMostNamed) return "";
  std::string text = names.size() == 1 ? "; expected " : "; expected one of ";
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

// Turns the first syntax error into a SourceError.
class ErrorListener : public antlr4::BaseErrorListener {
 public:
  // `at_end`: what to say where the text ends too early. `is_command`: the text is a session's statement, not
  // a file.
  ErrorListener(const char* at_end, bool is_command) : at_end_(at_end), is_command_(is_command) {}

  void syntaxError(antlr4::Recognizer* recognizer, antlr4::Token* offending, size_t, size_t,
                   const std::string&, std::exception_ptr) override {
    auto* parser = dynamic_cast<antlr4::Parser*>(recognizer);
    CHECK(parser != nullptr);  // the lexer's last rule takes any character
    const Surroundings around = look_around(*parser->getTokenStream(), offending);
    const std::string word = lower(offending->getText());
    const antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
    const bool wants_name = expected.contains(static_cast<size_t>(MnemeLexer::IDENTIFIER));
    const bool wants_value = wants_name && expected.contains(static_cast<size_t>(MnemeLexer::DECIMAL));
    const bool reserved_as_name = wants_name && !wants_value && is_reserved_word(word);
    const SyntaxAdvice advice = advice_for({.offending = word,
                                            .reserved_as_name = reserved_as_name,
                                            .in_session = is_command_ && !around.in_body,
                                            .before = around.words_before});
    if (!advice.text.empty()) {
      antlr4::Token* about = advice.at < 0 ? offending : around.tokens_before[static_cast<size_t>(advice.at)];
      throw SourceError{location(about), std::string(advice.text), sqlstate::kNotSupported};
    }
    const auto where = location(offending);
    const std::string client_message = offending->getType() == antlr4::Token::EOF
                                           ? "syntax error at end of input"
                                           : "syntax error at or near \"" + offending->getText() + "\"";
    const auto refuse_here = [&](std::string message) {
      throw SourceError{where, std::move(message), nullptr, {}, client_message};
    };
    if (around.words_before.empty() && is_command_ && is_statement_of_others(word)) {
      refuse_as(sqlstate::kNotSupported, where, "{} is not supported", offending->getText());
    }
    if (around.words_before.size() == 1 && is_command_ && around.words_before[0] == "create" &&
        is_object_of_others(word)) {
      refuse_as(sqlstate::kNotSupported, where, "CREATE {} is not supported", offending->getText());
    }
    if (reserved_as_name) {
      refuse_here("\"" + word + "\" is a word that PostgreSQL reserves; a name is expected here");
    }
    if (expected.contains(static_cast<size_t>(MnemeLexer::SELECT)) &&
        expected.contains(static_cast<size_t>(MnemeLexer::CREATE))) {
      refuse_here("\"" + offending->getText() +
                  "\" is not understood here; a statement begins with SELECT, INSERT, UPDATE, DELETE, CALL, "
                  "BEGIN, COMMIT, "
                  "ROLLBACK, CREATE or DROP");
    }
    if (expected.contains(static_cast<size_t>(MnemeLexer::CREATE))) {
      refuse_here("\"" + offending->getText() +
                  "\" is not understood here; a file holds CREATE TABLE, CREATE INDEX, CREATE PROCEDURE and "
                  "CREATE FUNCTION only");
    }
    const std::string wanted =
        wants_value ? "; an expression is expected" : describe_expected(*parser, expected);
    if (offending->getType() == antlr4::Token::EOF) {
      refuse_here(at_end_ + wanted);
    }
    refuse_here("\"" + offending->getText() + "\" is not understood here" + wanted);
  }

 private:
  const std::string at_end_;
  const bool is_command_;
};

bool is_operator(size_t type) {
  return type >= MnemeLexer::LABEL_OPEN && type <= MnemeLexer::PERCENT;
}

// Refuses characters beyond ASCII outside of strings, of which token `i` is the first byte.
[[noreturn]] void refuse_characters(const std::vector<antlr4::Token*>& tokens, size_t i) {
  const auto where = location(tokens[i]);
  std::string text;
  for (size_t end = tokens[i]->getStartIndex(); i < tokens.size() && tokens[i]->getStartIndex() == end;
       ++i, ++end) {
    const std::string byte = tokens[i]->getText();
    if (tokens[i]->getType() != MnemeLexer::UNKNOWN || is_single_byte(byte)) break;
    text += byte;
  }
  if (const size_t bad = invalid_utf8(text); bad != std::string::npos)
    refuse_as(sqlstate::kNotInRepertoire, where, "{}", invalid_utf8_message(text, bad));
  refuse_as(sqlstate::kNotSupported, where,
            "\"{}\" is not supported outside of strings: names are ASCII letters, digits and _", text);
}

// Where our tokens would differ from PostgreSQL's, the text is refused: a run of operator characters without
// blanks, which PostgreSQL may take as one operator; characters that belong to no token.
void check_tokens(const std::vector<antlr4::Token*>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    antlr4::Token* token = tokens[i];
    const std::string text = token->getText();
    if (token->getType() == MnemeLexer::BAD_NUMBER) {
      throw SourceError{
          location(token),
          "the number \"" + text + "\" runs into letters; write digits alone, or an exponent as 1e3",
          nullptr,
          {},
          "trailing junk after numeric literal at or near \"" + text + "\""};
    }
    if (token->getType() == MnemeLexer::UNKNOWN) {
      if (text == "'" || text == "\"") refuse(location(token), "the quote that opens here is never closed");
      if (!is_single_byte(text)) refuse_characters(tokens, i);
      if (text[0] == '\0')
        refuse_as(sqlstate::kNotInRepertoire, location(token), "{}", invalid_utf8_message(text, 0));
      refuse(location(token), "the character \"{}\" has no meaning here; names are letters, digits and _",
             text);
    }
    if (i == 0 || tokens[i - 1]->getStopIndex() + 1 != token->getStartIndex()) continue;
    antlr4::Token* before = tokens[i - 1];
    const bool joined = is_operator(before->getType()) && is_operator(token->getType());
    const bool sign = token->getType() == MnemeLexer::PLUS || token->getType() == MnemeLexer::MINUS;
    const bool splits = before->getType() != MnemeLexer::PERCENT && before->getType() != MnemeLexer::CONCAT &&
                        before->getType() != MnemeLexer::NOT_EQUAL && sign;
    if (joined && !splits) {
      refuse(location(before), "PostgreSQL reads \"{}{}\" as one operator; put a blank between",
             before->getText(), text);
    }
    if (token->getType() == MnemeLexer::STRING && before->getType() == MnemeLexer::IDENTIFIER) {
      refuse_as(sqlstate::kNotSupported, location(before),
                "strings with a prefix ({}'...') are not supported; write '...', in which '' is a quote",
                before->getText());
    }
  }
}

// The depth of a text's tree, a token at a time, before anybody builds it. What opens a level of nesting has
// a level of the tree, and so has each operator of a chain, each cast and subscript of one value, and each
// arm of an IF or of a CASE statement. A long chain of AND or OR is a balanced tree (join() in
// tree_expressions.cc), and the branches of a CASE expression stand side by side: neither is deep. What is
// deeper than the bounds is refused: up to them no reader of the tree runs out of stack (base/deep_stack.h).
class NestingCheck {
 public:
  void add(antlr4::Token* token) {
    const size_t type = token->getType();
    switch (type) {
      case MnemeLexer::LBRACKET:
        ++levels_.back().operators;
        open(false);
        break;
      case MnemeLexer::LPAREN:
        open(false);
        break;
      case MnemeLexer::LOOP:
        if (before_ != MnemeLexer::END) separate();
        [[fallthrough]];
      case MnemeLexer::BEGIN:
      case MnemeLexer::IF:
        if (before_ != MnemeLexer::END) open(true);
        break;
      case MnemeLexer::CASE:
        if (before_ != MnemeLexer::END) open(begins_statement());
        break;
      case MnemeLexer::RPAREN:
      case MnemeLexer::RBRACKET:
      case MnemeLexer::END:
        levels_.pop_back();
        if (levels_.empty()) levels_.emplace_back();
        break;
      case MnemeLexer::SEMICOLON:
      case MnemeLexer::COMMA:
      case MnemeLexer::THEN:
      case MnemeLexer::ELSE:
        separate();
        break;
      case MnemeLexer::ELSIF:
      case MnemeLexer::ELSEIF:
      case MnemeLexer::WHEN:
        separate();
        if (levels_.back().has_statements) ++levels_.back().arms;
        break;
      case MnemeLexer::AND:
      case MnemeLexer::OR:
        levels_.back().operators = 0;
        ++levels_.back().joined;
        break;
      case MnemeLexer::CAST_OPERATOR:
      case MnemeLexer::NOT:
      case MnemeLexer::IS:
      case MnemeLexer::IN_:
      case MnemeLexer::BETWEEN:
        ++levels_.back().operators;
        break;
      default:
        if (is_operator(type)) ++levels_.back().operators;
    }
    before_ = type;
    check(token);
  }

 private:
  static constexpr size_t kMostNested = 100;
  static constexpr size_t kMostChained = 500;
  // As deep as a balanced tree of AND or OR gets: no text has so many of them that it would be deeper.
  static constexpr size_t kDeepestJoined = 40;

  struct Level {
    bool has_statements = false;
    size_t around = 0;     // the depth of all levels around this one
    size_t operators = 0;  // since the last separator, AND or OR
    size_t joined = 0;     // AND and OR since the last separator
    size_t arms = 0;
    size_t depth() const { return around + operators + std::min(joined, kDeepestJoined) + arms; }
  };

  void open(bool has_statements) {
    Level level;
    level.has_statements = has_statements;
    level.around = levels_.back().depth();
    levels_.push_back(level);
  }
  void separate() {
    levels_.back().operators = 0;
    levels_.back().joined = 0;
  }
  bool begins_statement() const {
    return levels_.back().has_statements &&
           (before_ == MnemeLexer::SEMICOLON || before_ == MnemeLexer::THEN || before_ == MnemeLexer::ELSE ||
            before_ == MnemeLexer::LOOP || before_ == MnemeLexer::BEGIN);
  }
  void check(antlr4::Token* token) const {
    if (levels_.size() > kMostNested) {
      refuse_as(sqlstate::kTooComplex, location(token),
                "this stands in {} others; more than {} levels are not read: take it apart",
                levels_.size() - 1, kMostNested - 1);
    }
    if (levels_.back().depth() > kMostChained) {
      refuse_as(sqlstate::kTooComplex, location(token),
                "more than {} operators, or arms of an IF or a CASE, belong together here: take them apart",
                kMostChained);
    }
  }

  std::vector<Level> levels_ = std::vector<Level>(1);
  size_t before_ = MnemeLexer::SEMICOLON;
};

// The text for ANTLR, which takes a character of several bytes apart into as many of its own, so that places
// count bytes. Comments may hold anything. Elsewhere a byte that is not ASCII, or is zero, belongs to a
// string or a quoted name, whose reader checks it, or is an error with its place.
class SourceStream : public antlr4::ANTLRInputStream {
 public:
  explicit SourceStream(std::string_view source)
      : antlr4::ANTLRInputStream(with_marks(source)), source_(source) {}

  std::string getText(const antlr4::misc::Interval& interval) override {
    const auto begin = static_cast<size_t>(interval.a);
    if (begin >= source_.size()) return {};
    return source_.substr(begin, static_cast<size_t>(interval.b) - begin + 1);
  }

 private:
  static std::string with_marks(std::string_view source) {
    std::string text(source);
    std::ranges::replace_if(
        text, [](char c) { return c <= 0; }, kNotAscii);
    return text;
  }

  const std::string source_;
};

// A text as ANTLR parsed it, for as long as its tree is read.
class ParsedText {
 public:
  ParsedText(std::string_view source, const char* at_end, bool is_command, size_t lines_before = 0)
      : input_(source), lexer_(&input_), tokens_(&lexer_), parser_(&tokens_), errors_(at_end, is_command) {
    lexer_.removeErrorListeners();
    lexer_.setLine(lines_before + 1);
    tokens_.fill();
    std::vector<antlr4::Token*> visible;
    for (antlr4::Token* token : tokens_.getTokens()) {
      if (token->getChannel() == antlr4::Token::DEFAULT_CHANNEL) visible.push_back(token);
    }
    // A comment that never ends is taken for the end of the text.
    antlr4::Token* end = visible.back();
    visible.pop_back();
    check_tokens(visible);
    if (end->getStartIndex() < source.size())
      refuse(location(end), "the comment that opens here is never closed");
    NestingCheck nesting;
    for (antlr4::Token* token : visible) nesting.add(token);
    parser_.removeErrorListeners();
    parser_.addErrorListener(&errors_);
  }

  MnemeParser& parser() { return parser_; }
  antlr4::CommonTokenStream& tokens() { return tokens_; }

 private:
  SourceStream input_;
  MnemeLexer lexer_;
  antlr4::CommonTokenStream tokens_;
  MnemeParser parser_;
  ErrorListener errors_;
};

}  // namespace

syntax::File parse(std::string_view written, size_t lines_before) {
  const std::string source = with_plain_strings(written);
  return on_deep_stack([&] {
    ParsedText text(source, "the file ends in the middle of a definition", /*is_command=*/false,
                    lines_before);
    return read_file(text.parser().file(), source, text.tokens());
  });
}

syntax::Expr parse_expression(std::string_view written) {
  const std::string source = with_plain_strings(written);
  return on_deep_stack([&] {
    ParsedText text(source, "the expression ends too early", /*is_command=*/true);
    return read_expression(text.parser().wholeExpression()->expression());
  });
}

syntax::Command parse_command(std::string_view written) {
  const std::string source = with_plain_strings(written);
  return on_deep_stack([&] {
    ParsedText text(source, "the statement ends too early", /*is_command=*/true);
    syntax::Command command = read_command(text.parser().command(), source, text.tokens());
    command.text = written;
    return command;
  });
}

std::string with_schemas(std::string_view written, const NamePath& path) {
  const std::string source = with_plain_strings(written);
  return on_deep_stack([&] {
    ParsedText text(source, "the statement ends too early", /*is_command=*/true);
    return with_schemas(text.parser().command(), source, path);
  });
}

}  // namespace mneme
