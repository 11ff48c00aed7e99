#include "procedures/values/numeric.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace mneme {

namespace {

// Takes digits off the front of `text`.
std::string_view take_digits(std::string_view& text) {
  const size_t count =
      static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_ascii_digit) - text.begin());
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

// Takes an exponent off the front of `text`; false when there is an e without digits. Far beyond what any
// number of 38 digits could have, the exact exponent no longer matters.
bool take_exponent(std::string_view& text, int64_t& exponent) {
  constexpr int64_t kFar = 100'000;
  exponent = 0;
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return true;
  text.remove_prefix(1);
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return false;
  for (char c : digits) exponent = std::min(kFar, exponent * 10 + (c - '0'));
  if (negative) exponent = -exponent;
  return true;
}

}  // namespace

int128 divide_rounding(int128 value, unsigned digits) {
  if (digits == 0) return value;
  if (digits > kMaxNumericPrecision) return 0;
  const int128 divisor = power_of_ten(digits);
  const int128 quotient = value / divisor;
  const int128 rest = value % divisor;
  const int128 half = divisor / 2;
  if (rest >= half) return quotient + 1;
  if (rest <= -half) return quotient - 1;
  return quotient;
}

bool rescale(int128 value, unsigned from, unsigned to, int128& result) {
  if (to < from) {
    result = divide_rounding(value, from - to);
    return true;
  }
  const unsigned up = to - from;
  if (value == 0) {
    result = 0;
    return true;
  }
  if (up > kMaxNumericPrecision || !has_digits(value, kMaxNumericPrecision - up)) return false;
  result = value * power_of_ten(up);
  return true;
}

void print_numeric(int128 value, unsigned scale, fmt::memory_buffer& out) {
  char digits[kMaxNumericPrecision + 3];
  char* const end = digits + sizeof digits;
  char* at = end;
  unsigned __int128 rest =
      value < 0 ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  while (rest != 0 || end - at <= static_cast<ptrdiff_t>(scale)) {
    *--at = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (value < 0) out.push_back('-');
  out.append(at, end - scale);
  if (scale == 0) return;
  out.push_back('.');
  out.append(end - scale, end);
}

int64_t written_digits_after_point(std::string_view text) {
  const size_t point = text.find('.');
  const size_t e = std::min(text.find_first_of("eE"), text.size());
  int64_t digits = point < e ? static_cast<int64_t>(e - point - 1) : 0;
  if (e < text.size())
    digits -=
        std::clamp<int64_t>(std::strtol(std::string(text.substr(e + 1)).c_str(), nullptr, 10), -100, 100);
  return digits;
}

uint8_t digits_after_point(std::string_view text) {
  return static_cast<uint8_t>(std::clamp<int64_t>(written_digits_after_point(text), 0, kMaxNumericPrecision));
}

NumericSyntax parse_numeric(std::string_view text, unsigned scale, int128& value) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const std::string_view whole = take_digits(text);
  std::string_view fraction;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  int64_t exponent = 0;
  if ((whole.empty() && fraction.empty()) || !take_exponent(text, exponent) || !text.empty()) {
    return NumericSyntax::kInvalid;
  }

  // The scaled integer's digits are the first `kept` of whole and fraction, with zeros after them where those
  // end.
  const auto available = static_cast<int64_t>(whole.size() + fraction.size());
  const int64_t kept = static_cast<int64_t>(whole.size()) + exponent + scale;
  const auto digit = [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    return (at < whole.size() ? whole[at] : fraction[at - whole.size()]) - '0';
  };
  int128 result = 0;
  for (int64_t i = 0; i < kept; ++i) {
    if (i >= available && result == 0) break;
    if (!has_digits(result, kMaxNumericPrecision - 1)) return NumericSyntax::kTooLarge;
    result = result * 10 + (i < available ? digit(i) : 0);
  }
  if (kept >= 0 && kept < available && digit(kept) >= 5) ++result;
  if (!has_digits(result, kMaxNumericPrecision)) return NumericSyntax::kTooLarge;
  value = negative ? -result : result;
  return NumericSyntax::kOk;
}

}  // namespace mneme
