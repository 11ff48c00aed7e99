#include "procedures/values/cast.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "engine/schema/enum_types.h"
#include "engine/schema/text_form.h"
#include "procedures/times/interval.h"
#include "procedures/times/timestamp.h"
#include "procedures/values/arithmetic.h"
#include "procedures/values/array_form.h"
#include "procedures/values/decimal.h"
#include "procedures/values/float_text.h"
#include "procedures/values/numeric.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

bool to_string(const Type& from, const Type& to, TooLong too_long, const Value& value, Arena& arena,
               Value& result, SqlError& error) {
  if (is_array_form(to)) {
    if (!is_array_form(from)) return read_array_form(to, value.as_text(), arena, result, error);
    return cast_array_form(from, to, too_long, value.as_text(), arena, result, error);
  }
  if (has_read_form(to) && text_form(from) != text_form(to))
    return parse_value(to, value.as_text(), arena, result, error);
  if (from.is_string()) return fit_string(to, too_long, value.as_text(), arena, result, error);
  if (from.kind == TypeKind::kBoolean) {
    return fit_string(to, too_long, value.as_bool() ? "true" : "false", arena, result, error);
  }
  fmt::memory_buffer buffer;
  print_value(from, value, buffer);
  return fit_string(to, too_long, arena.copy({buffer.data(), buffer.size()}), arena, result, error);
}

// The digits after the point of an exact number.
unsigned scale_of(const Type& from, const Value& value) {
  return from.kind == TypeKind::kNumeric ? from.scale : from.kind == TypeKind::kDecimal ? value.digits() : 0;
}

int certain_digits(const Type& floating) {
  return floating.kind == TypeKind::kReal ? std::numeric_limits<float>::digits10
                                          : std::numeric_limits<double>::digits10;
}

bool to_integer(const Type& from, const Type& to, const Value& value, Arena& arena, Value& result,
                SqlError& error) {
  int64_t number = value.as_int();
  if (from.kind == TypeKind::kNumeric || from.kind == TypeKind::kDecimal) {
    const int128 rounded = divide_rounding(value.as_numeric(), scale_of(from, value));
    number = static_cast<int64_t>(rounded);
    if (number != rounded) return out_of_range(to, arena, error);
  } else if (from.is_floating()) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    const double rounded = std::rint(value.as_double());
    if (!(rounded >= -kLimit && rounded < kLimit)) return out_of_range(to, arena, error);
    number = static_cast<int64_t>(rounded);
  }
  if (!fits_integer(to.kind, number)) return out_of_range(to, arena, error);
  result = Value::of_int(number);
  return true;
}

// A double has 15 digits that are certain, and a real 6.
bool double_to_numeric(const Type& from, const Type& to, double value, Arena& arena, Value& result,
                       SqlError& error) {
  if (!std::isfinite(value)) {
    return fail(error, arena, sqlstate::kOutOfRange, "cannot convert NaN or infinity to numeric");
  }
  char text[40];
  // As printf's %.15g, but in no locale.
  const char* const end =
      std::to_chars(text, std::end(text), value, std::chars_format::general, certain_digits(from)).ptr;
  int128 number = 0;
  if (parse_numeric({text, static_cast<size_t>(end - text)}, to.scale, number) != NumericSyntax::kOk) {
    return fail(error, arena, sqlstate::kOutOfRange, "numeric field overflow");
  }
  return fit_numeric(to, number, arena, result, error);
}

// `is_whole`: a number whose digits at hand would be rounded is refused.
bool to_numeric(const Type& from, const Type& to, bool is_whole, const Value& value, Arena& arena,
                Value& result, SqlError& error) {
  if (from.is_floating()) return double_to_numeric(from, to, value.as_double(), arena, result, error);
  int128 number = from.is_integer() ? int128{value.as_int()} : value.as_numeric();
  const int128 given = number;
  if (!rescale(number, scale_of(from, value), to.scale, number)) {
    return fail(error, arena, sqlstate::kOutOfRange, "numeric field overflow");
  }
  int128 back = 0;
  if (is_whole && (!rescale(number, to.scale, scale_of(from, value), back) || back != given)) {
    return fail(error, arena, sqlstate::kOutOfRange,
                "value would be rounded for a parameter of type numeric({},{}); round it first", to.precision,
                to.scale);
  }
  return fit_numeric(to, number, arena, result, error);
}

