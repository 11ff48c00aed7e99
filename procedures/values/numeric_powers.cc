#include "procedures/values/numeric_powers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "procedures/values/decimal.h"
#include "procedures/values/long_number.h"
#include "procedures/values/numeric.h"

namespace mneme {

namespace {

constexpr int kLeastDigits = 16;
// PostgreSQL takes larger powers of e for an overflow, or for 0.
constexpr double kMostExponent = 6000;
constexpr double kDigitsPerExponent = 0.434294481903252;  // log10(e)

LongNumber long_of(const Value& value) {
  return {value.as_numeric(), value.digits()};
}

bool too_large(Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kOutOfRange, "value overflows numeric format");
}

bool give_rounded(const LongNumber& number, int digits, Arena& arena, Value& result, SqlError& error) {
  if (digits > int{kMaxNumericPrecision} || number.is_too_large()) return too_large(arena, error);
  const std::optional<int128> rounded = number.rounded(static_cast<unsigned>(digits));
  if (!rounded) return too_large(arena, error);
  result = Value::of_decimal(*rounded, static_cast<uint8_t>(digits));
  return true;
}

// The first digits of a number in base 10,000, which PostgreSQL's estimates look at.
struct Leading {
  int weight = 0;         // the place of the first one: 0 is that before the point
  int64_t first = 0;      // that digit
  int64_t next = 0;       // the one behind it
  bool has_more = false;  // others than 0 stand behind the first one
};

constexpr int kDigitsOfGroup = 4;  // decimal digits of one of base 10,000

// `place`: of decimal digits that are cut off at the end, or added.
int128 shifted(int128 number, int place) {
  return place >= 0 ? number / power_of_ten(static_cast<unsigned>(place))
                    : number * power_of_ten(static_cast<unsigned>(-place));
}

Leading leading_of(int128 number, int digits) {
  if (number < 0) number = -number;
  int count = 0;
  while (count < int{kMaxNumericPrecision} && power_of_ten(static_cast<unsigned>(count)) <= number) ++count;
  const int whole = count - digits;  // digits before the point
  Leading leading;
  leading.weight =
      whole > 0 ? (whole + kDigitsOfGroup - 1) / kDigitsOfGroup - 1 : -(-whole / kDigitsOfGroup) - 1;
  const int behind = digits + leading.weight * kDigitsOfGroup;
  leading.first = static_cast<int64_t>(shifted(number, behind));
  leading.has_more = behind > 0 && number % power_of_ten(static_cast<unsigned>(behind)) != 0;
  if (leading.has_more)
    leading.next = static_cast<int64_t>(shifted(number, behind - kDigitsOfGroup)) - leading.first * 10'000;
  return leading;
}

// PostgreSQL's estimate of how many digits the logarithm has before the point, less one.
int estimate_ln_weight(const Value& value) {
  const bool is_near_one = compare_decimals(value, Value::of_decimal(9, 1)) >= 0 &&
                           compare_decimals(value, Value::of_decimal(11, 1)) <= 0;
  if (is_near_one) {
    const int128 rest = value.as_numeric() - power_of_ten(value.digits());
    if (rest == 0) return 0;
    const Leading leading = leading_of(rest, value.digits());
    return leading.weight * kDigitsOfGroup + static_cast<int>(std::log10(static_cast<double>(leading.first)));
  }
  const Leading leading = leading_of(value.as_numeric(), value.digits());
  const int64_t digits = leading.has_more ? leading.first * 10'000 + leading.next : leading.first;
  const int weight = (leading.weight - (leading.has_more ? 1 : 0)) * kDigitsOfGroup;
  const double ln = std::log(static_cast<double>(digits)) + weight * std::numbers::ln10;
  return static_cast<int>(std::log10(std::abs(ln)));
}

int scale_for(int estimate, std::initializer_list<int> digits) {
  return std::max({kLeastDigits - estimate, std::max(digits), 0});
}

bool check_logarithm(const Value& value, Arena& arena, SqlError& error) {
  if (value.as_numeric() > 0) return true;
  if (value.as_numeric() == 0)
    return fail(error, arena, sqlstate::kInvalidLogarithm, "cannot take logarithm of zero");
  return fail(error, arena, sqlstate::kInvalidLogarithm, "cannot take logarithm of a negative number");
}

// e^exponent, whose magnitude decides how many digits are kept.
bool give_exp(const LongNumber& exponent, std::initializer_list<int> digits, bool is_odd, Arena& arena,
              Value& result, SqlError& error) {
  const double estimate = exponent.to_double();
  if (estimate > kMostExponent) return too_large(arena, error);
  const int weight = static_cast<int>(std::clamp(estimate * kDigitsPerExponent, -2000.0, 2000.0));
  const int scale = scale_for(weight, digits);
  if (scale > int{kMaxNumericPrecision} || weight > int{kMaxNumericPrecision}) return too_large(arena, error);
  const LongNumber power = exp_of(exponent);
  return give_rounded(is_odd ? -power : power, scale, arena, result, error);
}

}  // namespace

