#include "lab/statements.h"

#include <algorithm>

namespace mneme::lab {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_word(std::string_view text, std::string_view word) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return std::ranges::equal(text, word, {}, lower);
}

// Returns where what begins at `at` ends, and at + 1 where that is a character by itself.
size_t end_of_part(std::string_view text, size_t at) {
  const auto behind = [&](size_t from, std::string_view end) {
    const size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("--")) return behind(at, "\n");
  if (rest.starts_with("/*")) {
    int depth = 0;
    for (size_t i = at; i + 1 < text.size(); ++i) {
      const std::string_view two = text.substr(i, 2);
      if (two == "/*") ++depth, ++i;
      if (two == "*/" && (++i, --depth) == 0) return i + 1;
    }
    return text.size();
  }
  if (rest.front() == '\'' || rest.front() == '"') return behind(at + 1, rest.substr(0, 1));
  if (rest.front() == '$' && (at == 0 || !is_of_name(text[at - 1]))) {
    size_t tag = 1;
    while (tag < rest.size() && is_of_name(rest[tag])) ++tag;
    if (tag < rest.size() && rest[tag] == '$') return behind(at + tag + 1, rest.substr(0, tag + 1));
  }
  return at + 1;
}

bool is_comment(std::string_view rest) {
  return rest.starts_with("--") || rest.starts_with("/*");
}

}  // namespace

bool ScriptStatement::is_sync() const {
  return is_word(text, "sync");
}
bool ScriptStatement::is_checkpoint() const {
  return is_word(text, "checkpoint");
}

std::vector<ScriptStatement> split_script(std::string_view script) {
  std::vector<ScriptStatement> statements;
  size_t begin = std::string_view::npos;  // of the statement at hand: its first word
  size_t end = 0;                         // of its last part that is neither blank nor a comment
  uint32_t line = 1;
  uint32_t first_line = 1;
  const auto finish = [&] {
    if (begin != std::string_view::npos)
      statements.push_back({std::string(script.substr(begin, end - begin)), first_line});
    begin = std::string_view::npos;
  };
  for (size_t at = 0; at < script.size();) {
    const size_t next = end_of_part(script, at);
    if (script[at] == ';') {
      finish();
    } else if (!is_blank(script[at]) && !is_comment(script.substr(at))) {
      if (begin == std::string_view::npos) {
        begin = at;
        first_line = line;
      }
      end = next;
    }
    line += static_cast<uint32_t>(std::ranges::count(script.substr(at, next - at), '\n'));
    at = next;
  }
  finish();
  return statements;
}

}  // namespace mneme::lab