bool to_decimal(const Type& from, const Value& value, Arena& arena, Value& result, SqlError& error) {
  if (from.is_floating()) {
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text), "{:.{}g}", value.as_double(), certain_digits(from));
    return parse_value(kDecimalType, {text.data(), text.size()}, arena, result, error);
  }
  result = Value::of_decimal(from.is_integer() ? int128{value.as_int()} : value.as_numeric(),
                             static_cast<uint8_t>(scale_of(from, value)));
  return true;
}

bool to_real(const Type& from, const Value& value, Arena& arena, Value& result, SqlError& error) {
  if (from.is_floating()) return round_to_real(value.as_double(), arena, result, error);
  if (from.is_integer()) {
    result = Value::of_double(double{static_cast<float>(value.as_int())});
    return true;
  }
  fmt::memory_buffer text;
  print_numeric(value.as_numeric(), scale_of(from, value), text);
  return parse_value(Type{.kind = TypeKind::kReal}, {text.data(), text.size()}, arena, result, error);
}

bool to_date(const Type& from, const Value& value, Arena& arena, Value& result, SqlError& error) {
  const int64_t number = value.as_int();
  if (from.kind == TypeKind::kTimestamp) {
    result = Value::of_int(date_of_timestamp(number));
    return true;
  }
  if (!is_date(number)) return fail(error, arena, sqlstate::kDatetimeOverflow, "date out of range");
  result = value;
  return true;
}

int64_t to_time_of_day(const Type& from, const Value& value) {
  if (from.kind == TypeKind::kTime) return value.as_int();
  return time_of_day(from.kind == TypeKind::kInterval ? interval_of(value).microseconds : value.as_int());
}

bool to_timestamp(const Type& from, const Type& to, const Value& value, Arena& arena, Value& result,
                  SqlError& error) {
  int64_t number = value.as_int();
  if (from.kind == TypeKind::kDate && !timestamp_of_date(value.as_int(), number))
    return fail(error, arena, sqlstate::kDatetimeOverflow, "date out of range for timestamp");
  result = fit_timestamp(to, number);
  return true;
}

double numeric_to_double(const Type& from, const Value& value) {
  fmt::memory_buffer text;
  print_numeric(value.as_numeric(), scale_of(from, value), text);
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
      return to_numeric(from, to, from.kind == TypeKind::kDecimal && too_long == TooLong::kRefuse, value,
                        arena, result, error);
    case TypeKind::kDouble:
      result = from.is_floating()  ? value
               : from.is_integer() ? Value::of_double(static_cast<double>(value.as_int()))
                                   : Value::of_double(numeric_to_double(from, value));
      return true;
    case TypeKind::kDecimal:
      return to_decimal(from, value, arena, result, error);
    case TypeKind::kBoolean:
      result = Value::of_bool(value.as_int() != 0);
      return true;
    case TypeKind::kReal:
      return to_real(from, value, arena, result, error);
    case TypeKind::kDate:
      return to_date(from, value, arena, result, error);
    case TypeKind::kInterval:
      result = fit_interval(
          to, from.kind == TypeKind::kTime ? Interval{0, 0, value.as_int()} : interval_of(value));
      return true;
    case TypeKind::kTime:
      result = fit_timestamp(to, to_time_of_day(from, value));
      return true;
    case TypeKind::kEnum:
      // Rows that are laid out anew: their type may be another definition of the same one, or another type.
      if (enum_definition(from).id != enum_definition(to).id)
        return parse_value(to, find_label(from, value.as_int())->text, arena, result, error);
      result = value;
      return true;
    case TypeKind::kTimestamp:
      return to_timestamp(from, to, value, arena, result, error);
    default:
      CHECK(false && "a cast that SQL has");
      return false;
  }
}

}  // namespace mneme
