#include "procedures/values/regular_expression.h"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/ascii.h"
#include "base/utf8.h"

namespace mneme {

namespace {

// The patterns that a thread used last: a statement's few are compiled once.
struct CompiledPattern {
  std::string pattern;
  bool any_case = false;
  bool longest = false;
  std::unique_ptr<re2::RE2> compiled;
};

// Returns where the bracket expression that opens at `at` ends, or the pattern's size.
size_t end_of_bracket(std::string_view pattern, size_t at) {
  ++at;
  if (pattern.substr(at).starts_with('^')) ++at;
  if (pattern.substr(at).starts_with(']')) ++at;
  while (at < pattern.size() && pattern[at] != ']') {
    if (pattern.substr(at).starts_with("[:")) {
      at = std::min(pattern.find(":]", at), pattern.size() - 1) + 1;
    } else if (pattern[at] == '\\') {
      ++at;
    }
    ++at;
  }
  return std::min(at + 1, pattern.size());
}

// Keeps RE2 from ignoring the case of characters beyond ASCII, which have none under COLLATE "C". Returns
// false if the pattern has such a character in brackets, where that is not possible.
bool keep_case_beyond_ascii(std::string_view pattern, std::string& kept) {
  for (size_t at = 0; at < pattern.size();) {
    size_t end = at + (is_utf8_continuation(pattern[at]) ? 1 : utf8_bytes(pattern[at]));
    if (pattern[at] == '\\' && end < pattern.size()) end += utf8_bytes(pattern[end]);
    if (pattern[at] == '[') end = end_of_bracket(pattern, at);
    const std::string_view part = pattern.substr(at, end - at);
    if (is_single_byte(part)) {
      kept += part;
    } else if (pattern[at] == '[') {
      return false;
    } else {
      kept.append("(?-i:").append(part).append(")");
    }
    at = end;
  }
  return true;
}

// Two characters beyond ASCII are letters of ASCII to RE2 where it ignores case. This is a text with others,
// which are no letters, in their places.
std::string without_ascii_variants(std::string_view text) {
  constexpr std::string_view kKelvin = "\xe2\x84\xaa";
  constexpr std::string_view kLongS = "\xc5\xbf";
  std::string changed(text);
  for (size_t at = 0; (at = changed.find(kKelvin, at)) != changed.npos;)
    changed.replace(at, kKelvin.size(), "\xef\xbf\xbe");
  for (size_t at = 0; (at = changed.find(kLongS, at)) != changed.npos;)
    changed.replace(at, kLongS.size(), "\xef\xbf\xbe");
  return changed;
}

bool is_of_word(char c) {
  return is_ascii_digit(c) || is_ascii_letter(c) || c == '_';
}

// Returns the pattern with RE2's escapes in place of PostgreSQL's. A word begins at \m and ends at \M; RE2
// has \b for both, which means the same beside a part that matches a word's letter. Elsewhere the escape
// stays, and RE2 refuses it.
std::string with_escapes_of_re2(std::string_view pattern) {
  std::string written;
  bool is_behind_word = false;  // what was written last matches a word's letter at its end
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '[') {
      const size_t end = end_of_bracket(pattern, at);
      written += pattern.substr(at, end - at);
      at = end;
      is_behind_word = false;
      continue;
    }
    if (pattern[at] != '\\' || at + 1 == pattern.size()) {
      is_behind_word = is_of_word(pattern[at]) || (pattern[at] == '+' && is_behind_word);
      written += pattern[at++];
      continue;
    }
    const char escape = pattern[at + 1];
    at += 2;
    const std::string_view rest = pattern.substr(at);
    const size_t letter = rest.starts_with("\\w") ? 2 : !rest.empty() && is_of_word(rest[0]) ? 1 : 0;
    const bool may_be_left_out =
        letter < rest.size() && std::string_view("?*{").find(rest[letter]) != std::string_view::npos;
    const bool is_before_word = letter > 0 && !may_be_left_out;
    if (escape == 'y' || (escape == 'm' && is_before_word) || (escape == 'M' && is_behind_word)) {
      written += "\\b";
    } else if (escape == 'Y') {
      written += "\\B";
    } else if (escape == 'Z') {
      written += "\\z";
    } else if (escape == 'b') {
      written += "\\x08";
    } else if (escape == 'B') {
      written += "\\\\";
    } else {
      written += '\\';
      written += escape;
    }
    is_behind_word = escape == 'w';
  }
  return written;
}

