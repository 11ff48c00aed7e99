#include "procedures/values/arithmetic.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "procedures/times/interval.h"
#include "procedures/values/decimal.h"
#include "procedures/values/numeric.h"
#include "procedures/values/text_functions.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

using ir::Function;
using ir::Op;

bool divided_by_zero(Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kDivisionByZero, "division by zero");
}

bool apply_integer(Op op, const Type& type, int64_t a, int64_t b, Arena& arena, Value& result,
                   SqlError& error) {
  int64_t number = 0;
  bool overflow = false;
  switch (op) {
    case Op::kAdd:
      overflow = __builtin_add_overflow(a, b, &number);
      break;
    case Op::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &number);
      break;
    case Op::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &number);
      break;
    case Op::kDivide:
      if (b == 0) return divided_by_zero(arena, error);
      overflow = b == -1 ? __builtin_sub_overflow(int64_t{0}, a, &number) : (number = a / b, false);
      break;
    case Op::kModulo:
      if (b == 0) return divided_by_zero(arena, error);
      number = b == -1 ? 0 : a % b;
      break;
    default:
      CHECK(false && "an arithmetic operator");
  }
  if (overflow || !fits_integer(type.kind, number)) return out_of_range(type, arena, error);
  result = Value::of_int(number);
  return true;
}

bool apply_numeric(Op op, const Type& type, int128 a, int128 b, Arena& arena, Value& result,
                   SqlError& error) {
  int128 number = 0;
  bool overflow = false;
  switch (op) {
    case Op::kAdd:
      overflow = __builtin_add_overflow(a, b, &number);
      break;
    case Op::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &number);
      break;
    case Op::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &number);
      break;
    case Op::kModulo:
      if (b == 0) return divided_by_zero(arena, error);
      number = a % b;
      break;
    default:
      CHECK(false && "numeric has no division");
  }
  if (overflow || !has_digits(number, kMaxNumericPrecision)) return out_of_range(type, arena, error);
  result = Value::of_numeric(number);
  return true;
}

bool overflowed(Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kOutOfRange, "value out of range: overflow");
}
bool underflowed(Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kOutOfRange, "value out of range: underflow");
}

bool apply_double(Op op, double a, double b, Arena& arena, Value& result, SqlError& error) {
  double number = 0;
  const bool infinite_operand = std::isinf(a) || std::isinf(b);
  bool zero_expected = true;
  switch (op) {
    case Op::kAdd:
      number = a + b;
      break;
    case Op::kSubtract:
      number = a - b;
      break;
    case Op::kMultiply:
      number = a * b;
      zero_expected = a == 0 || b == 0;
      break;
    case Op::kDivide:
      if (b == 0 && !std::isnan(a)) return divided_by_zero(arena, error);
      number = a / b;
      zero_expected = a == 0 || std::isinf(b);
      break;
    default:
      CHECK(false && "double precision has no such operator");
  }
  if (std::isinf(number) && !infinite_operand) return overflowed(arena, error);
  if (number == 0 && !zero_expected) return underflowed(arena, error);
  result = Value::of_double(number);
  return true;
}

// Rounds or cuts to `digits` after the point, which may be negative, then brings the number to the result's
// scale.
bool round_numeric(Function function, const Type& source, const Type& type, int128 number, int64_t digits,
                   Arena& arena, Value& result, SqlError& error) {
  if (digits < source.scale) {
    const auto dropped =
        static_cast<unsigned>(std::min<int64_t>(source.scale - digits, kMaxNumericPrecision));
    const int128 unit = power_of_ten(dropped);
    const int128 rest = number % unit;
    int128 rounded = number - rest;
    if (function == Function::kRound) rounded = divide_rounding(number, dropped) * unit;
    if (function == Function::kFloor && rest < 0) rounded -= unit;
    if (function == Function::kCeil && rest > 0) rounded += unit;
    number = rounded;
  }
  if (!rescale(number, source.scale, type.scale, number)) return out_of_range(type, arena, error);
  return fit_numeric(type, number, arena, result, error);
}

bool apply_power(double base, double exponent, Arena& arena, Value& result, SqlError& error) {
  // NaN comes before the errors. pow() knows the exceptions: 1 to the NaN, and NaN to the 0, are 1.
  if (std::isnan(base) || std::isnan(exponent)) {
    result = Value::of_double(std::pow(base, exponent));
    return true;
  }
  if (base == 0 && exponent < 0) {
    return fail(error, arena, sqlstate::kInvalidPower, "zero raised to a negative power is undefined");
  }
  if (base < 0 && std::floor(exponent) != exponent) {
    return fail(error, arena, sqlstate::kInvalidPower,
                "a negative number raised to a non-integer power yields a complex result");
  }
  const double number = std::pow(base, exponent);
  const bool finite = std::isfinite(base) && std::isfinite(exponent);
  if (finite && std::isinf(number)) return overflowed(arena, error);
  if (finite && number == 0 && base != 0) return underflowed(arena, error);
  result = Value::of_double(number);
  return true;
}

bool apply_exp(double exponent, Arena& arena, Value& result, SqlError& error) {
  const double number = std::exp(exponent);
  if (std::isfinite(exponent) && std::isinf(number)) return overflowed(arena, error);
  if (std::isfinite(exponent) && number == 0) return underflowed(arena, error);
  result = Value::of_double(number);
  return true;
}

