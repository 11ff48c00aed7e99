#include "tests/differential/known.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <regex>

namespace mneme::differential {
namespace {

std::string told(const Answer& answer) {
  return (answer.ok() ? "ok" : answer.sqlstate) + ": " + answer.message;
}

bool is_found(const std::string& pattern, const std::string& text) {
  return pattern.empty() || std::regex_search(text, std::regex(pattern, std::regex::icase));
}

// --- Answers that are the same but for how numbers are printed

using Text = std::optional<std::string>;

bool agree(const Outcome& outcome, const std::function<bool(const Text&, const Text&)>& same) {
  const Answer& a = outcome.mneme;
  const Answer& b = outcome.postgres;
  if (a.tag != b.tag || a.names != b.names || a.rows.size() != b.rows.size()) return false;
  return std::ranges::equal(a.rows, b.rows, [&](const auto& left, const auto& right) {
    return std::ranges::equal(left, right, same);
  });
}

bool is_number(const Text& text) {
  static const std::regex number("-?[0-9]+(\\.[0-9]+)?(e[+-][0-9]+)?");
  return text && std::regex_match(*text, number);
}

// The last digits of a sum depend on its order, as does whether it is infinite at the end of the range.
bool is_rounded_otherwise(const Text& a, const Text& b) {
  if (a == b) return true;
  if (!is_number(a) || !is_number(b)) return false;
  double left = 0;
  double right = 0;
  std::from_chars(a->data(), a->data() + a->size(), left);
  std::from_chars(b->data(), b->data() + b->size(), right);
  return std::abs(left - right) <= 1e-9 * std::max(std::abs(left), std::abs(right)) + 1e-9;
}

bool differs_by_rounding(const Outcome& outcome, const std::string&) {
  return agree(outcome, is_rounded_otherwise);
}

std::string without_zeros(const Text& text) {
  std::string digits = text.value_or("NULL");
  if (digits.find('.') == std::string::npos) return digits;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits;
}

bool differs_by_zeros(const Outcome& outcome, const std::string&) {
  return agree(outcome, [](const Text& a, const Text& b) {
    return a == b || (is_number(a) && is_number(b) && without_zeros(a) == without_zeros(b));
  });
}

// --- Scenarios

// An UPDATE that sets a column of a unique key, of a table with two rows or more.
bool updates_keys_of_rows(const Outcome&, const std::string& scenario) {
  static const std::regex key(
      "PRIMARY KEY \\(([^)]*)\\)|UNIQUE INDEX i1 ON t[12] \\(([^)]*)\\)|(\\w+) "
      "[^,()]*(\\([0-9,]*\\))?[^,()]* UNIQUE");
  static const std::regex word("\\w+");
  size_t rows = 0;
  for (size_t at = 0; (at = scenario.find("INSERT INTO", at)) != std::string::npos; ++at) ++rows;
  if (rows < 2) return false;
  for (std::sregex_iterator found(scenario.begin(), scenario.end(), key), end; found != end; ++found) {
    const std::string columns = (*found)[1].str() + " " + (*found)[2].str() + " " + (*found)[3].str();
    for (std::sregex_iterator column(columns.begin(), columns.end(), word); column != end; ++column) {
      if (is_found("UPDATE t[12]( (AS )?x)? SET ([^;]*, )?" + column->str() + " = ", scenario)) return true;
    }
  }
  return false;
}

}  // namespace

const std::vector<KnownDifference>& known_differences() {
  static const std::vector<KnownDifference> known = {
      {"NUMERIC of 38 digits", "^22003: (value overflows numeric format|numeric field overflow)", "^(ok|2)",
       "[0-9]{9,}|NUMERIC",
       "A NUMERIC holds 38 digits, PostgreSQL's 131072 before the point: what needs more is refused as out "
       "of range."},
      {"arguments that a parameter's modifiers would change",
       "^(2200[13]: (the )?argument .* would change: |22001: value too long for a parameter )", "", "CALL",
       "PostgreSQL ignores a parameter's modifiers; Mneme, which keeps values of fixed size, refuses such an "
       "argument."},
      {"values that a NUMERIC parameter's modifiers do not hold", "^22003: numeric field overflow", "",
       "PROCEDURE p[0-9]\\([^;]*NUMERIC\\([^;]*(:= | INTO )",
       "PostgreSQL ignores a parameter's modifiers; Mneme, which keeps values of fixed size, refuses such a "
       "value."},
      {"zeros at the end of a NUMERIC parameter", "^ok", "^ok", "PROCEDURE p[0-9]\\([^;]*NUMERIC\\(",
       "PostgreSQL gives it as many digits as the value that it was assigned; in Mneme its type says how "
       "many.",
       differs_by_zeros},
      {"the order in which an UPDATE meets unique keys", "^(23505|ok)", "^(ok|23505)", "UPDATE t",
       "Each row is checked when it is written, in the order of the plan.", updates_keys_of_rows},
      {"columns without room for their characters' bytes", "^22001: the value takes [0-9]+ bytes in UTF-8",
       "", "", "A column has room for as many bytes as it may have characters: rows have a fixed size."},
      {"NaN as a NUMERIC", "cannot convert NaN or infinity to numeric", "^(ok|2)", "",
       "Mneme's NUMERIC has no NaN."},
      {"the order in which doubles are added", "^ok", "^ok", "sum\\(",
       "Rows are read in an order of each plan's own, and each sum is rounded.", differs_by_rounding},
  };
  return known;
}

const KnownDifference* find_known(const Outcome& outcome, const std::string& scenario) {
  const bool names = outcome.differs_in_names();
  for (const KnownDifference& known : known_differences()) {
    if (is_found(known.mneme, names ? "names" : told(outcome.mneme)) &&
        is_found(known.postgres, names ? "names" : told(outcome.postgres)) &&
        is_found(known.statement, scenario) && (known.holds == nullptr || known.holds(outcome, scenario))) {
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
