// Numeric: exact decimal numbers as integers scaled by a power of ten, with PostgreSQL's rounding.
//
// Invariants  every number has at most 38 digits. What PostgreSQL would compute with more is an error here,
//             never a rounded answer.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/check.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"

namespace mneme {

inline constexpr std::array<int128, kMaxNumericPrecision + 1> kPowersOfTen = [] {
  std::array<int128, kMaxNumericPrecision + 1> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

inline int128 power_of_ten(unsigned exponent) {
  DCHECK(exponent <= kMaxNumericPrecision);
  return kPowersOfTen[exponent];
}

inline bool has_digits(int128 value, unsigned digits) {
  return value < kPowersOfTen[digits] && value > -kPowersOfTen[digits];
}

// value / 10^digits, halves away from zero.
int128 divide_rounding(int128 value, unsigned digits);

// From `from` digits after the point to `to`. False when the result has more than 38 digits.
[[nodiscard]] bool rescale(int128 value, unsigned from, unsigned to, int128& result);

// Whether the value fits a type: numeric(p,s), or 38 digits for an intermediate result.
inline bool fits_numeric(const Type& type, int128 value) {
  return has_digits(value, type.precision == 0 ? kMaxNumericPrecision : type.precision);
}

void print_numeric(int128 value, unsigned scale, fmt::memory_buffer& out);

// The digits after the point of a number in text, "1e-3" having three; up to 38 of them. Of what is no number
// it says nothing.
uint8_t digits_after_point(std::string_view text);
// The same, however many they are; negative where an exponent adds zeros before the point.
int64_t written_digits_after_point(std::string_view text);

enum class NumericSyntax { kOk, kInvalid, kTooLarge };
// [+-] digits [. digits] [e [+-] digits], without blanks, rounded to `scale`.
NumericSyntax parse_numeric(std::string_view text, unsigned scale, int128& value);

}  // namespace mneme
