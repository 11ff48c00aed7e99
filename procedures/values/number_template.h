// Number template: the parts of to_char()'s and to_number()'s template, as '999,990.00' is one. Private to
// number_format.h.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace mneme {

enum class NumberField {
  kNine,
  kZero,
  kPoint,
  kComma,
  kBlank,
  kExponent,
  kFill,
  kCurrency,
  kMinus,
  kPlus,
  kBracket,
  kRoman,
  kSign,
  kNothing,
  kAnchoredSign,
  kOrdinal,
  kShift,
  kText,
};

// A part of the template.
struct NumberItem {
  NumberField field;
  bool is_lower = false;
  std::string_view text{};  // kText
};

std::vector<NumberItem> items_of_template(std::string_view format);

// What a template says of the number as a whole.
struct NumberShape {
  enum class Anchor { kNone, kFront, kBack };

  size_t before = 0;   // digits before the point
  size_t behind = 0;   // digits behind it
  size_t shifted = 0;  // digits behind V
  std::optional<size_t> first_zero;
  size_t zeros_end = 0;
  Anchor anchor = Anchor::kNone;  // of S
  size_t before_anchor = 0;
  bool has_point = false;
  bool fills = true;  // FM says that it does not
  bool has_minus = false;
  bool has_plus = false;
  bool has_bracket = false;
  bool has_shift = false;
  bool has_exponent = false;
  bool is_blank = false;
  bool is_roman = false;

  // Returns what is wrong with the template; nothing: it was taken in.
  const char* add(NumberField field);
};

}  // namespace mneme
