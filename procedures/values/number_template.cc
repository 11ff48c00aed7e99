#include "procedures/values/number_template.h"

#include <algorithm>

#include "base/ascii.h"

namespace mneme {

namespace {

struct NumberPattern {
  std::string_view text;  // in capitals; it may be written in small letters, too
  NumberField field;
};

constexpr NumberPattern kNumberPatterns[] = {
    {",", NumberField::kComma},    {".", NumberField::kPoint},       {"0", NumberField::kZero},
    {"9", NumberField::kNine},     {"B", NumberField::kBlank},       {"C", NumberField::kNothing},
    {"D", NumberField::kPoint},    {"EEEE", NumberField::kExponent}, {"FM", NumberField::kFill},
    {"G", NumberField::kComma},    {"L", NumberField::kCurrency},    {"MI", NumberField::kMinus},
    {"PL", NumberField::kPlus},    {"PR", NumberField::kBracket},    {"RN", NumberField::kRoman},
    {"SG", NumberField::kSign},    {"SP", NumberField::kNothing},    {"S", NumberField::kAnchoredSign},
    {"TH", NumberField::kOrdinal}, {"V", NumberField::kShift},
};

}  // namespace

std::vector<NumberItem> items_of_template(std::string_view rest) {
  std::vector<NumberItem> items;
  while (!rest.empty()) {
    const auto stands_here = [&](const NumberPattern& pattern, bool lower) {
      return std::ranges::equal(rest.substr(0, pattern.text.size()), pattern.text,
                                [&](char here, char c) { return here == (lower ? ascii_lower(c) : c); });
    };
    const NumberPattern* found = nullptr;
    bool is_lower = false;
    for (const NumberPattern& pattern : kNumberPatterns) {
      if (found != nullptr || rest.size() < pattern.text.size()) continue;
      is_lower = !stands_here(pattern, false);
      if (!is_lower || stands_here(pattern, true)) found = &pattern;
    }
    if (found != nullptr) {
      items.push_back({found->field, is_lower});
      rest.remove_prefix(found->text.size());
    } else if (rest[0] == '"') {
      size_t at = 1;
      for (; at < rest.size() && rest[at] != '"'; ++at) {
        if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
        items.push_back({NumberField::kText, false, rest.substr(at, 1)});
      }
      rest.remove_prefix(std::min(at + 1, rest.size()));
    } else {
      if (rest.starts_with("\\\"")) rest.remove_prefix(1);
      items.push_back({NumberField::kText, false, rest.substr(0, 1)});
      rest.remove_prefix(1);
    }
  }
  return items;
}

const char* NumberShape::add(NumberField field) {
  if (field == NumberField::kText) return nullptr;
  if (has_exponent && field != NumberField::kExponent) return "\"EEEE\" must be the last pattern used";
  switch (field) {
    case NumberField::kNine:
      if (has_bracket) return "\"9\" must be ahead of \"PR\"";
      ++(has_shift ? shifted : has_point ? behind : before);
      return nullptr;
    case NumberField::kZero:
      if (has_bracket) return "\"0\" must be ahead of \"PR\"";
      if (!first_zero && !has_point) first_zero = before;
      ++(has_point ? behind : before);
      zeros_end = before + behind;
      return nullptr;
    case NumberField::kBlank:
      is_blank |= before == 0 && behind == 0 && !first_zero;
      return nullptr;
    case NumberField::kPoint:
      if (has_point) return "multiple decimal points";
      if (has_shift) return "cannot use \"V\" and decimal point together";
      has_point = true;
      return nullptr;
    case NumberField::kFill:
      fills = false;
      return nullptr;
    case NumberField::kAnchoredSign:
      if (anchor != Anchor::kNone) return "cannot use \"S\" twice";
      if (has_plus || has_minus || has_bracket)
        return "cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together";
      anchor = has_point ? Anchor::kBack : Anchor::kFront;
      before_anchor = before;
      return nullptr;
    case NumberField::kMinus:
      if (anchor != Anchor::kNone) return "cannot use \"S\" and \"MI\" together";
      has_minus = true;
      return nullptr;
    case NumberField::kPlus:
      if (anchor != Anchor::kNone) return "cannot use \"S\" and \"PL\" together";
      has_plus = true;
      return nullptr;
    case NumberField::kSign:
      if (anchor != Anchor::kNone) return "cannot use \"S\" and \"SG\" together";
      has_minus = has_plus = true;
      return nullptr;
    case NumberField::kBracket:
      if (anchor != Anchor::kNone || has_plus || has_minus)
        return "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together";
      has_bracket = true;
      return nullptr;
    case NumberField::kRoman:
      is_roman = true;
      return nullptr;
    case NumberField::kShift:
      if (has_point) return "cannot use \"V\" and decimal point together";
      has_shift = true;
      return nullptr;
    case NumberField::kExponent:
      if (has_exponent) return "cannot use \"EEEE\" twice";
      if (is_blank || !fills || anchor != Anchor::kNone || has_bracket || has_minus || has_plus || is_roman ||
          has_shift)
        return "\"EEEE\" is incompatible with other formats";
      has_exponent = true;
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace mneme
