// ASCII characters, and C's locale: what the standard library's functions say of them depends on the
// process's locale, which the program that brings a database along may have set to anything, at any time.
//
// Threads  any.
#pragma once

#include <locale.h>

namespace mneme {

constexpr bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_ascii_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// For strtod_l() and its like.
inline locale_t c_locale() {
  static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

}  // namespace mneme
