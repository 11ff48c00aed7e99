#include "procedures/parser/written_names.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "engine/schema/qualified_name.h"
#include "procedures/parser/reserved_words.h"

namespace mneme {

namespace {

// PL/pgSQL reserves these, and SQL does not.
constexpr auto kPlpgsqlWords = std::to_array<std::string_view>(
    {"begin", "by", "declare", "execute", "foreach", "if", "loop", "strict", "while"});

std::string between(char quote, std::string_view text) {
  std::string quoted(1, quote);
  for (const char c : text) {
    if (c == quote) quoted.push_back(c);
    quoted.push_back(c);
  }
  quoted.push_back(quote);
  return quoted;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_ascii_digit(c); });
}

std::string written_name(std::string_view name) {
  if (name.starts_with(kSchemaBegin))
    return written_name(schema_of(name)) + "." + written_name(bare_name(name));
  const bool is_word = is_reserved_word(name) || is_reserved_for_procedures(name);
  return is_plain_name(name) && !is_word ? std::string(name) : between('"', name);
}

std::string name_in_quotes(std::string_view name) {
  return between('"', name);
}

std::string shown_name(std::string_view name) {
  if (name.starts_with(kSchemaBegin)) return shown_name(schema_of(name)) + "." + shown_name(bare_name(name));
  const bool is_unreserved = std::ranges::find(kPlpgsqlWords, name) != kPlpgsqlWords.end();
  return is_unreserved ? std::string(name) : written_name(name);
}

std::string read_written_name(std::string_view written) {
  std::string name;
  if (!written.starts_with('"')) {
    for (const char c : written) name.push_back(ascii_lower(c));
    return name;
  }
  for (size_t i = 1; i + 1 < written.size(); ++i) {
    name.push_back(written[i]);
    if (written[i] == '"') ++i;
  }
  return name;
}

size_t end_of_written_name(std::string_view text, size_t at) {
  const auto is_word = [](char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '$'; };
  if (at == text.size() || text[at] != '"') {
    while (at < text.size() && is_word(text[at])) ++at;
    return at;
  }
  for (++at; at < text.size(); ++at) {
    if (text[at] != '"') continue;
    if (at + 1 == text.size() || text[at + 1] != '"') return at + 1;
    ++at;
  }
  return at;
}

std::string read_relation_name(std::string_view written) {
  const size_t end = end_of_written_name(written, 0);
  const std::string first = read_written_name(written.substr(0, end));
  const bool has_schema = end < written.size() && written[end] == '.';
  if (has_schema) {
    const std::string name = read_written_name(written.substr(end + 1));
    return first == "pg_catalog" ? name : qualified_name(first, name);
  }
  return end == written.size() ? first : read_written_name(written);
}

std::string written_draw(std::string_view sequence) {
  return "nextval(" + written_string(written_name(sequence)) + ")";
}

std::string written_string(std::string_view text) {
  return between('\'', text);
}

}  // namespace mneme
