#include "procedures/parser/written_strings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "procedures/ir/source_error.h"

namespace mneme {

namespace {

bool is_name_part(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

// Returns what U&'...' means, between whose quotes `written` stands.
std::optional<std::string> decoded(std::string_view written, char escape) {
  std::string text;
  for (size_t at = 0; at < written.size(); ++at) {
    if (written[at] == '\'') ++at;
    if (written[at] != escape) {
      text.push_back(written[at]);
      continue;
    }
    std::string_view rest = written.substr(at + 1);
    if (rest.starts_with(escape)) {
      text.push_back(escape);
      ++at;
      continue;
    }
    const bool is_long = rest.starts_with('+');
    if (is_long) rest.remove_prefix(1);
    const size_t digits = is_long ? 6 : 4;
    if (rest.size() < digits) return std::nullopt;
    uint32_t code = 0;
    for (const char c : rest.substr(0, digits)) {
      const char digit = ascii_lower(c);
      if (!is_ascii_digit(digit) && (digit < 'a' || digit > 'f')) return std::nullopt;
      code = code * 16 + static_cast<uint32_t>(is_ascii_digit(digit) ? digit - '0' : digit - 'a' + 10);
    }
    if (!append_character(code, text)) return std::nullopt;
    at += digits + (is_long ? 1 : 0);
  }
  return text;
}

class StringWriter {
 public:
  StringWriter(std::string_view text, bool is_body) : text_(text), is_body_(is_body) {}

  std::string write() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  void copy(size_t bytes) {
    out_ += text_.substr(at_, bytes);
    at_ = std::min(at_ + bytes, text_.size());
  }
  // Puts `written` in the place of so many bytes, and blanks behind it so that the rest of the line stays
  // where it is, if it can.
  void put(std::string written, size_t bytes) {
    if (written.size() < bytes) written.append(bytes - written.size(), ' ');
    out_ += written;
    at_ += bytes;
  }

  void step() {
    const char c = text_[at_];
    if (rest().starts_with("--")) return copy(std::min(rest().find('\n'), rest().size()));
    if (rest().starts_with("/*")) return copy(comment_end());
    if (c == '"') return word(std::min(rest().find('"', 1), rest().size() - 1) + 1);
    if (c == '\'') return string(0);
    if (c == '$') return dollar();
    if (is_ascii_blank(c)) return copy(1);
    if (!is_name_part(c)) return mark(c);
    size_t end = 1;
    while (end < rest().size() && (is_name_part(rest()[end]) || rest()[end] == '$')) ++end;
    if (rest().substr(end).starts_with('\'') && end == 1 && ascii_lower(c) == 'e') return string(1);
    if (end == 1 && ascii_lower(c) == 'u' && rest().substr(1).starts_with("&'")) return string(2);
    word(end);
  }

  size_t comment_end() const {
    size_t depth = 0;
    for (size_t at = 0; at < rest().size();) {
      const bool opens = rest().substr(at).starts_with("/*");
      const bool closes = rest().substr(at).starts_with("*/");
      depth += opens ? 1 : 0;
      depth -= closes ? 1 : 0;
      at += opens || closes ? 2 : 1;
      if (depth == 0) return at;
    }
    return rest().size();
  }

  void mark(char c) {
    if (c == ';') words_ = 0;
    last_ = std::string(1, c);
    copy(1);
  }

  // A word, or a quoted name, which is none of the words that are looked for.
  void word(size_t bytes) {
    last_ = std::string(rest().substr(0, bytes));
    std::ranges::transform(last_, last_.begin(), ascii_lower);
    ++words_;
    if (words_ == 1) first_ = last_;
    if (words_ == 1) defines_routine_ = false;
    const bool is_kind = last_ == "function" || last_ == "procedure";
    if (first_ == "create" && (words_ == 2 || words_ == 4) && is_kind) defines_routine_ = true;
    copy(bytes);
  }

  // Whether a string here is the text of a routine.
  bool begins_body() const {
    if (is_body_) return false;
    if (words_ > 0 && first_ == "do") return last_ != "language";
    return defines_routine_ && last_ == "as";
  }

  // '...' behind a prefix of so many characters.
  void string(size_t prefix) {
    const bool has_escapes = prefix == 1;
    size_t end = prefix + 1;
    for (;; ++end) {
      if (end >= rest().size()) return copy(rest().size());
      if (has_escapes && rest()[end] == '\\') {
        ++end;
      } else if (rest()[end] == '\'') {
        if (!rest().substr(end + 1).starts_with('\'')) break;
        ++end;
      }
    }
    const std::string_view written = rest().substr(prefix + 1, end - prefix - 1);
    ++end;
    const bool is_body = begins_body();
    last_ = "'";
    if (prefix == 2) return unicode(written, end);
    if (!is_body || (has_escapes && written.find('\\') != written.npos)) return copy(end);
    std::string body;
    for (size_t i = 0; i < written.size(); ++i) {
      body.push_back(written[i]);
      if (written[i] == '\'') ++i;
    }
    std::string quote = "$$";
    for (int number = 0; body.find(quote) != body.npos; ++number)
      quote = "$body" + std::to_string(number) + "$";
    put(quote + StringWriter(body, true).write() + quote, end);
  }

  void unicode(std::string_view written, size_t end) {
    char escape = '\\';
    size_t at = end;
    while (at < rest().size() && is_ascii_blank(rest()[at])) ++at;
    std::string word(rest().substr(at, 7));
    std::ranges::transform(word, word.begin(), ascii_lower);
    if (word == "uescape") {
      at += word.size();
      while (at < rest().size() && is_ascii_blank(rest()[at])) ++at;
      const std::string_view quoted = rest().substr(at, 3);
      if (quoted.size() < 3 || quoted[0] != '\'' || quoted[2] != '\'') return copy(end);
      escape = quoted[1];
      end = at + 3;
    }
    const std::optional<std::string> text = decoded(written, escape);
    if (!text) refuse(here(), "invalid Unicode escape: it is \\XXXX or \\+XXXXXX, of a character");
    put(in_quotes(*text), end);
  }

  ir::SourceLocation here() const {
    const std::string_view before = text_.substr(0, at_);
    const size_t line = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    return {static_cast<uint32_t>(std::ranges::count(before, '\n')) + 1,
            static_cast<uint32_t>(at_ - line) + 1};
  }

  void dollar() {
    const bool in_name = at_ > 0 && is_name_part(text_[at_ - 1]);
    size_t end = 1;
    while (end < rest().size() && is_name_part(rest()[end])) ++end;
    const bool is_quote =
        !in_name && end < rest().size() && rest()[end] == '$' && (end == 1 || !is_ascii_digit(rest()[1]));
    const std::string_view quote = rest().substr(0, end + 1);
    const size_t close = is_quote ? rest().find(quote, quote.size()) : rest().npos;
    if (close == rest().npos) return mark('$');
    const std::string_view inside = rest().substr(quote.size(), close - quote.size());
    const size_t bytes = close + quote.size();
    const bool is_body = begins_body();
    last_ = "'";
    if (!is_body) return put(in_quotes(inside), bytes);
    std::string body(quote);
    body += StringWriter(inside, true).write();
    body += quote;
    out_ += body;
    at_ += bytes;
  }

  const std::string_view text_;
  const bool is_body_;
  size_t at_ = 0;
  std::string out_;
  // How many words of the statement at hand have been read, which came first, and which last.
  size_t words_ = 0;
  std::string first_;
  std::string last_;  // the word or mark before; a string is "'"
  bool defines_routine_ = false;
};

}  // namespace

std::string with_plain_strings(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  std::string first(text.substr(begin, 2));
  std::ranges::transform(first, first.begin(), ascii_lower);
  const bool may_have_body = first == "cr" || first == "do" || first == "--" || first == "/*";
  if (!may_have_body && text.find('$') == text.npos && text.find("&'") == text.npos) return std::string(text);
  return StringWriter(text, false).write();
}

}  // namespace mneme
