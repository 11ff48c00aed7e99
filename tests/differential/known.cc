#include "tests/differential/known.h"

#include <regex>

namespace mneme::differential {
namespace {

std::string told(const Answer& answer) {
  return (answer.ok() ? "ok" : answer.sqlstate) + ": " + answer.message;
}

bool is_found(const std::string& pattern, const std::string& text) {
  return pattern.empty() || std::regex_search(text, std::regex(pattern, std::regex::icase));
}

}  // namespace

const std::vector<KnownDifference>& known_differences() {
  static const std::vector<KnownDifference> known = {
      {"NUMERIC of 38 digits", false, "^22003: (value overflows numeric format|numeric field overflow)", "^(ok|2)", "[0-9]{9,}",
       "A NUMERIC holds 38 digits, PostgreSQL's 131072 before the point: what needs more is refused as out of range."},
      {"arguments that a parameter's modifiers would change", false, "^2200[13]: argument .* would change: ", "^(ok|2|P)", "CALL",
       "PostgreSQL ignores a parameter's modifiers; Mneme, which keeps values of fixed size, refuses such an argument."},
      {"the order in which an UPDATE meets unique keys", false, "^(23505|ok)", "^(ok|23505)", "UPDATE t",
       "Each row is checked when it is written, in the order of the plan."},
      {"NaN as a NUMERIC", false, "cannot convert NaN or infinity to numeric", "^(ok|2)", "nan", "Mneme's NUMERIC has no NaN."},
      {"the order in which doubles are added", false, "^ok", "^ok", "SELECT (.*[ (])?sum\\(", "Rows are read in an order of each plan's own, and each sum is rounded."},
      {"rows that a join leaves out", false, "^ok", "^22", "FROM t1 l(,| JOIN)", "PostgreSQL looks at a condition on one table before it joins; no setting stops it."},
      {"texts of timestamps", false, "^2200[78]", "", "", "Of PostgreSQL's many forms a timestamp is read in one: YYYY-MM-DD [HH:MM[:SS[.ffffff]]]."},
  };
  return known;
}

const KnownDifference* find_known(const Outcome& outcome, const std::string& scenario) {
  const bool names = outcome.differs_in_names();
  for (const KnownDifference& known : known_differences()) {
    if (is_found(known.mneme, names ? "names" : told(outcome.mneme)) &&
        is_found(known.postgres, names ? "names" : told(outcome.postgres)) &&
        is_found(known.statement, scenario)) {
      return &known;
    }
  }
  return nullptr;
}

std::string kind_of_refusal(const Answer& answer) {
  static const std::regex place("^\\S*?:?\\d+:\\d+: ");
  static const std::regex quoted("\"[^\"]*\"|'[^']*'|`[^`]*`");
  static const std::regex number("[0-9]+");
  std::string text = std::regex_replace(answer.message, place, "");
  text = std::regex_replace(text, quoted, "_");
  return answer.sqlstate + ": " + std::regex_replace(text, number, "0").substr(0, 150);
}

}  // namespace mneme::differential
