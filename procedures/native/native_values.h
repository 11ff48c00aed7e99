// Native values: SQL values as C++ ones in generated code, and what is done to them inline.
//
// Representation  boolean: bool. integers, timestamp: int64_t. numeric: int64_t where no value has more than
//                 18 digits, else int128, scaled as in Value. double precision: double. strings:
//                 std::string_view.
// Invariants      a value under NULL is some value of its type: it may be computed with, and what comes out
//                 is NULL. whatever is rare is done by the very functions that the interpreter calls, over
//                 boxed Values.
// Errors          a function that returns false leaves it to its caller to say why (native_errors.h).
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "engine/schema/value.h"
#include "procedures/values/comparison.h"
#include "procedures/values/numeric.h"
#include "procedures/values/value_text.h"

namespace mneme::native {

template <typename T>
struct Nullable {
  T value{};
  bool null = true;
};

// ---- boxes ----

inline Value boxed_int(int64_t value, bool null) {
  return null ? Value::null() : Value::of_int(value);
}
inline Value boxed_bool(bool value, bool null) {
  return null ? Value::null() : Value::of_bool(value);
}
inline Value boxed_numeric(int128 value, bool null) {
  return null ? Value::null() : Value::of_numeric(value);
}
inline Value boxed_double(double value, bool null) {
  return null ? Value::null() : Value::of_double(value);
}
inline Value boxed_text(std::string_view value, bool null) {
  return null ? Value::null() : Value::of_text(value);
}

inline Nullable<bool> bool_of(const Value& value) {
  return value.is_null() ? Nullable<bool>{} : Nullable<bool>{value.as_bool(), false};
}
// Returns the number of an integer, a timestamp, or a numeric of at most 18 digits.
inline Nullable<int64_t> int_of(const Value& value) {
  return value.is_null() ? Nullable<int64_t>{} : Nullable<int64_t>{value.as_int(), false};
}
inline Nullable<int128> wide_of(const Value& value) {
  return value.is_null() ? Nullable<int128>{} : Nullable<int128>{value.as_numeric(), false};
}
inline Nullable<double> double_of(const Value& value) {
  return value.is_null() ? Nullable<double>{} : Nullable<double>{value.as_double(), false};
}
inline Nullable<std::string_view> text_of(const Value& value) {
  return value.is_null() ? Nullable<std::string_view>{} : Nullable<std::string_view>{value.as_text(), false};
}

// Constants that C++ has no literal for.
constexpr int128 wide(uint64_t high, uint64_t low) {
  return static_cast<int128>(static_cast<unsigned __int128>(high) << 64 | low);
}
inline double double_of_bits(uint64_t bits) {
  return std::bit_cast<double>(bits);
}

// ---- integers, each overflowing at its own width ----

template <TypeKind kKind>
[[nodiscard]] bool add(int64_t a, int64_t b, int64_t& result) {
  return !__builtin_add_overflow(a, b, &result) && fits_integer(kKind, result);
}
template <TypeKind kKind>
[[nodiscard]] bool subtract(int64_t a, int64_t b, int64_t& result) {
  return !__builtin_sub_overflow(a, b, &result) && fits_integer(kKind, result);
}
template <TypeKind kKind>
[[nodiscard]] bool multiply(int64_t a, int64_t b, int64_t& result) {
  return !__builtin_mul_overflow(a, b, &result) && fits_integer(kKind, result);
}
// By a number that is not zero.
template <TypeKind kKind>
[[nodiscard]] bool divide(int64_t a, int64_t b, int64_t& result) {
  if (b == -1) return subtract<kKind>(0, a, result);
  result = a / b;
  return fits_integer(kKind, result);
}
inline int64_t remainder(int64_t a, int64_t b) {
  return b == -1 ? 0 : a % b;
}

// ---- numerics whose result may have more than 38 digits ----

[[nodiscard]] inline bool add_wide(int128 a, int128 b, int128& result) {
  return !__builtin_add_overflow(a, b, &result) && has_digits(result, kMaxNumericPrecision);
}
[[nodiscard]] inline bool subtract_wide(int128 a, int128 b, int128& result) {
  return !__builtin_sub_overflow(a, b, &result) && has_digits(result, kMaxNumericPrecision);
}
[[nodiscard]] inline bool multiply_wide(int128 a, int128 b, int128& result) {
  return !__builtin_mul_overflow(a, b, &result) && has_digits(result, kMaxNumericPrecision);
}

// 10^kDigits, as the factor of a number that stays within 18 digits.
template <unsigned kDigits>
inline constexpr int64_t kNarrowPowerOfTen = static_cast<int64_t>(kPowersOfTen[kDigits]);

// value / 10^kDigits, halves away from zero: numeric.h's divide_rounding, with the division that the number
// needs.
template <unsigned kDigits>
int128 round_away(int128 value) {
  static_assert(kDigits > 0);
  if constexpr (kDigits <= kNarrowNumericPrecision) {
    const auto narrow = static_cast<int64_t>(value);
    if (narrow == value) [[likely]] {
      constexpr int64_t kDivisor = kNarrowPowerOfTen<kDigits>;
      const int64_t quotient = narrow / kDivisor;
      const int64_t rest = narrow % kDivisor;
      return quotient + (rest >= kDivisor / 2) - (rest <= -(kDivisor / 2));
    }
  }
  return divide_rounding(value, kDigits);
}

[[nodiscard]] inline bool fits_int64(int128 value) {
  return value == static_cast<int64_t>(value);
}

// ---- greatest() and least(): the best so far of those that are not NULL ----

template <typename T>
std::strong_ordering order_of(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    return compare_doubles(a, b);
  } else {
    return a <=> b;
  }
}
template <typename T>
void keep_greatest(Nullable<T>& best, T value, bool null) {
  if (!null && (best.null || order_of(value, best.value) > 0)) best = {value, false};
}
template <typename T>
void keep_least(Nullable<T>& best, T value, bool null) {
  if (!null && (best.null || order_of(value, best.value) < 0)) best = {value, false};
}

}  // namespace mneme::native