bool exp_of_numeric(const Value& value, Arena& arena, Value& result, SqlError& error) {
  return give_exp(long_of(value), {value.digits()}, false, arena, result, error);
}

bool ln_of_numeric(const Value& value, Arena& arena, Value& result, SqlError& error) {
  if (!check_logarithm(value, arena, error)) return false;
  const int scale = scale_for(estimate_ln_weight(value), {value.digits()});
  return give_rounded(ln_of(long_of(value)), scale, arena, result, error);
}

bool log_of_numeric(const Value& base, const Value& value, Arena& arena, Value& result, SqlError& error) {
  if (!check_logarithm(base, arena, error) || !check_logarithm(value, arena, error)) return false;
  const int weight = estimate_ln_weight(value) - estimate_ln_weight(base);
  const LongNumber divisor = ln_of(long_of(base));
  if (compare_decimals(base, Value::of_decimal(1, 0)) == 0)
    return fail(error, arena, sqlstate::kDivisionByZero, "division by zero");
  const LongNumber quotient = ln_of(long_of(value)) * divisor.reciprocal();
  return give_rounded(quotient, scale_for(weight, {base.digits(), value.digits()}), arena, result, error);
}

bool power_of_numeric(const Value& base, const Value& exponent, Arena& arena, Value& result,
                      SqlError& error) {
  const Value whole = without_trailing_zeros(exponent);
  const bool is_whole = whole.digits() == 0;
  if (base.as_numeric() == 0 && exponent.as_numeric() < 0)
    return fail(error, arena, sqlstate::kInvalidPower, "zero raised to a negative power is undefined");
  if (base.as_numeric() < 0 && !is_whole) {
    return fail(error, arena, sqlstate::kInvalidPower,
                "a negative number raised to a non-integer power yields a complex result");
  }
  const bool fits_int = is_whole && whole.as_numeric() >= std::numeric_limits<int32_t>::min() &&
                        whole.as_numeric() <= std::numeric_limits<int32_t>::max();
  if (fits_int) {
    const auto number = static_cast<int64_t>(whole.as_numeric());
    if (base.as_numeric() == 0 && number > 0)
      return give_rounded(LongNumber(), kLeastDigits, arena, result, error);
    return give_rounded(whole_power_of(long_of(base), number), std::max(kLeastDigits, int{base.digits()}),
                        arena, result, error);
  }
  if (base.as_numeric() == 0) return give_rounded(LongNumber(), kLeastDigits, arena, result, error);
  const bool is_negative = base.as_numeric() < 0;
  const Value magnitude = is_negative ? Value::of_decimal(-base.as_numeric(), base.digits()) : base;
  const LongNumber logarithm = ln_of(long_of(magnitude)) * long_of(exponent);
  return give_exp(logarithm, {base.digits(), exponent.digits()}, is_negative && whole.as_numeric() % 2 != 0,
                  arena, result, error);
}

}  // namespace mneme