bool apply_double_function(Function function, std::span<const Value> arguments, Arena& arena, Value& result,
                           SqlError& error) {
  const double a = arguments[0].as_double();
  switch (function) {
    case Function::kAbs:
      result = Value::of_double(std::fabs(a));
      return true;
    case Function::kSign:
      result = Value::of_double(a > 0 ? 1 : a < 0 ? -1 : 0);
      return true;
    case Function::kFloor:
      result = Value::of_double(std::floor(a));
      return true;
    case Function::kCeil:
      result = Value::of_double(std::ceil(a));
      return true;
    case Function::kRound:
      result = Value::of_double(std::rint(a));
      return true;
    case Function::kTrunc:
      result = Value::of_double(std::trunc(a));
      return true;
    case Function::kSqrt:
      if (a < 0) {
        return fail(error, arena, sqlstate::kInvalidPower, "cannot take square root of a negative number");
      }
      result = Value::of_double(std::sqrt(a));
      return true;
    case Function::kExp:
      return apply_exp(a, arena, result, error);
    case Function::kLn:
    case Function::kLog:
      if (a == 0) return fail(error, arena, sqlstate::kInvalidLogarithm, "cannot take logarithm of zero");
      if (a < 0)
        return fail(error, arena, sqlstate::kInvalidLogarithm, "cannot take logarithm of a negative number");
      result = Value::of_double(function == Function::kLn ? std::log(a) : std::log10(a));
      return true;
    case Function::kPower:
      return apply_power(a, arguments[1].as_double(), arena, result, error);
    default:
      CHECK(false && "a function on double precision");
      return false;
  }
}

}  // namespace

bool out_of_range(const Type& type, Arena& arena, SqlError& error) {
  if (type.kind == TypeKind::kNumeric) {
    return fail(error, arena, sqlstate::kOutOfRange, "value overflows numeric format");
  }
  return fail(error, arena, sqlstate::kOutOfRange, "{} out of range", type_name(type));
}

bool apply_arithmetic(Op op, const Type& type, const Value& a, const Value& b, Arena& arena, Value& result,
                      SqlError& error) {
  if (type.is_integer()) return apply_integer(op, type, a.as_int(), b.as_int(), arena, result, error);
  if (type.kind == TypeKind::kNumeric) {
    return apply_numeric(op, type, a.as_numeric(), b.as_numeric(), arena, result, error);
  }
  if (type.kind == TypeKind::kDecimal) return apply_decimal(op, a, b, arena, result, error);
  if (type.kind == TypeKind::kInterval) return apply_interval(op, a, b, arena, result, error);
  if (!apply_double(op, a.as_double(), b.as_double(), arena, result, error)) return false;
  // A double has twice a real's digits and more, so that rounding twice is rounding once.
  return type.kind != TypeKind::kReal || round_to_real(result.as_double(), arena, result, error);
}

bool round_to_real(double number, Arena& arena, Value& result, SqlError& error) {
  const auto rounded = static_cast<float>(number);
  if (std::isinf(rounded) && !std::isinf(number)) return overflowed(arena, error);
  if (rounded == 0 && number != 0) return underflowed(arena, error);
  result = Value::of_double(double{rounded});
  return true;
}

bool negate(const Type& type, const Value& a, Arena& arena, Value& result, SqlError& error) {
  if (type.is_floating()) {
    result = Value::of_double(-a.as_double());
    return true;
  }
  if (type.kind == TypeKind::kNumeric) {
    result = Value::of_numeric(-a.as_numeric());
    return true;
  }
  if (type.kind == TypeKind::kDecimal) {
    result = Value::of_decimal(-a.as_numeric(), a.digits());
    return true;
  }
  if (type.kind == TypeKind::kInterval) return negate_interval(a, arena, result, error);
  return apply_integer(Op::kSubtract, type, 0, a.as_int(), arena, result, error);
}

bool apply_number_function(Function function, const Type& source, const Type& type,
                           std::span<const Value> arguments, Arena& arena, Value& result, SqlError& error) {
  const Value& a = arguments[0];
  if (source.is_floating()) return apply_double_function(function, arguments, arena, result, error);
  if (function == Function::kChr) return character_of_code(a.as_int(), arena, result, error);
  if (function == Function::kToHex) {
    const auto bits = static_cast<uint64_t>(a.as_int());
    char digits[16];
    const bool is_narrow = source.kind != TypeKind::kBigInt;
    const char* const end =
        std::to_chars(digits, std::end(digits), is_narrow ? bits & UINT32_MAX : bits, 16).ptr;
    result = Value::of_text(arena.copy({digits, static_cast<size_t>(end - digits)}));
    return true;
  }
  const bool is_decimal = source.kind == TypeKind::kDecimal;
  const bool numeric = source.kind == TypeKind::kNumeric || is_decimal;
  const bool negative = numeric ? a.as_numeric() < 0 : a.as_int() < 0;
  switch (function) {
    case Function::kMod:
      return apply_arithmetic(Op::kModulo, type, a, arguments[1], arena, result, error);
    case Function::kAbs:
      if (negative) return negate(type, a, arena, result, error);
      result = a;
      return true;
    case Function::kSign: {
      CHECK(numeric);
      const int sign = a.as_numeric() > 0 ? 1 : negative ? -1 : 0;
      if (is_decimal) {
        result = Value::of_decimal(sign, 0);
        return true;
      }
      result = Value::of_numeric(sign * power_of_ten(type.scale));
      return true;
    }
    case Function::kFloor:
    case Function::kCeil:
    case Function::kRound:
    case Function::kTrunc: {
      CHECK(numeric);
      const int64_t digits = arguments.size() > 1 ? arguments[1].as_int() : 0;
      if (is_decimal) return round_decimal(function, a, digits, arena, result, error);
      return round_numeric(function, source, type, a.as_numeric(), digits, arena, result, error);
    }
    default:
      CHECK(false && "a function on numbers");
      return false;
  }
}

}  // namespace mneme