const re2::RE2& compiled(std::string_view pattern, bool any_case, bool longest = false) {
  constexpr size_t kKept = 8;
  thread_local CompiledPattern kept[kKept];
  thread_local size_t next = 0;
  for (const CompiledPattern& each : kept) {
    if (each.compiled && each.any_case == any_case && each.longest == longest && each.pattern == pattern)
      return *each.compiled;
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!any_case);
  options.set_dot_nl(true);
  options.set_longest_match(longest);
  CompiledPattern& place = kept[next++ % kKept];
  place = {std::string(pattern), any_case, longest,
           std::make_unique<re2::RE2>(with_escapes_of_re2(pattern), options)};
  return *place.compiled;
}

}  // namespace

namespace {

// Whether a pattern, or a part of it, takes the longest match or the shortest one.
enum class Preference { kNone, kMore, kLess };

// Returns the end of the quantifier at `at`, without the ? behind it that makes it prefer less; `at` where
// there is none.
size_t end_of_quantifier(std::string_view pattern, size_t at) {
  if (at >= pattern.size()) return at;
  if (pattern[at] == '*' || pattern[at] == '+' || pattern[at] == '?') return at + 1;
  const bool is_count = pattern[at] == '{' && at + 1 < pattern.size() && is_ascii_digit(pattern[at + 1]);
  return is_count ? std::min(pattern.find('}', at), pattern.size() - 1) + 1 : at;
}

// Walks over a pattern as PostgreSQL's manual has it (section 9.7.3.5): a part with alternatives prefers
// more;
// otherwise the first quantified atom decides, and an atom counted exactly is as it is without the count.
class PatternWalk {
 public:
  explicit PatternWalk(std::string_view pattern) : pattern_(pattern) { preference_ = walk(); }

  Preference preference() const { return preference_; }
  bool has_lazy() const { return has_lazy_; }
  // Whether what a group matches may depend on more than the order of the quantifiers.
  bool has_choices() const { return has_choices_; }

 private:
  // Up to the end of a group or of the pattern.
  Preference walk() {
    Preference first = Preference::kNone;
    bool has_alternatives = false;
    while (at_ < pattern_.size() && pattern_[at_] != ')') {
      if (pattern_[at_] == '|') {
        has_alternatives = has_choices_ = true;
        ++at_;
        continue;
      }
      const Preference atom = walk_atom();
      if (first == Preference::kNone) first = atom;
    }
    return has_alternatives ? Preference::kMore : first;
  }

  Preference walk_atom() {
    Preference inner = Preference::kNone;
    const bool is_group = pattern_[at_] == '(';
    if (is_group) {
      ++at_;
      if (pattern_.substr(at_).starts_with("?:")) at_ += 2;
      inner = walk();
      ++at_;
    } else if (pattern_[at_] == '[') {
      at_ = end_of_bracket(pattern_, at_);
    } else {
      at_ += pattern_[at_] == '\\' ? 2 : 1;
    }
    const size_t end = end_of_quantifier(pattern_, at_);
    if (end <= at_) return inner;
    const std::string_view quantifier = pattern_.substr(at_, end - at_);
    const bool is_exact = quantifier[0] == '{' && quantifier.find(',') == quantifier.npos;
    const bool is_lazy = pattern_.substr(end).starts_with('?');
    has_lazy_ |= is_lazy;
    has_choices_ |= is_group;
    at_ = end + (is_lazy ? 1 : 0);
    if (is_exact) return inner;
    return is_lazy ? Preference::kLess : Preference::kMore;
  }

