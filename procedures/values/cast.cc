#include "procedures/values/cast.h"

#include <charconv>
#include <cmath>
#include <iterator>

#include "procedures/values/arithmetic.h"
#include "procedures/values/float_text.h"
#include "procedures/values/numeric.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

bool to_string(const Type& from, const Type& to, TooLong too_long, const Value& value, Arena& arena,
               Value& result, SqlError& error) {
  if (from.is_string()) return fit_string(to, too_long, value.as_text(), arena, result, error);
  if (from.kind == TypeKind::kBoolean) {
    return fit_string(to, too_long, value.as_bool() ? "true" : "false", arena, result, error);
  }
  fmt::memory_buffer buffer;
  print_value(from, value, buffer);
  return fit_string(to, too_long, arena.copy({buffer.data(), buffer.size()}), arena, result, error);
}

bool to_integer(const Type& from, const Type& to, const Value& value, Arena& arena, Value& result,
                SqlError& error) {
  int64_t number = value.as_int();
  if (from.kind == TypeKind::kNumeric) {
    const int128 rounded = divide_rounding(value.as_numeric(), from.scale);
    number = static_cast<int64_t>(rounded);
    if (number != rounded) return out_of_range(to, arena, error);
  } else if (from.kind == TypeKind::kDouble) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    const double rounded = std::rint(value.as_double());
    if (!(rounded >= -kLimit && rounded < kLimit)) return out_of_range(to, arena, error);
    number = static_cast<int64_t>(rounded);
  }
  if (!fits_integer(to.kind, number)) return out_of_range(to, arena, error);
  result = Value::of_int(number);
  return true;
}

bool double_to_numeric(const Type& to, double value, Arena& arena, Value& result, SqlError& error) {
  if (!std::isfinite(value)) {
    return fail(error, arena, sqlstate::kOutOfRange, "cannot convert NaN or infinity to numeric");
  }
  char text[40];
  // As printf's %.15g, but in no locale.
  const char* const end = std::to_chars(text, std::end(text), value, std::chars_format::general, 15).ptr;
  int128 number = 0;
  if (parse_numeric({text, static_cast<size_t>(end - text)}, to.scale, number) != NumericSyntax::kOk) {
    return fail(error, arena, sqlstate::kOutOfRange, "numeric field overflow");
  }
  return fit_numeric(to, number, arena, result, error);
}

bool to_numeric(const Type& from, const Type& to, const Value& value, Arena& arena, Value& result,
                SqlError& error) {
  if (from.kind == TypeKind::kDouble) return double_to_numeric(to, value.as_double(), arena, result, error);
  const bool exact = from.kind == TypeKind::kNumeric;
  int128 number = exact ? value.as_numeric() : int128{value.as_int()};
  if (!rescale(number, exact ? from.scale : 0, to.scale, number)) {
    return fail(error, arena, sqlstate::kOutOfRange, "numeric field overflow");
  }
  return fit_numeric(to, number, arena, result, error);
}

double numeric_to_double(const Type& from, const Value& value) {
  fmt::memory_buffer text;
  print_numeric(value.as_numeric(), from.scale, text);
  double number = 0;
  CHECK(parse_double({text.data(), text.size()}, number) == DoubleSyntax::kOk);
  return number;
}

}  // namespace

bool cast_value(const Type& from, const Type& to, TooLong too_long, const Value& value, Arena& arena,
                Value& result, SqlError& error) {
  if (to.is_string()) return to_string(from, to, too_long, value, arena, result, error);
  if (from.is_string()) return parse_value(to, value.as_text(), arena, result, error);
  if (to.is_integer()) return to_integer(from, to, value, arena, result, error);
  switch (to.kind) {
    case TypeKind::kNumeric:
      return to_numeric(from, to, value, arena, result, error);
    case TypeKind::kDouble:
      result = from.kind == TypeKind::kDouble    ? value
               : from.kind == TypeKind::kNumeric ? Value::of_double(numeric_to_double(from, value))
                                                 : Value::of_double(static_cast<double>(value.as_int()));
      return true;
    case TypeKind::kBoolean:
      result = Value::of_bool(value.as_int() != 0);
      return true;
    case TypeKind::kTimestamp:
      result = value;
      return true;
    default:
      CHECK(false && "a cast that SQL has");
      return false;
  }
}

}  // namespace mneme
