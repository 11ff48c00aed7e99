#include "procedures/values/decimal.h"

#include <algorithm>

#include "procedures/values/numeric.h"

namespace mneme {

namespace {

using ir::Function;
using ir::Op;

bool too_many_digits(Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kOutOfRange, "value overflows numeric format");
}

bool fit(int128 number, unsigned digits, Arena& arena, Value& result, SqlError& error) {
  if (digits > kMaxNumericPrecision || !has_digits(number, kMaxNumericPrecision))
    return too_many_digits(arena, error);
  result = Value::of_decimal(number, static_cast<uint8_t>(digits));
  return true;
}

// The first digit of a number in base 10,000 that is not zero, and its place: 0 is that before the point.
struct FirstDigit {
  int weight = 0;
  int digit = 0;
};

FirstDigit first_digit(int128 number, unsigned digits) {
  if (number < 0) number = -number;
  if (number == 0) return {};
  const int128 whole = number / power_of_ten(digits);
  if (whole > 0) {
    FirstDigit first;
    int128 rest = whole;
    for (; rest >= 10'000; rest /= 10'000) ++first.weight;
    first.digit = static_cast<int>(rest);
    return first;
  }
  FirstDigit first{-1, 0};
  int128 rest = number;
  for (unsigned left = digits;; --first.weight) {
    const unsigned taken = std::min(left, 4u);
    left -= taken;
    const auto group = static_cast<int>(rest / power_of_ten(left));
    rest %= power_of_ten(left);
    if (group == 0) continue;
    first.digit = group * static_cast<int>(power_of_ten(4 - taken));
    return first;
  }
}

unsigned quotient_digits(const Value& a, const Value& b) {
  constexpr int kLeastDigits = 16;
  const FirstDigit dividend = first_digit(a.as_numeric(), a.digits());
  const FirstDigit divisor = first_digit(b.as_numeric(), b.digits());
  const int weight = dividend.weight - divisor.weight - (dividend.digit <= divisor.digit ? 1 : 0);
  return static_cast<unsigned>(std::max({kLeastDigits - weight * 4, int{a.digits()}, int{b.digits()}, 0}));
}

// Digit by digit, as by hand: no number on the way is ten times too large for 128 bits.
bool divide(const Value& a, const Value& b, Arena& arena, Value& result, SqlError& error) {
  if (b.as_numeric() == 0) return fail(error, arena, sqlstate::kDivisionByZero, "division by zero");
  const unsigned digits = quotient_digits(a, b);
  if (digits > kMaxNumericPrecision) return too_many_digits(arena, error);
  const bool negative = (a.as_numeric() < 0) != (b.as_numeric() < 0);
  using Unsigned = unsigned __int128;
  Unsigned dividend =
      a.as_numeric() < 0 ? -static_cast<Unsigned>(a.as_numeric()) : static_cast<Unsigned>(a.as_numeric());
  Unsigned divisor =
      b.as_numeric() < 0 ? -static_cast<Unsigned>(b.as_numeric()) : static_cast<Unsigned>(b.as_numeric());
  // a / 10^da / (b / 10^db) * 10^digits has so many digits more than a / b, or fewer.
  int more = static_cast<int>(digits) + b.digits() - a.digits();
  constexpr auto kMost = static_cast<Unsigned>(kPowersOfTen[kMaxNumericPrecision]);
  if (divisor >= kMost / 10 && more > 0) return too_many_digits(arena, error);
  Unsigned quotient = dividend / divisor;
  Unsigned rest = dividend % divisor;
  for (; more > 0; --more) {
    if (quotient >= kMost / 10) return too_many_digits(arena, error);
    rest *= 10;
    quotient = quotient * 10 + rest / divisor;
    rest %= divisor;
  }
  if (more < 0) {  // a has more digits than are wanted
    const auto unit = static_cast<Unsigned>(power_of_ten(static_cast<unsigned>(-more)));
    const Unsigned dropped = quotient % unit;
    quotient /= unit;
    if (dropped * 2 >= unit) ++quotient;
  } else if (rest >= divisor - rest) {
    ++quotient;
  }
  const auto magnitude = static_cast<int128>(quotient);
  return fit(negative ? -magnitude : magnitude, digits, arena, result, error);
}

}  // namespace

std::strong_ordering compare_decimals(const Value& a, const Value& b) {
  const unsigned most = std::max(a.digits(), b.digits());
  const int128 a_unit = power_of_ten(a.digits());
  const int128 b_unit = power_of_ten(b.digits());
  const int128 a_whole = a.as_numeric() / a_unit;
  const int128 b_whole = b.as_numeric() / b_unit;
  if (a_whole != b_whole) return a_whole <=> b_whole;
  return (a.as_numeric() % a_unit) * power_of_ten(most - a.digits()) <=>
         (b.as_numeric() % b_unit) * power_of_ten(most - b.digits());
}

bool apply_decimal(Op op, const Value& a, const Value& b, Arena& arena, Value& result, SqlError& error) {
  if (op == Op::kDivide) return divide(a, b, arena, result, error);
  int128 number = 0;
  if (op == Op::kMultiply) {
    if (__builtin_mul_overflow(a.as_numeric(), b.as_numeric(), &number)) return too_many_digits(arena, error);
    return fit(number, unsigned{a.digits()} + b.digits(), arena, result, error);
  }
  const unsigned digits = std::max(a.digits(), b.digits());
  int128 left = 0;
  int128 right = 0;
  if (!rescale(a.as_numeric(), a.digits(), digits, left) ||
      !rescale(b.as_numeric(), b.digits(), digits, right))
    return too_many_digits(arena, error);
  switch (op) {
    case Op::kAdd:
      number = left + right;
      break;
    case Op::kSubtract:
      number = left - right;
      break;
    case Op::kModulo:
      if (right == 0) return fail(error, arena, sqlstate::kDivisionByZero, "division by zero");
      number = left % right;
      break;
    default:
      CHECK(false && "an arithmetic operator");
  }
  return fit(number, digits, arena, result, error);
}

bool round_decimal(Function function, const Value& value, int64_t digits, Arena& arena, Value& result,
                   SqlError& error) {
  const auto wanted = static_cast<unsigned>(std::clamp<int64_t>(digits, 0, kMaxNumericPrecision));
  int128 number = value.as_numeric();
  if (digits < value.digits()) {
    const auto dropped =
        static_cast<unsigned>(std::min<int64_t>(value.digits() - digits, kMaxNumericPrecision));
    const int128 unit = power_of_ten(dropped);
    const int128 rest = number % unit;
    int128 rounded = number - rest;
    if (function == Function::kRound) rounded = divide_rounding(number, dropped) * unit;
    if (function == Function::kFloor && rest < 0) rounded -= unit;
    if (function == Function::kCeil && rest > 0) rounded += unit;
    number = rounded;
  }
  if (!rescale(number, value.digits(), wanted, number)) return too_many_digits(arena, error);
  return fit(number, wanted, arena, result, error);
}

Value without_trailing_zeros(const Value& value) {
  int128 number = value.as_numeric();
  uint8_t digits = value.digits();
  for (; digits > 0 && number % 10 == 0; --digits) number /= 10;
  return Value::of_decimal(number, digits);
}

}  // namespace mneme