  const std::string_view pattern_;
  size_t at_ = 0;
  bool has_lazy_ = false;
  bool has_choices_ = false;
  Preference preference_ = Preference::kNone;
};

using Groups = std::vector<re2::StringPiece>;

// Finds the next match of a pattern with quantifiers that prefer less: the longest or the shortest of those
// that begin first, and its groups by the quantifiers' own preferences, from the left.
bool match_by_preference(const PatternWalk& walk, const re2::RE2& longest, const re2::RE2& by_order,
                         re2::StringPiece text, size_t start, Groups& groups) {
  const auto count = static_cast<int>(groups.size());
  const bool prefers_less = walk.preference() == Preference::kLess;
  const re2::RE2& first = prefers_less ? by_order : longest;
  if (!first.Match(text, start, text.size(), re2::RE2::UNANCHORED, groups.data(), 1)) return false;
  const auto begin = static_cast<size_t>(groups[0].data() - text.data());
  size_t end = begin + groups[0].size();
  if (prefers_less) {
    size_t shorter = begin;
    while (shorter < end && !longest.Match(text, begin, shorter, re2::RE2::ANCHOR_BOTH, nullptr, 0))
      ++shorter;
    end = shorter;
  }
  return by_order.Match(text, begin, end, re2::RE2::ANCHOR_BOTH, groups.data(), count);
}

// Whether RE2, as it ignores case, takes a character beyond ASCII for a letter of it.
bool has_ascii_variant(std::string_view text) {
  return !is_single_byte(text) && without_ascii_variants(text) != text;
}

}  // namespace

bool find_matches(std::string_view text, std::string_view pattern, const MatchOptions& options, Arena& arena,
                  std::vector<FoundMatch>& found, SqlError& error) {
  if (options.any_case && (!is_single_byte(pattern) || has_ascii_variant(text))) {
    return fail(error, arena, sqlstate::kNotSupported,
                "a regular expression that ignores case is supported with ASCII alone here");
  }
  const re2::RE2& regex = compiled(pattern, options.any_case, true);
  if (!regex.ok())
    return fail(error, arena, sqlstate::kInvalidPattern, "invalid regular expression: {}", regex.error());
  const PatternWalk walk(pattern);
  if (walk.has_lazy() && walk.has_choices() && regex.NumberOfCapturingGroups() > 0) {
    return fail(
        error, arena, sqlstate::kNotSupported,
        "quantifiers that prefer less, as in a*?, are not supported beside groups with quantifiers or "
        "alternatives");
  }
  const re2::RE2* const by_order = walk.has_lazy() ? &compiled(pattern, options.any_case) : nullptr;
  const re2::StringPiece whole(text.data(), text.size());
  Groups groups(static_cast<size_t>(regex.NumberOfCapturingGroups()) + 1);
  size_t before = 0;  // where the last match ended
  for (size_t start = 0; start <= text.size();) {
    const bool is_found = by_order == nullptr
                              ? regex.Match(whole, start, text.size(), re2::RE2::UNANCHORED, groups.data(),
                                            static_cast<int>(groups.size()))
                              : match_by_preference(walk, regex, *by_order, whole, start, groups);
    if (!is_found) break;
    FoundMatch match;
    for (const re2::StringPiece& group : groups) {
      MatchedPart& part = match.emplace_back();
      if (group.data() == nullptr) continue;
      part.begin = static_cast<size_t>(group.data() - text.data());
      part.end = part.begin + group.size();
    }
    const MatchedPart all = match[0];
    if (!options.skips_empty || (all.begin < text.size() && all.end > before)) {
      before = all.end;
      found.push_back(std::move(match));
    }
    if (!options.all) break;
    start = all.end;
    if (all.begin == all.end) start += start < text.size() ? utf8_bytes(text[start]) : 1;
  }
  return true;
}

bool matches(std::string_view text, std::string_view pattern, bool any_case, Arena& arena, Value& result,
             SqlError& error) {
  std::string kept;
  if (any_case && !is_single_byte(pattern)) {
    if (!keep_case_beyond_ascii(pattern, kept)) {
      return fail(error, arena, sqlstate::kNotSupported,
                  "brackets with a character beyond ASCII are not supported in a regular expression that "
                  "ignores case; write alternatives, (a|b), in place of [ab]");
    }
    pattern = kept;
  }
  const re2::RE2& regex = compiled(pattern, any_case);
  if (!regex.ok())
    return fail(error, arena, sqlstate::kInvalidPattern, "invalid regular expression: {}", regex.error());
  std::string changed;
  if (any_case && !is_single_byte(text)) {
    changed = without_ascii_variants(text);
    text = changed;
  }
  result = Value::of_bool(re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), regex));
  return true;
}

}  // namespace mneme
