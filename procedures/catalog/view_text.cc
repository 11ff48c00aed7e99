#include "procedures/catalog/view_text.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/ascii.h"
#include "engine/schema/qualified_name.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

bool is_word_part(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || c == '_';
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), ascii_lower);
  return lower;
}

struct Piece {
  enum class Kind { kWord, kQuotedName, kMark, kOther };
  Kind kind;
  size_t begin;
  size_t end;
  std::string name;  // of a word, in lower case, or of a quoted name; a mark itself
};

// The words, quoted names and marks of a query, without blanks and comments.
std::vector<Piece> pieces_of_query(std::string_view text) {
  std::vector<Piece> pieces;
  size_t at = 0;
  const auto skip_to = [&](std::string_view end, size_t from) {
    const size_t found = text.find(end, from);
    at = found == text.npos ? text.size() : found + end.size();
  };
  while (at < text.size()) {
    const size_t begin = at;
    const char c = text[at];
    if (is_ascii_blank(c)) {
      ++at;
    } else if (text.substr(at).starts_with("--")) {
      skip_to("\n", at);
    } else if (text.substr(at).starts_with("/*")) {
      skip_to("*/", at + 2);
    } else if (c == '\'') {
      skip_to("'", at + 1);
      pieces.push_back({Piece::Kind::kOther, begin, at, {}});
    } else if (c == '"') {
      at = end_of_written_name(text, at);
      pieces.push_back(
          {Piece::Kind::kQuotedName, begin, at, read_written_name(text.substr(begin, at - begin))});
    } else if (is_word_part(c)) {
      while (at < text.size() && is_word_part(text[at])) ++at;
      pieces.push_back({Piece::Kind::kWord, begin, at, in_lower_case(text.substr(begin, at - begin))});
    } else {
      ++at;
      pieces.push_back({Piece::Kind::kMark, begin, at, std::string(1, c)});
    }
  }
  return pieces;
}

bool is_among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// What stands between two parentheses.
struct NestedPart {
  bool is_query = true;
  bool is_in_from = false;
};

}  // namespace

std::string qualified_query(std::string_view text, std::string_view prefix,
                            FunctionRef<bool(const std::string& name)> is_relation) {
  const std::vector<Piece> pieces = pieces_of_query(text);
  const auto is_mark = [&](size_t i, std::string_view mark) {
    return i < pieces.size() && pieces[i].kind == Piece::Kind::kMark && pieces[i].name == mark;
  };
  const auto is_word = [&](size_t i, std::initializer_list<std::string_view> words) {
    return i < pieces.size() && pieces[i].kind == Piece::Kind::kWord && is_among(pieces[i].name, words);
  };
  const auto is_of_with = [&](const std::string& name) {
    for (size_t i = 0; i + 2 < pieces.size(); ++i) {
      if (pieces[i].name == name && is_word(i + 1, {"as"}) && is_mark(i + 2, "(")) return true;
    }
    return false;
  };
  std::vector<NestedPart> levels(1);
  std::vector<size_t> places;
  bool expects = false;  // a relation
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (piece.kind == Piece::Kind::kMark) {
      if (piece.name == "(") {
        const bool is_joins = expects && !is_word(i + 1, {"select", "with", "values"});
        levels.push_back({is_joins || is_word(i + 1, {"select", "with", "values"}), is_joins});
        expects = is_joins;
      } else if (piece.name == ")") {
        if (levels.size() > 1) levels.pop_back();
        expects = false;
      } else {
        expects = piece.name == "," && levels.back().is_in_from;
      }
      continue;
    }
    NestedPart& level = levels.back();
    const bool is_plain = piece.kind == Piece::Kind::kWord;
    if (is_plain && level.is_query && is_among(piece.name, {"from", "join"})) {
      level.is_in_from = expects = true;
    } else if (is_plain &&
               is_among(piece.name, {"where", "group", "having", "order", "limit", "offset", "fetch", "union",
                                     "intersect", "except", "window", "for", "select"})) {
      level.is_in_from = expects = false;
    } else if (expects && !(is_plain && is_among(piece.name, {"only", "lateral"}))) {
      const bool has_more = is_mark(i + 1, ".") || is_mark(i + 1, "(");
      if (piece.kind != Piece::Kind::kOther && !has_more && is_relation(piece.name) &&
          !is_of_with(piece.name))
        places.push_back(piece.begin);
      expects = false;
    }
  }
  std::string qualified(text);
  for (auto place = places.rbegin(); place != places.rend(); ++place) qualified.insert(*place, prefix);
  return qualified;
}

bool mentions_name(std::string_view text, std::string_view name) {
  if (name.empty()) return false;
  name = bare_name(name);
  const auto same = [](char a, char b) { return ascii_lower(a) == ascii_lower(b); };
  for (auto found = text.begin();; ++found) {
    found = std::search(found, text.end(), name.begin(), name.end(), same);
    if (found == text.end()) return false;
    const auto end = found + static_cast<ptrdiff_t>(name.size());
    if ((found == text.begin() || !is_word_part(*(found - 1))) && (end == text.end() || !is_word_part(*end)))
      return true;
  }
}

}  // namespace mneme
