#include "procedures/values/float_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>

#include "base/ascii.h"

namespace mneme {

namespace {

// d[.ddd]e[+-]xx, as std::to_chars writes it.
struct Scientific {
  char text[40];
  size_t size;
};

Scientific shortest(double value) {
  Scientific result;
  const auto [end, error] =
      std::to_chars(result.text, std::end(result.text), value, std::chars_format::scientific);
  result.size = static_cast<size_t>(end - result.text);
  *end = '\0';
  return result;
}

// Whether the digits lie exactly half-way to the next double. They do read back as `value` (ties go to even),
// but PostgreSQL does not rely on its reader for that and writes one digit more.
bool is_tie(const Scientific& number, double value) {
  static_assert(std::numeric_limits<long double>::digits > std::numeric_limits<double>::digits,
                "the middle of two doubles must be a long double");
  const long double decimal = ::strtold_l(number.text, nullptr, c_locale());
  if (decimal == static_cast<long double>(value)) return false;
  const double towards = decimal > static_cast<long double>(value) ? INFINITY : -INFINITY;
  const long double neighbour = std::nextafter(value, towards);
  return decimal == (static_cast<long double>(value) + neighbour) / 2;
}

Scientific without_ties(double value) {
  Scientific number = shortest(value);
  if (!is_tie(number, value)) return number;
  for (int digits = 1; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    const auto [end, error] =
        std::to_chars(number.text, std::end(number.text), value, std::chars_format::scientific, digits - 1);
    number.size = static_cast<size_t>(end - number.text);
    *end = '\0';
    if (::strtod_l(number.text, nullptr, c_locale()) == value && !is_tie(number, value)) break;
  }
  return number;
}

}  // namespace

void print_double(double value, fmt::memory_buffer& out) {
  const auto append = [&](std::string_view text) { out.append(text.data(), text.data() + text.size()); };
  if (std::isnan(value)) return append("NaN");
  if (std::isinf(value)) return append(value > 0 ? "Infinity" : "-Infinity");
  if (std::signbit(value)) out.push_back('-');
  if (value == 0) return out.push_back('0');
  const Scientific number = without_ties(std::fabs(value));
  const std::string_view text(number.text, number.size);
  const size_t e = text.find('e');
  int exponent = std::atoi(number.text + e + 1);
  char digits[24];
  int count = 0;
  for (char c : text.substr(0, e)) {
    if (c != '.') digits[count++] = c;
  }
  while (count > 1 && digits[count - 1] == '0') --count;

  if (exponent < -4 || exponent >= 15) {
    out.push_back(digits[0]);
    if (count > 1) out.push_back('.');
    out.append(digits + 1, digits + count);
    fmt::format_to(std::back_inserter(out), "e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
    return;
  }
  if (exponent < 0) {
    append("0.");
    for (int zeros = -exponent - 1; zeros > 0; --zeros) out.push_back('0');
    return out.append(digits, digits + count);
  }
  for (int i = 0; i < count || i <= exponent; ++i) {
    if (i == exponent + 1) out.push_back('.');
    out.push_back(i < count ? digits[i] : '0');
  }
}

DoubleSyntax parse_double(std::string_view text, double& value) {
  const std::string terminated(text);
  char* end = nullptr;
  value = ::strtod_l(terminated.c_str(), &end, c_locale());
  if (terminated.empty() || end != terminated.c_str() + terminated.size()) return DoubleSyntax::kInvalid;
  const bool written_infinite = text.find_first_of("iI") != std::string_view::npos;
  if (std::isinf(value) && !written_infinite) return DoubleSyntax::kOutOfRange;
  const bool written_zero =
      text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == std::string_view::npos;
  if (value == 0 && !written_zero) return DoubleSyntax::kOutOfRange;
  return DoubleSyntax::kOk;
}

}  // namespace mneme
