// Long number: a signed number with 126 digits behind the point and up to 90 before it, for what is computed
// by series and rounded to a numeric.
//
// Invariants  arithmetic drops what is behind the last digit. A result of more digits before the point is a
//             number that says so, in is_too_large(); so is whatever is computed of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "engine/schema/value.h"

namespace mneme {

class LongNumber {
 public:
  LongNumber() = default;
  explicit LongNumber(int64_t number);
  // The number / 10^digits.
  LongNumber(int128 number, unsigned digits);
  // The number is finite, and below 10^80.
  static LongNumber of_double(double number);

  bool is_too_large() const { return is_too_large_; }
  bool is_negative() const { return is_negative_; }
  bool is_zero() const;
  double to_double() const;
  // Rounded to so many digits behind the point; nothing where that are more than 38 digits.
  std::optional<int128> rounded(unsigned digits) const;

  LongNumber operator-() const;
  LongNumber operator+(const LongNumber& other) const;
  LongNumber operator-(const LongNumber& other) const { return *this + -other; }
  LongNumber operator*(const LongNumber& other) const;
  LongNumber times(uint32_t factor) const;
  LongNumber divided_by(uint32_t divisor) const;
  LongNumber halved(unsigned times) const;
  // 1 / the number, which is not zero.
  LongNumber reciprocal() const;

 private:
  static constexpr uint32_t kBase = 1'000'000'000;
  static constexpr size_t kFraction = 14;  // limbs behind the point
  static constexpr size_t kLimbs = 24;

  static int compare_magnitudes(const LongNumber& a, const LongNumber& b);

  std::array<uint32_t, kLimbs> limbs_{};  // the last digits first
  bool is_negative_ = false;
  bool is_too_large_ = false;
};

// e to the power of a number between -1000 and 1000.
LongNumber exp_of(const LongNumber& number);
// The natural logarithm of a positive number.
LongNumber ln_of(const LongNumber& number);
// The number to the power of a whole one.
LongNumber whole_power_of(const LongNumber& base, int64_t exponent);

}  // namespace mneme
