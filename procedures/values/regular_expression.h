// Regular expression: text ~ pattern, in time that grows with the text alone.
//
// Patterns    as RE2 reads them, which is what PostgreSQL reads but for back references, look-around and
//             collating elements: those are refused.
#pragma once

#include <string_view>
#include <vector>

#include "base/memory/arena.h"
#include "engine/schema/value.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

// Whether the pattern is found anywhere in the text.
[[nodiscard]] bool matches(std::string_view text, std::string_view pattern, bool any_case, Arena& arena,
                           Value& result, SqlError& error);

// A part of a text; a group that took no part in the match has no begin.
struct MatchedPart {
  size_t begin = std::string_view::npos;
  size_t end = 0;

  bool is_there() const { return begin != std::string_view::npos; }
};
// The whole match, then its groups.
using FoundMatch = std::vector<MatchedPart>;

struct MatchOptions {
  bool any_case = false;
  bool all = false;  // not the first one alone
  bool skips_empty =
      false;  // leaves out matches of nothing where the text or a match ends, as splitting does
};

// Finds the pattern's matches, each the longest of those that begin where it does, or the shortest, as
// PostgreSQL's rules for quantifiers have it. Fails with 0A000 for quantifiers that prefer less beside
// groups that have quantifiers or alternatives.
[[nodiscard]] bool find_matches(std::string_view text, std::string_view pattern, const MatchOptions& options,
                                Arena& arena, std::vector<FoundMatch>& found, SqlError& error);

}  // namespace mneme
