// Query functions that match regular expressions.
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "procedures/catalog/query_functions.h"
#include "procedures/values/array_text.h"
#include "procedures/values/regular_expression.h"

namespace mneme {

namespace {

// Reads the options i and g; `g` says whether that one is accepted.
bool read_options(std::string_view letters, bool g, MatchOptions& options, Arena& arena, SqlError& error) {
  for (const char letter : letters) {
    if (letter == 'i') {
      options.any_case = true;
    } else if (letter == 'c') {
      options.any_case = false;
    } else if (letter == 'g' && g) {
      options.all = true;
    } else if (letter == 'g') {
      return fail(error, arena, sqlstate::kInvalidParameter,
                  "this function does not support the \"global\" option");
    } else if (std::string_view("mnpqstwxbe").find(letter) != std::string_view::npos) {
      return fail(error, arena, sqlstate::kNotSupported,
                  "the regular expression option \"{}\" is not supported; there are i and g", letter);
    } else {
      return fail(error, arena, sqlstate::kInvalidParameter, "invalid regular expression option: \"{}\"",
                  letter);
    }
  }
  return true;
}

bool find(QueryArguments arguments, size_t option, bool g, MatchOptions options, Arena& arena,
          std::vector<FoundMatch>& found, SqlError& error) {
  if (arguments.size() > option && !read_options(arguments[option].as_text(), g, options, arena, error))
    return false;
  return find_matches(arguments[0].as_text(), arguments[1].as_text(), options, arena, found, error);
}

std::string_view part_of(std::string_view text, const MatchedPart& part) {
  return text.substr(part.begin, part.end - part.begin);
}

bool regexp_replace(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::vector<FoundMatch> found;
  const std::string_view option = arguments.size() > 3 ? arguments[3].as_text() : std::string_view();
  if (!option.empty() && is_ascii_digit(option[0])) {
    return fail(error, arena, sqlstate::kInvalidParameter, "invalid regular expression option: \"{}\"",
                option[0]);
  }
  if (!find(arguments, 3, true, {}, arena, found, error)) return false;
  const std::string_view text = arguments[0].as_text();
  const std::string_view written = arguments[2].as_text();
  std::string replaced;
  size_t at = 0;
  for (const FoundMatch& match : found) {
    replaced += text.substr(at, match[0].begin - at);
    for (size_t i = 0; i < written.size(); ++i) {
      const char next = i + 1 < written.size() ? written[i + 1] : '\0';
      if (written[i] != '\\' || next == '\0') {
        replaced.push_back(written[i]);
      } else if (next == '&') {
        replaced += part_of(text, match[0]);
        ++i;
      } else if (next >= '1' && next <= '9') {
        const auto group = static_cast<size_t>(next - '0');
        if (group < match.size() && match[group].is_there()) replaced += part_of(text, match[group]);
        ++i;
      } else {
        replaced.push_back('\\');
        if (next == '\\') ++i;
      }
    }
    at = match[0].end;
  }
  replaced += text.substr(at);
  result = Value::of_text(arena.copy(replaced));
  return true;
}

bool regexp_match(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::vector<FoundMatch> found;
  if (!find(arguments, 2, false, {}, arena, found, error)) return false;
  if (found.empty()) return true;
  ArrayElements elements;
  const FoundMatch& match = found[0];
  for (size_t group = match.size() > 1 ? 1 : 0; group < match.size(); ++group) {
    elements.emplace_back();
    if (match[group].is_there()) elements.back() = part_of(arguments[0].as_text(), match[group]);
  }
  result = array_of(elements, arena);
  return true;
}

bool regexp_like(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::vector<FoundMatch> found;
  if (!find(arguments, 2, false, {}, arena, found, error)) return false;
  result = Value::of_bool(!found.empty());
  return true;
}

// The number that stands at this place of the arguments, from `least` on; where there is none, `least`.
bool read_place(QueryArguments arguments, size_t at, std::string_view name, int64_t least, int64_t& number,
                Arena& arena, SqlError& error) {
  number = arguments.size() > at ? arguments[at].as_int() : least;
  return number >= least || fail(error, arena, sqlstate::kInvalidParameter,
                                 "invalid value for parameter \"{}\": {}", name, number);
}

// All matches from a character on. `option`: the place of the options among the arguments.
bool find_from(QueryArguments arguments, int64_t start, size_t option, Arena& arena,
               std::vector<FoundMatch>& found, SqlError& error) {
  MatchOptions options{.all = true};
  if (arguments.size() > option && !read_options(arguments[option].as_text(), false, options, arena, error))
    return false;
  const std::string_view text = arguments[0].as_text();
  const size_t skipped = offset_of_character(text, static_cast<size_t>(start - 1));
  if (skipped == text.size() && static_cast<size_t>(start - 1) > count_characters(text)) return true;
  // What is skipped is context: ^ stands for the text's beginning alone.
  if (!find_matches(text, arguments[1].as_text(), options, arena, found, error)) return false;
  if (start == 1) return true;
  found.clear();
  if (arguments[1].as_text().find_first_of("^\\") != std::string_view::npos) {
    return fail(error, arena, sqlstate::kNotSupported,
                "a start behind the text's first character is not supported with a pattern that has ^ or a "
                "backslash");
  }
  if (!find_matches(text.substr(skipped), arguments[1].as_text(), options, arena, found, error)) return false;
  for (FoundMatch& match : found) {
    for (MatchedPart& part : match) {
      if (!part.is_there()) continue;
      part.begin += skipped;
      part.end += skipped;
    }
  }
  return true;
}

bool regexp_count(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::vector<FoundMatch> found;
  int64_t start = 1;
  if (!read_place(arguments, 2, "start", 1, start, arena, error) ||
      !find_from(arguments, start, 3, arena, found, error))
    return false;
  result = Value::of_int(static_cast<int64_t>(found.size()));
  return true;
}

// regexp_substr(text, pattern, start, n, options, group)
bool regexp_substr(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::vector<FoundMatch> found;
  int64_t start = 1;
  int64_t n = 1;
  int64_t group = 0;
  if (!read_place(arguments, 2, "start", 1, start, arena, error) ||
      !read_place(arguments, 3, "n", 1, n, arena, error) ||
      !read_place(arguments, 5, "subexpr", 0, group, arena, error) ||
      !find_from(arguments, start, 4, arena, found, error))
    return false;
  const auto number = static_cast<size_t>(n - 1);
  const auto part = static_cast<size_t>(group);
  if (number >= found.size() || part >= found[number].size() || !found[number][part].is_there()) return true;
  result = Value::of_text(arena.copy(part_of(arguments[0].as_text(), found[number][part])));
  return true;
}

// regexp_instr(text, pattern, start, n, whether behind the match, options, group)
bool regexp_instr(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::vector<FoundMatch> found;
  int64_t start = 1;
  int64_t n = 1;
  int64_t end = 0;
  int64_t group = 0;
  if (!read_place(arguments, 2, "start", 1, start, arena, error) ||
      !read_place(arguments, 3, "n", 1, n, arena, error) ||
      !read_place(arguments, 4, "endoption", 0, end, arena, error) ||
      !read_place(arguments, 6, "subexpr", 0, group, arena, error))
    return false;
  if (end > 1)
    return fail(error, arena, sqlstate::kInvalidParameter, "invalid value for parameter \"{}\": {}",
                "endoption", end);
  if (!find_from(arguments, start, 5, arena, found, error)) return false;
  const auto number = static_cast<size_t>(n - 1);
  const auto part = static_cast<size_t>(group);
  result = Value::of_int(0);
  if (number >= found.size() || part >= found[number].size() || !found[number][part].is_there()) return true;
  const MatchedPart& match = found[number][part];
  const std::string_view before = arguments[0].as_text().substr(0, end == 1 ? match.end : match.begin);
  result = Value::of_int(static_cast<int64_t>(count_characters(before)) + 1);
  return true;
}

bool regexp_split(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::vector<FoundMatch> found;
  const MatchOptions options{.all = true, .skips_empty = true};
  if (!find(arguments, 2, false, options, arena, found, error)) return false;
  const std::string_view text = arguments[0].as_text();
  ArrayElements elements;
  size_t at = 0;
  for (const FoundMatch& match : found) {
    elements.emplace_back(text.substr(at, match[0].begin - at));
    at = match[0].end;
  }
  elements.emplace_back(text.substr(at));
  result = array_of(elements, arena);
  return true;
}

// The first group of the pattern, or all that it matches.
bool substring_of_pattern(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::vector<FoundMatch> found;
  if (!find(arguments, 2, false, {}, arena, found, error)) return false;
  if (found.empty()) return true;
  const MatchedPart& part = found[0].size() > 1 ? found[0][1] : found[0][0];
  if (part.is_there()) result = Value::of_text(arena.copy(part_of(arguments[0].as_text(), part)));
  return true;
}

constexpr QueryFunction kPatternFunctions[] = {
    {"regexp_replace",
     3,
     4,
     {types::kText, types::kText, types::kText, types::kText},
     types::kText,
     regexp_replace},
    {"regexp_match", 2, 3, {types::kText, types::kText, types::kText}, types::kTextArray, regexp_match},
    {"regexp_like", 2, 3, {types::kText, types::kText, types::kText}, types::kBoolean, regexp_like},
    {"regexp_count",
     2,
     4,
     {types::kText, types::kText, types::kInt, types::kText},
     types::kInt,
     regexp_count},
    {"regexp_substr",
     2,
     6,
     {types::kText, types::kText, types::kInt, types::kInt, types::kText, types::kInt},
     types::kText,
     regexp_substr},
    {"regexp_instr",
     2,
     7,
     {types::kText, types::kText, types::kInt, types::kInt, types::kInt, types::kText, types::kInt},
     types::kInt,
     regexp_instr},
    {"regexp_split_to_array",
     2,
     3,
     {types::kText, types::kText, types::kText},
     types::kTextArray,
     regexp_split},
    {"mneme_substring", 2, 2, {types::kText, types::kText}, types::kText, substring_of_pattern},
};

}  // namespace

std::span<const QueryFunction> pattern_query_functions() {
  return kPatternFunctions;
}

}  // namespace mneme
