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

template <typename Number>
Scientific shortest(Number value) {
  Scientific result;
  const auto [end, error] =
      std::to_chars(result.text, std::end(result.text), value, std::chars_format::scientific);
  result.size = static_cast<size_t>(end - result.text);
  *end = '\0';
  return result;
}

double read(const char* text, char** end, double) {
  return ::strtod_l(text, end, c_locale());
}
float read(const char* text, char** end, float) {
  return ::strtof_l(text, end, c_locale());
}

// Whether the digits lie exactly half-way to the next number. They do read back as `value` (ties go to even),
// but PostgreSQL does not rely on its reader for that and writes one digit more.
template <typename Number>
bool is_tie(const Scientific& number, Number value) {
  static_assert(std::numeric_limits<long double>::digits > std::numeric_limits<Number>::digits,
                "the middle of two numbers must be a long double");
  const long double decimal = ::strtold_l(number.text, nullptr, c_locale());
  if (decimal == static_cast<long double>(value)) return false;
  constexpr Number kInfinity = std::numeric_limits<Number>::infinity();
  const Number towards = decimal > static_cast<long double>(value) ? kInfinity : -kInfinity;
  const long double neighbour = std::nextafter(value, towards);
  return decimal == (static_cast<long double>(value) + neighbour) / 2;
}

template <typename Number>
Scientific without_ties(Number value) {
  Scientific number = shortest(value);
  if (!is_tie(number, value)) return number;
  for (int digits = 1; digits <= std::numeric_limits<Number>::max_digits10; ++digits) {
    const auto [end, error] =
        std::to_chars(number.text, std::end(number.text), value, std::chars_format::scientific, digits - 1);
    number.size = static_cast<size_t>(end - number.text);
    *end = '\0';
    if (read(number.text, nullptr, value) == value && !is_tie(number, value)) break;
  }
  return number;
}

// PostgreSQL writes an exponent where the number has more digits before the point than its type keeps.
template <typename Number>
void print(Number value, fmt::memory_buffer& out) {
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

  if (exponent < -4 || exponent >= std::numeric_limits<Number>::digits10) {
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

template <typename Number>
DoubleSyntax parse(std::string_view text, Number& value) {
  const std::string terminated(text);
  char* end = nullptr;
  value = read(terminated.c_str(), &end, value);
  if (terminated.empty() || end != terminated.c_str() + terminated.size()) return DoubleSyntax::kInvalid;
  const bool written_infinite = text.find_first_of("iI") != std::string_view::npos;
  if (std::isinf(value) && !written_infinite) return DoubleSyntax::kOutOfRange;
  const bool written_zero =
      text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == std::string_view::npos;
  if (value == 0 && !written_zero) return DoubleSyntax::kOutOfRange;
  return DoubleSyntax::kOk;
}

}  // namespace

void print_double(double value, fmt::memory_buffer& out) {
  print(value, out);
}
void print_real(float value, fmt::memory_buffer& out) {
  print(value, out);
}

DoubleSyntax parse_double(std::string_view text, double& value) {
  return parse(text, value);
}
DoubleSyntax parse_real(std::string_view text, float& value) {
  return parse(text, value);
}

}  // namespace mneme
