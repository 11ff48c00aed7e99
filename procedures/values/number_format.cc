#include "procedures/values/number_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "procedures/times/time_format.h"
#include "procedures/values/number_template.h"
#include "procedures/values/numeric.h"

namespace mneme {

namespace {

std::string digits_of(unsigned __int128 magnitude) {
  fmt::memory_buffer printed;
  print_numeric(static_cast<int128>(magnitude), 0, printed);
  return fmt::to_string(printed);
}

// The number of so many digits behind the point as text, a minus before it where it is less than zero.
std::string with_point(int128 number, size_t digits, size_t wanted) {
  if (digits > wanted) {
    number = divide_rounding(number, static_cast<unsigned>(digits - wanted));
    digits = wanted;
  }
  std::string text = digits_of(static_cast<unsigned __int128>(number < 0 ? -number : number));
  text.append(wanted - digits, '0');
  if (text.size() <= wanted) text.insert(0, wanted + 1 - text.size(), '0');
  if (wanted > 0) text.insert(text.size() - wanted, 1, '.');
  return number < 0 ? "-" + text : text;
}

std::string roman_of(int64_t number) {
  constexpr int64_t kMost = 3999;
  constexpr size_t kLongest = 15;
  if (number < 1 || number > kMost) return std::string(kLongest, '#');
  constexpr std::pair<int64_t, std::string_view> kParts[] = {
      {1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
      {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
  std::string text;
  for (const auto& [value, letters] : kParts) {
    for (; number >= value; number -= value) text += letters;
  }
  return text;
}

// The number's own digits by the shape, as they are to be put into the template.
class Digits {
 public:
  Digits(NumberShape& shape, const Type& type, const Value& number)
      : shape_(shape), type_(type), number_(number) {}

  // Returns nothing where the number is out of range.
  std::optional<std::string> roman() const {
    double rounded = 0;
    if (type_.is_floating()) {
      rounded = std::rint(number_.as_double());
      if (!(std::abs(rounded) < std::numeric_limits<int32_t>::max())) rounded = -1;
      return roman_of(static_cast<int64_t>(rounded));
    }
    const int128 whole =
        type_.is_integer() ? number_.as_int() : divide_rounding(number_.as_numeric(), number_.digits());
    if (whole != static_cast<int32_t>(whole)) return std::nullopt;
    return roman_of(static_cast<int64_t>(whole));
  }

  std::string scientific() const {
    const size_t behind = shape_.behind;
    if (type_.is_floating() || type_.kind == TypeKind::kInt || type_.kind == TypeKind::kSmallInt) {
      const double number = type_.is_floating() ? number_.as_double() : static_cast<double>(number_.as_int());
      if (!std::isfinite(number)) {
        std::string marks(shape_.before + behind + 6, '#');
        marks[0] = ' ';
        marks[std::min(shape_.before + 1, marks.size() - 1)] = '.';
        return marks;
      }
      const std::string text = fmt::format("{:.{}e}", number, behind);
      return text.starts_with('-') ? text : " " + text;
    }
    const bool is_integer = type_.is_integer();
    const int128 number = is_integer ? number_.as_int() : number_.as_numeric();
    const size_t digits = is_integer ? 0 : number_.digits();
    const size_t count = digits_of(static_cast<unsigned __int128>(number < 0 ? -number : number)).size();
    const int64_t exponent = number == 0 ? 0 : static_cast<int64_t>(count) - 1 - static_cast<int64_t>(digits);
    const std::string text = with_point(number, number == 0 ? 0 : count - 1, behind) +
                             fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
    return text.starts_with('-') ? text : " " + text;
  }

  // The digits begin with a minus where the number is below zero. Changes the shape where the number decides
  // it. Returns nothing where the number is out of range.
  std::optional<std::string> plain() {
    if (type_.is_floating()) return of_double();
    const int128 number = type_.is_integer() ? number_.as_int() : number_.as_numeric();
    const size_t digits = type_.is_integer() ? 0 : number_.digits();
    shape_.before += shape_.shifted;
    if (digits >= shape_.shifted) return with_point(number, digits - shape_.shifted, shape_.behind);
    std::string text = with_point(number, 0, 0);
    if (text != "0") text.append(shape_.shifted - digits, '0');
    const bool is_too_large =
        type_.kind == TypeKind::kBigInt &&
        std::abs(static_cast<double>(number_.as_int()) * std::pow(10.0, shape_.shifted)) >= 0x1p63;
    if (is_too_large) return std::nullopt;
    return text;
  }

 private:
  std::string of_double() {
    const bool is_real = type_.kind == TypeKind::kReal;
    const size_t precision = is_real ? FLT_DIG : DBL_DIG;
    double number = number_.as_double();
    if (shape_.has_shift) {
      number *= std::pow(10, static_cast<double>(shape_.shifted));
      if (is_real) number = static_cast<float>(number);
      shape_.before += shape_.shifted;
    }
    const std::string_view endless = "Infinity";
    const size_t whole = std::isinf(number) ? endless.size() : fmt::format("{:.0f}", std::abs(number)).size();
    if (whole >= precision) {
      shape_.behind = 0;
    } else if (whole + shape_.behind > precision) {
      shape_.behind = precision - whole;
    }
    if (std::isinf(number)) return fmt::format("{}{}", number < 0 ? "-" : "", endless);
    if (std::isnan(number)) return "NaN";
    return fmt::format("{:.{}f}", number, shape_.behind);
  }

  NumberShape& shape_;
  const Type& type_;
  const Value& number_;
};

// Puts a number's digits into the places of a template.
class NumberWriter {
 public:
  NumberWriter(NumberShape shape, std::string number) : shape_(shape), number_(std::move(number)) {
    if (shape_.is_roman) {
      forget_sign();
      return;
    }
    const bool is_negative = number_.starts_with('-');
    sign_ = is_negative ? '-' : '+';
    if (is_negative) number_.erase(0, 1);
    const size_t whole = std::min(number_.find('.'), number_.size());
    if (whole < shape_.before) blanks_ = shape_.before - whole;
    if (whole > shape_.before) {
      number_.assign(shape_.before + shape_.behind + 1, '#');
      number_[shape_.before] = '.';
    }
    prepare_sign();
    places_ = shape_.behind + shape_.before - 1;
    if (!is_sign_written_ && blanks_ == 0) ++places_;
    if (!shape_.fills && shape_.has_point) find_last();
  }

  std::string write(const std::vector<NumberItem>& items) {
    for (const NumberItem& item : items) write_item(item);
    if (end_) text_.resize(*end_);
    return std::move(text_);
  }

 private:
  void forget_sign() {
    const bool fills = shape_.fills;
    shape_ = NumberShape();
    shape_.fills = fills;
    shape_.is_roman = true;
  }

  // The sign is written where it is named, or before the first digit.
  void prepare_sign() {
    if (shape_.has_plus || shape_.has_minus) {
      is_sign_written_ = shape_.has_minus;
      return;
    }
    if (sign_ == '+' && !shape_.fills) shape_.has_bracket = false;
    is_sign_written_ = sign_ == '+' && !shape_.fills && shape_.anchor == NumberShape::Anchor::kNone;
    if (shape_.anchor == NumberShape::Anchor::kFront && shape_.before == shape_.before_anchor)
      shape_.anchor = NumberShape::Anchor::kBack;
  }

  // With FM, zeros at the end are left out, down to the point itself or to the last place that 0 asks for.
  void find_last() {
    const size_t point = number_.find('.');
    if (point == std::string::npos) return;
    last_ = std::max(point, number_.find_last_not_of('0'));
    if (shape_.zeros_end > blanks_)
      last_ = std::max(*last_, std::min(number_.size() - 1, shape_.zeros_end - blanks_));
  }

  void write_item(const NumberItem& item) {
    switch (item.field) {
      case NumberField::kNine:
      case NumberField::kZero:
      case NumberField::kPoint:
        if (!shape_.is_roman) write_place(item.field == NumberField::kZero);
        return;
      case NumberField::kComma:
        if (has_digit_) {
          text_ += ',';
        } else {
          fill();
        }
        return;
      case NumberField::kCurrency:
        text_ += ' ';
        return;
      case NumberField::kMinus:
        write_where(sign_ == '-', '-');
        return;
      case NumberField::kPlus:
        write_where(sign_ == '+', '+');
        return;
      case NumberField::kSign:
        if (sign_ == '\0') {
          cut();
        } else {
          text_ += sign_;
        }
        return;
      case NumberField::kRoman:
        write_roman(item.is_lower);
        return;
      case NumberField::kOrdinal:
        if (!shape_.is_roman && number_[0] != '#' && sign_ != '-' && !shape_.has_point)
          text_ += ordinal_ending(number_, !item.is_lower);
        return;
      case NumberField::kText:
        text_ += item.text;
        return;
      default:
        return;
    }
  }

  // A double has so many digits and no more: PostgreSQL's text ends where one is missing.
  void cut() { end_ = std::min(end_.value_or(text_.size()), text_.size()); }

  void fill() {
    if (shape_.fills) text_ += ' ';
  }

  void write_where(bool is_there, char sign) {
    if (is_there) {
      text_ += sign;
    } else {
      fill();
    }
  }

  void write_roman(bool is_lower) {
    std::string letters = number_;
    if (is_lower) std::ranges::transform(letters, letters.begin(), ascii_lower);
    constexpr size_t kWidth = 15;
    text_ += shape_.fills ? fmt::format("{:>{}}", letters, kWidth) : letters;
  }

  // The zero before the point of a number that is less than 1 is not written, unless 0 asks for it.
  bool is_hidden_zero() const {
    return !shape_.first_zero && at_ == 0 && number_[0] == '0' && shape_.behind != 0;
  }
  bool ends_in_point() const { return last_ && number_[*last_] == '.'; }

  void write_place(bool asks_for_zero) {
    has_digit_ = false;
    const bool is_first_zero = shape_.first_zero && *shape_.first_zero == place_;
    if (!is_sign_written_ && (place_ >= blanks_ || is_first_zero) && (!is_hidden_zero() || ends_in_point()))
      write_sign();
    if (place_ < blanks_) {
      if (shape_.first_zero && *shape_.first_zero <= place_) {
        text_ += '0';
        has_digit_ = true;
      } else {
        fill();
      }
    } else {
      write_digit(asks_for_zero);
      if (at_ < number_.size()) ++at_;
    }
    size_t end = places_ + (blanks_ > 0 ? 1 : 0) + (shape_.has_point ? 1 : 0);
    if (last_ && *last_ == at_) end = place_;
    if (place_ + 1 == end) write_sign_behind();
    ++place_;
  }

  void write_sign() {
    if (shape_.anchor != NumberShape::Anchor::kNone) {
      if (shape_.anchor == NumberShape::Anchor::kBack) return;
      text_ += sign_;
    } else if (shape_.has_bracket) {
      text_ += sign_ == '+' ? ' ' : '<';
    } else if (sign_ == '-') {
      text_ += '-';
    } else {
      fill();
    }
    is_sign_written_ = true;
  }

  void write_sign_behind() {
    if (is_sign_written_ && shape_.has_bracket) {
      text_ += sign_ == '+' ? ' ' : '>';
    } else if (shape_.anchor == NumberShape::Anchor::kBack) {
      text_ += sign_;
    }
  }

  void write_digit(bool asks_for_zero) {
    const char digit = at_ < number_.size() ? number_[at_] : '\0';
    if (digit == '.') {
      text_ += '.';
    } else if (last_ && at_ > *last_ && !asks_for_zero) {
      return;
    } else if (is_hidden_zero()) {
      if (shape_.fills) {
        text_ += ' ';
      } else if (ends_in_point()) {
        text_ += '0';
      }
    } else {
      if (digit == '\0') {
        cut();
      } else {
        text_ += digit;
      }
      has_digit_ = true;
    }
  }

  NumberShape shape_;
  std::string number_;
  char sign_ = '\0';
  size_t blanks_ = 0;  // places before the number's first digit
  size_t places_ = 0;
  std::optional<size_t> last_;  // the last digit that is shown, with FM
  size_t at_ = 0;               // in number_
  size_t place_ = 0;            // of those in the template
  bool is_sign_written_ = false;
  bool has_digit_ = false;  // the last place was a digit's
  std::string text_;
  std::optional<size_t> end_;  // of the text
};

}  // namespace

bool format_number(std::string_view format, const Type& type, const Value& number, Arena& arena,
                   std::string& text, SqlError& error) {
  const std::vector<NumberItem> items = items_of_template(format);
  NumberShape shape;
  for (const NumberItem& item : items) {
    if (const char* wrong = shape.add(item.field))
      return fail(error, arena, sqlstate::kSyntaxError, "{}", wrong);
  }
  Digits digits(shape, type, number);
  if (shape.is_roman) {
    const std::optional<std::string> roman = digits.roman();
    if (!roman) return fail(error, arena, sqlstate::kOutOfRange, "integer out of range");
    text = NumberWriter(shape, *roman).write(items);
    return true;
  }
  if (shape.has_exponent) {
    text = digits.scientific();
    return true;
  }
  std::optional<std::string> plain = digits.plain();
  if (!plain) return fail(error, arena, sqlstate::kOutOfRange, "bigint out of range");
  text = NumberWriter(shape, std::move(*plain)).write(items);
  return true;
}

}  // namespace mneme
