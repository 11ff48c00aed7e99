#include "procedures/values/array_text.h"

#include <algorithm>

namespace mneme {

namespace {

constexpr std::string_view kBlanksOfArrays = " \t\n\v\f\r";

bool is_null_word(std::string_view text) {
  return text.size() == 4 && (text[0] | 0x20) == 'n' && (text[1] | 0x20) == 'u' && (text[2] | 0x20) == 'l' &&
         (text[3] | 0x20) == 'l';
}

// PostgreSQL quotes an element that is empty, spells NULL, or holds a character that means something in an
// array.
bool needs_quotes(std::string_view element) {
  return element.empty() || is_null_word(element) ||
         element.find_first_of("{}\",\\ \t\n\v\f\r") != element.npos;
}

void skip_blanks(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanksOfArrays), rest.size()));
}

// Takes one element off the front of `rest`, up to the comma or brace behind it. False: that is no element.
bool take_element(std::string_view& rest, std::string& element, bool& quoted) {
  element.clear();
  skip_blanks(rest);
  quoted = !rest.empty() && rest[0] == '"';
  if (quoted) rest.remove_prefix(1);
  size_t kept = 0;  // blanks at an unquoted element's end do not belong to it
  for (; !rest.empty(); rest.remove_prefix(1)) {
    char c = rest[0];
    if (quoted ? c == '"' : c == ',' || c == '}') break;
    if (!quoted && (c == '{' || c == '"')) return false;
    const bool escaped = c == '\\';
    if (escaped) {
      rest.remove_prefix(1);
      if (rest.empty()) return false;
      c = rest[0];
    }
    element.push_back(c);
    if (quoted || escaped || kBlanksOfArrays.find(c) == kBlanksOfArrays.npos) kept = element.size();
  }
  element.resize(kept);
  if (rest.empty()) return false;
  if (quoted) rest.remove_prefix(1);
  skip_blanks(rest);
  return !rest.empty() && (rest[0] == ',' || rest[0] == '}') && (quoted || !element.empty());
}

}  // namespace

std::optional<ArrayElements> array_elements(std::string_view text) {
  std::string_view rest = text;
  skip_blanks(rest);
  if (rest.empty() || rest[0] != '{') return std::nullopt;
  rest.remove_prefix(1);
  skip_blanks(rest);
  ArrayElements elements;
  if (!rest.empty() && rest[0] == '}') {
    rest.remove_prefix(1);
  } else {
    std::string element;
    for (bool more = true; more; rest.remove_prefix(1)) {
      bool quoted = false;
      if (!take_element(rest, element, quoted)) return std::nullopt;
      if (!quoted && is_null_word(element)) {
        elements.emplace_back();
      } else {
        elements.emplace_back(element);
      }
      more = rest[0] == ',';
    }
  }
  skip_blanks(rest);
  if (!rest.empty()) return std::nullopt;
  return elements;
}

std::optional<ArrayElements> array_or_vector_elements(std::string_view text) {
  if (!is_vector(text)) return array_elements(text);
  ArrayElements elements;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) elements.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return elements;
}

void append_array_element(std::string_view element, fmt::memory_buffer& out) {
  if (!needs_quotes(element)) {
    out.append(element.data(), element.data() + element.size());
    return;
  }
  out.push_back('"');
  for (const char c : element) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  out.push_back('"');
}

}  // namespace mneme
