// Tokens of the statements that the session reads itself: words, quoted names and strings, and marks.
//
// Errors      none: a string that does not end is one to its end.
// Threads     one owner; `text` outlives it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "procedures/parser/written_names.h"

namespace mneme {

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
        rest_.remove_prefix(std::min(rest_.find_first_of("\r\n"), rest_.size()));
      } else if (rest_.starts_with("/*")) {
        skip_comment();
      } else {
        return;
      }
    }
  }
  // Comments nest, as in PostgreSQL.
  void skip_comment() {
    size_t depth = 0;
    do {
      const bool opens = rest_.starts_with("/*");
      const bool closes = rest_.starts_with("*/");
      depth += opens ? 1 : 0;
      depth -= closes ? 1 : 0;
      rest_.remove_prefix(opens || closes ? 2 : 1);
    } while (depth > 0 && !rest_.empty());
  }
  // The end of the word that `rest_` begins with. A comment ends it.
  size_t word_end() const {
    size_t end = 0;
    while (end < rest_.size() && is_word(rest_[end]) && rest_.substr(end, 2) != "--") ++end;
    return end;
  }
  static bool is_word(char letter) {
    return is_ascii_letter(letter) || is_ascii_digit(letter) || letter == '_' || letter == '.' ||
           letter == '-' || letter == '+';
  }
  void advance() {
    skip_blanks();
    from_token_ = rest_;
    token_ = {};
    if (rest_.empty() || rest_ == ";") return;
    const char c = rest_[0];
    // E'...': a string with escapes, which is how clients write tabs.
    const bool is_escape = (c == 'e' || c == 'E') && rest_.size() > 1 && rest_[1] == '\'';
    if (c == '\'' || c == '"' || is_escape) {
      if (is_escape) rest_.remove_prefix(1);
      quoted(rest_[0], is_escape);
      token_.kind = c == '"' ? Token::Kind::kName : Token::Kind::kString;
    } else if (is_word(c)) {
      token_.kind = Token::Kind::kWord;
      token_.text = rest_.substr(0, word_end());
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

// Takes a table's name, perhaps behind its schema, and returns it as SQL text; "" where there is none.
inline std::string take_relation(Tokens& tokens) {
  const auto goes_on = [&] {
    return !tokens.at_end() && tokens.peek().kind == Token::Kind::kWord &&
           tokens.peek().text.starts_with('.');
  };
  std::string written;
  do {
    const Token token = tokens.peek();
    if (tokens.at_end() || (token.kind != Token::Kind::kWord && token.kind != Token::Kind::kName)) return {};
    tokens.take();
    written += token.kind == Token::Kind::kName ? name_in_quotes(token.text) : token.text;
  } while (written.ends_with('.') || goes_on());
  return written;
}

}  // namespace mneme
