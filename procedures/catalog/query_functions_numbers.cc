// Query functions of numbers: of numeric's digits, buckets, and angles.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "procedures/catalog/query_functions.h"
#include "procedures/values/decimal.h"
#include "procedures/values/numeric.h"
#include "procedures/values/numeric_powers.h"

namespace mneme {

namespace {

constexpr const char* kInvalidBuckets = "2201G";

// ---- numeric ----

bool div_of(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Value rest;
  Value whole;
  return apply_decimal(ir::Op::kModulo, arguments[0], arguments[1], arena, rest, error) &&
         apply_decimal(ir::Op::kSubtract, arguments[0], rest, arena, whole, error) &&
         apply_decimal(ir::Op::kDivide, whole, arguments[1], arena, result, error) &&
         round_decimal(ir::Function::kTrunc, result, 0, arena, result, error);
}

bool scale_of_number(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  result = Value::of_int(arguments[0].digits());
  return true;
}

bool least_scale(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  result = Value::of_int(without_trailing_zeros(arguments[0]).digits());
  return true;
}

bool trim_scale(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  result = without_trailing_zeros(arguments[0]);
  return true;
}

bool factorial_of(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  constexpr int64_t kMost = 33;  // of 37 digits
  const int64_t number = arguments[0].as_int();
  if (number < 0)
    return fail(error, arena, sqlstate::kOutOfRange, "factorial of a negative number is undefined");
  if (number > kMost) {
    return fail(error, arena, sqlstate::kNotSupported,
                "factorial({}) is not supported: it has more than the {} digits of a numeric here", number,
                kMaxNumericPrecision);
  }
  int128 product = 1;
  for (int64_t each = 2; each <= number; ++each) product *= each;
  result = Value::of_decimal(product, 0);
  return true;
}

// The square root with at least 16 digits, and as many behind the point as the number has.
bool sqrt_of_numeric(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  constexpr int kLeastDigits = 16;
  constexpr size_t kMostDigits = 70;
  int128 number = arguments[0].as_numeric();
  if (number < 0)
    return fail(error, arena, sqlstate::kInvalidPower, "cannot take square root of a negative number");
  std::string digits;
  for (; number > 0; number /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
  // PostgreSQL counts in groups of four digits: how many stand before the point, less one.
  const int whole = static_cast<int>(digits.size()) - arguments[0].digits();
  const int weight = digits.empty() ? 0 : whole > 0 ? (whole + 3) / 4 - 1 : -(-whole / 4) - 1;
  const int scale = std::max({kLeastDigits - ((weight + 1) * 2 - 1), int{arguments[0].digits()}, 0});
  digits.append(static_cast<size_t>(2 * scale - int{arguments[0].digits()}), '0');
  if (digits.size() % 2 != 0) digits.insert(digits.begin(), '0');
  if (digits.size() > kMostDigits || scale > int{kMaxNumericPrecision}) {
    return fail(error, arena, sqlstate::kNotSupported,
                "the square root has more than the {} digits of a numeric here", kMaxNumericPrecision);
  }
  int128 root = 0;
  int128 rest = 0;
  for (size_t i = 0; i < digits.size(); i += 2) {
    rest = rest * 100 + (digits[i] - '0') * 10 + (digits[i + 1] - '0');
    int next = 9;
    while ((root * 20 + next) * next > rest) --next;
    rest -= (root * 20 + next) * next;
    root = root * 10 + next;
  }
  if (rest > root) ++root;
  result = Value::of_decimal(root, static_cast<uint8_t>(scale));
  return true;
}

bool exp_of_decimal(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  return exp_of_numeric(arguments[0], arena, result, error);
}
bool ln_of_decimal(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  return ln_of_numeric(arguments[0], arena, result, error);
}
bool log_of_decimal(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  return log_of_numeric(arguments[0], arguments[1], arena, result, error);
}
bool power_of_decimal(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  return power_of_numeric(arguments[0], arguments[1], arena, result, error);
}

// The divisor is that of the numbers without their point; 0 has no sign.
bool gcd_of_decimals(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Value one = arguments[0];
  Value other = arguments[1];
  const uint8_t digits = std::max(one.digits(), other.digits());
  while (other.as_numeric() != 0) {
    Value rest;
    if (!apply_decimal(ir::Op::kModulo, one, other, arena, rest, error)) return false;
    one = other;
    other = rest;
  }
  const Value zero = Value::of_decimal(0, digits);
  return apply_decimal(one.as_numeric() < 0 ? ir::Op::kSubtract : ir::Op::kAdd, zero, one, arena, result,
                       error);
}

bool lcm_of_decimals(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const Value zero = Value::of_decimal(0, std::max(arguments[0].digits(), arguments[1].digits()));
  if (arguments[0].as_numeric() == 0 || arguments[1].as_numeric() == 0) {
    result = zero;
    return true;
  }
  Value divisor;
  Value part[] = {{}, {}};
  if (!gcd_of_decimals(arguments, arena, divisor, error)) return false;
  part[0] = arguments[0];
  part[1] = divisor;
  Value product;
  if (!div_of(part, arena, product, error) ||
      !apply_decimal(ir::Op::kMultiply, product, arguments[1], arena, product, error))
    return false;
  return apply_decimal(product.as_numeric() < 0 ? ir::Op::kSubtract : ir::Op::kAdd, zero, product, arena,
                       result, error);
}

// ---- width_bucket(operand, low, high, count) ----

bool check_count(int64_t count, Arena& arena, SqlError& error) {
  return count > 0 || fail(error, arena, kInvalidBuckets, "count must be greater than zero");
}

bool give_bucket(int64_t bucket, Arena& arena, Value& result, SqlError& error) {
  if (bucket != static_cast<int32_t>(bucket))
    return fail(error, arena, sqlstate::kOutOfRange, "integer out of range");
  result = Value::of_int(bucket);
  return true;
}

bool bucket_of_double(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const double operand = arguments[0].as_double();
  const double low = arguments[1].as_double();
  const double high = arguments[2].as_double();
  const int64_t count = arguments[3].as_int();
  if (!check_count(count, arena, error)) return false;
  if (std::isnan(operand) || std::isnan(low) || std::isnan(high))
    return fail(error, arena, kInvalidBuckets, "operand, lower bound, and upper bound cannot be NaN");
  if (std::isinf(low) || std::isinf(high))
    return fail(error, arena, kInvalidBuckets, "lower and upper bounds must be finite");
  if (low == high) return fail(error, arena, kInvalidBuckets, "lower bound cannot equal upper bound");
  const bool falls = low > high;
  if (falls ? operand > low : operand < low) return give_bucket(0, arena, result, error);
  if (falls ? operand <= high : operand >= high) return give_bucket(count + 1, arena, result, error);
  const double part = falls ? (low - operand) / (low - high) : (operand - low) / (high - low);
  const auto bucket = std::min(static_cast<int64_t>(static_cast<double>(count) * part), count - 1) + 1;
  return give_bucket(bucket, arena, result, error);
}

bool bucket_of_numeric(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const int64_t count = arguments[3].as_int();
  if (!check_count(count, arena, error)) return false;
  const auto order = compare_decimals(arguments[1], arguments[2]);
  if (order == 0) return fail(error, arena, kInvalidBuckets, "lower bound cannot equal upper bound");
  const bool falls = order > 0;
  const auto below = compare_decimals(arguments[0], arguments[1]);
  const auto above = compare_decimals(arguments[0], arguments[2]);
  if (falls ? below > 0 : below < 0) return give_bucket(0, arena, result, error);
  if (falls ? above <= 0 : above >= 0) return give_bucket(count + 1, arena, result, error);
  Value offset;
  Value width;
  if (!apply_decimal(ir::Op::kSubtract, arguments[0], arguments[1], arena, offset, error) ||
      !apply_decimal(ir::Op::kSubtract, arguments[2], arguments[1], arena, width, error) ||
      !apply_decimal(ir::Op::kMultiply, offset, Value::of_decimal(count, 0), arena, offset, error))
    return false;
  const Value parts[] = {offset, width};
  Value whole;
  if (!div_of(parts, arena, whole, error)) return false;
  return give_bucket(static_cast<int64_t>(whole.as_numeric()) + 1, arena, result, error);
}

// ---- angles in degrees, exact where a multiple of 30 or 45 degrees is ----

constexpr double kRadiansPerDegree = std::numbers::pi / 180.0;

// The angle's sine, of 0 to 30 degrees, and its cosine, of 0 to 60.
double sine_of_few(double degrees) {
  static const double sine_of_30 = std::sin(30.0 * kRadiansPerDegree);
  return std::sin(degrees * kRadiansPerDegree) / sine_of_30 / 2.0;
}
double cosine_of_few(double degrees) {
  static const double rest_of_60 = 1.0 - std::cos(60.0 * kRadiansPerDegree);
  return 1.0 - (1.0 - std::cos(degrees * kRadiansPerDegree)) / rest_of_60 / 2.0;
}
// These two take 0 to 90 degrees.
double sine_of_quarter(double degrees) {
  return degrees <= 30.0 ? sine_of_few(degrees) : cosine_of_few(90.0 - degrees);
}
double cosine_of_quarter(double degrees) {
  return degrees <= 60.0 ? cosine_of_few(degrees) : sine_of_few(90.0 - degrees);
}

double sind_of(double degrees) {
  double rest = std::fmod(degrees, 360.0);
  double sign = 1;
  if (rest < 0) {
    rest = -rest;
    sign = -sign;
  }
  if (rest > 180.0) {
    rest = 360.0 - rest;
    sign = -sign;
  }
  if (rest > 90.0) rest = 180.0 - rest;
  return sign * sine_of_quarter(rest);
}

double cosd_of(double degrees) {
  double rest = std::abs(std::fmod(degrees, 360.0));
  double sign = 1;
  if (rest > 180.0) rest = 360.0 - rest;
  if (rest > 90.0) {
    rest = 180.0 - rest;
    sign = -sign;
  }
  return sign * cosine_of_quarter(rest);
}

// The tangent, or, turned, the cotangent.
double tangent_in_degrees(double degrees, bool is_turned) {
  double rest = std::fmod(degrees, 360.0);
  double sign = 1;
  if (rest < 0) {
    rest = -rest;
    sign = -sign;
  }
  if (rest > 180.0) {
    rest = 360.0 - rest;
    sign = -sign;
  }
  if (rest > 90.0) {
    rest = 180.0 - rest;
    sign = -sign;
  }
  const auto ratio = [&](double angle) {
    return is_turned ? cosine_of_quarter(angle) / sine_of_quarter(angle)
                     : sine_of_quarter(angle) / cosine_of_quarter(angle);
  };
  const double result = sign * (ratio(rest) / ratio(45.0));
  return result == 0 ? 0.0 : result;
}

double tand_of(double degrees) {
  return tangent_in_degrees(degrees, false);
}
double cotd_of(double degrees) {
  return tangent_in_degrees(degrees, true);
}

double asind_of_few(double number) {
  static const double arc_of_half = std::asin(0.5);
  return std::asin(number) / arc_of_half * 30.0;
}
double acosd_of_few(double number) {
  static const double arc_of_half = std::acos(0.5);
  return std::acos(number) / arc_of_half * 60.0;
}
double asind_of(double number) {
  const double magnitude = std::abs(number);
  const double arc = magnitude <= 0.5 ? asind_of_few(magnitude) : 90.0 - acosd_of_few(magnitude);
  return number < 0 ? -arc : arc;
}
double acosd_of(double number) {
  const double magnitude = std::abs(number);
  const double arc = magnitude <= 0.5 ? 90.0 - asind_of_few(magnitude) : acosd_of_few(magnitude);
  return number < 0 ? 180.0 - arc : arc;
}
double atand_of(double number) {
  static const double arc_of_one = std::atan(1.0);
  return std::atan(number) / arc_of_one * 45.0;
}
double cot_of(double number) {
  return 1.0 / std::tan(number);
}

// Functions whose results may be infinite.
template <double (*Function)(double)>
bool of_number(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const double argument = arguments[0].as_double();
  const double number = Function(argument);
  if (std::isnan(number) && !std::isnan(argument))
    return fail(error, arena, sqlstate::kOutOfRange, "input is out of range");
  result = Value::of_double(number);
  return true;
}

// sinh() and cosh() of a finite number overflow to an infinity, which PostgreSQL gives.
bool atanh_of(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const double number = arguments[0].as_double();
  if (number < -1.0 || number > 1.0)
    return fail(error, arena, sqlstate::kOutOfRange, "input is out of range");
  result = Value::of_double(std::atanh(number));
  return true;
}

bool atan2d_of(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  static const double arc_of_one = std::atan(1.0);
  result =
      Value::of_double(std::atan2(arguments[0].as_double(), arguments[1].as_double()) / arc_of_one * 45.0);
  return true;
}

// ---- bits ----

Value bits_and(QueryArguments arguments, Arena&) {
  return Value::of_int(arguments[0].as_int() & arguments[1].as_int());
}

Value bits_or(QueryArguments arguments, Arena&) {
  return Value::of_int(arguments[0].as_int() | arguments[1].as_int());
}

Value bits_xor(QueryArguments arguments, Arena&) {
  return Value::of_int(arguments[0].as_int() ^ arguments[1].as_int());
}

Value bits_not(QueryArguments arguments, Arena&) {
  return Value::of_int(~arguments[0].as_int());
}

// Shifts take the width of the left side as a third argument. As PostgreSQL's on the usual processors, they
// count modulo the width, that of an int for a smallint.
Value bits_left(QueryArguments arguments, Arena&) {
  const int64_t width = arguments[2].as_int();
  const auto by = static_cast<uint64_t>(arguments[1].as_int()) & (width == 64 ? 63 : 31);
  const uint64_t shifted = static_cast<uint64_t>(arguments[0].as_int()) << by;
  return Value::of_int(width == 64   ? static_cast<int64_t>(shifted)
                       : width == 32 ? int64_t{static_cast<int32_t>(shifted)}
                                     : int64_t{static_cast<int16_t>(shifted)});
}

Value bits_right(QueryArguments arguments, Arena&) {
  const auto by = static_cast<uint64_t>(arguments[1].as_int()) & (arguments[2].as_int() == 64 ? 63 : 31);
  return Value::of_int(arguments[0].as_int() >> by);
}

constexpr QueryFunction kNumberFunctions[] = {
    {"mneme_and", 2, 2, {types::kBigInt, types::kBigInt}, types::kBigInt, plain<bits_and>},
    {"mneme_or", 2, 2, {types::kBigInt, types::kBigInt}, types::kBigInt, plain<bits_or>},
    {"mneme_xor", 2, 2, {types::kBigInt, types::kBigInt}, types::kBigInt, plain<bits_xor>},
    {"mneme_not", 1, 1, {types::kBigInt}, types::kBigInt, plain<bits_not>},
    {"mneme_left", 3, 3, {types::kBigInt, types::kBigInt, types::kBigInt}, types::kBigInt, plain<bits_left>},
    {"mneme_right",
     3,
     3,
     {types::kBigInt, types::kBigInt, types::kBigInt},
     types::kBigInt,
     plain<bits_right>},
    {"div", 2, 2, {kDecimalType, kDecimalType}, kDecimalType, div_of},
    {"scale", 1, 1, {kDecimalType}, types::kInt, scale_of_number},
    {"min_scale", 1, 1, {kDecimalType}, types::kInt, least_scale},
    {"trim_scale", 1, 1, {kDecimalType}, kDecimalType, trim_scale},
    {"mneme_numeric_sqrt", 1, 1, {kDecimalType}, kDecimalType, sqrt_of_numeric},
    {"mneme_numeric_exp", 1, 1, {kDecimalType}, kDecimalType, exp_of_decimal},
    {"mneme_numeric_ln", 1, 1, {kDecimalType}, kDecimalType, ln_of_decimal},
    {"mneme_numeric_log", 2, 2, {kDecimalType, kDecimalType}, kDecimalType, log_of_decimal},
    {"mneme_numeric_power", 2, 2, {kDecimalType, kDecimalType}, kDecimalType, power_of_decimal},
    {"mneme_numeric_gcd", 2, 2, {kDecimalType, kDecimalType}, kDecimalType, gcd_of_decimals},
    {"mneme_numeric_lcm", 2, 2, {kDecimalType, kDecimalType}, kDecimalType, lcm_of_decimals},
    {"factorial", 1, 1, {types::kBigInt}, kDecimalType, factorial_of},
    {"width_bucket",
     4,
     4,
     {types::kDouble, types::kDouble, types::kDouble, types::kInt},
     types::kInt,
     bucket_of_double},
    {"mneme_numeric_bucket",
     4,
     4,
     {kDecimalType, kDecimalType, kDecimalType, types::kInt},
     types::kInt,
     bucket_of_numeric},
    {"sind", 1, 1, {types::kDouble}, types::kDouble, of_number<sind_of>},
    {"cosd", 1, 1, {types::kDouble}, types::kDouble, of_number<cosd_of>},
    {"tand", 1, 1, {types::kDouble}, types::kDouble, of_number<tand_of>},
    {"cotd", 1, 1, {types::kDouble}, types::kDouble, of_number<cotd_of>},
    {"asind", 1, 1, {types::kDouble}, types::kDouble, of_number<asind_of>},
    {"acosd", 1, 1, {types::kDouble}, types::kDouble, of_number<acosd_of>},
    {"atand", 1, 1, {types::kDouble}, types::kDouble, of_number<atand_of>},
    {"atan2d", 2, 2, {types::kDouble, types::kDouble}, types::kDouble, atan2d_of},
    {"cot", 1, 1, {types::kDouble}, types::kDouble, of_number<cot_of>},
    {"sinh", 1, 1, {types::kDouble}, types::kDouble, of_number<std::sinh>},
    {"cosh", 1, 1, {types::kDouble}, types::kDouble, of_number<std::cosh>},
    {"tanh", 1, 1, {types::kDouble}, types::kDouble, of_number<std::tanh>},
    {"asinh", 1, 1, {types::kDouble}, types::kDouble, of_number<std::asinh>},
    {"acosh", 1, 1, {types::kDouble}, types::kDouble, of_number<std::acosh>},
    {"atanh", 1, 1, {types::kDouble}, types::kDouble, atanh_of},
};

}  // namespace

std::span<const QueryFunction> number_query_functions() {
  return kNumberFunctions;
}

}  // namespace mneme
