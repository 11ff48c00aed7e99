#include "procedures/values/value_text.h"

#include <charconv>
#include <iterator>
#include <string>

#include "base/utf8.h"
#include "engine/schema/enum_types.h"
#include "procedures/times/interval.h"
#include "procedures/times/timestamp.h"
#include "procedures/values/array_form.h"
#include "procedures/values/float_text.h"
#include "procedures/values/numeric.h"
#include "procedures/values/text_forms.h"
#include "procedures/values/type_oids.h"

namespace mneme {

namespace {

// The characters for which isspace() is true in the C locale.
constexpr std::string_view kBlanks = " \t\n\v\f\r";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool invalid_text(const Type& type, std::string_view text, Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kInvalidText, "invalid input syntax for type {}: \"{}\"",
              type_name(type), text);
}

bool parse_integer(const Type& type, std::string_view text, Arena& arena, Value& value, SqlError& error) {
  std::string_view digits = trimmed(text);
  if (!digits.empty() && digits[0] == '+') {
    digits.remove_prefix(1);
    if (!digits.empty() && digits[0] == '-') return invalid_text(type, text, arena, error);
  }
  int64_t number = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  // PostgreSQL sees digits that are too many before it sees what is behind them. It counts downwards, where
  // there is one number more.
  const bool fits_downwards =
      fits_integer(type.kind, number) || (number > 0 && fits_integer(type.kind, -number));
  const bool is_too_large = code == std::errc::result_out_of_range || !fits_downwards;
  if (code == std::errc::invalid_argument || (!is_too_large && end != digits.data() + digits.size())) {
    return invalid_text(type, text, arena, error);
  }
  if (is_too_large || !fits_integer(type.kind, number)) {
    return fail(error, arena, sqlstate::kOutOfRange, "value \"{}\" is out of range for type {}", text,
                type_name(type));
  }
  value = Value::of_int(number);
  return true;
}

// PostgreSQL has a numeric NaN, and infinities that no precision holds.
bool not_a_numeric(const Type& type, std::string_view text, Arena& arena, SqlError& error) {
  std::string word(trimmed(text));
  for (char& c : word) c = lower_case(c);
  const bool is_nan = word == "nan";
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.erase(0, 1);
  if (!is_nan && word != "inf" && word != "infinity") return invalid_text(type, text, arena, error);
  if (!is_nan && type.precision != 0)
    return fail(error, arena, sqlstate::kOutOfRange, "numeric field overflow");
  return fail(error, arena, sqlstate::kNotSupported,
              "\"{}\" is not supported as a numeric, which holds digits alone", text);
}

// PostgreSQL takes any prefix of a truth value's name that names no other, in any case.
bool parse_boolean(const Type& type, std::string_view text, Arena& arena, Value& value, SqlError& error) {
  struct Name {
    std::string_view whole;
    size_t least;
    bool value;
  };
  static constexpr Name kNames[] = {{"true", 1, true}, {"yes", 1, true},    {"on", 2, true},
                                    {"1", 1, true},    {"false", 1, false}, {"no", 1, false},
                                    {"off", 2, false}, {"0", 1, false}};
  const std::string_view word = trimmed(text);
  for (const Name& name : kNames) {
    if (word.size() < name.least || word.size() > name.whole.size()) continue;
    size_t same = 0;
    while (same < word.size() && lower_case(word[same]) == name.whole[same]) ++same;
    if (same < word.size()) continue;
    value = Value::of_bool(name.value);
    return true;
  }
  return invalid_text(type, text, arena, error);
}

bool parse_string(const Type& type, std::string_view text, Arena& arena, Value& value, SqlError& error) {
  if (!check_text(text, arena, error)) return false;
  if (is_array_form(type)) return read_array_form(type, text, arena, value, error);
  if (has_read_form(type)) {
    std::string_view read;
    if (!read_form(type, text, arena, read, error)) return false;
    value = Value::of_text(read.data() == text.data() ? arena.copy(read) : read);
    return true;
  }
  return fit_string(type, TooLong::kCutBlanks, arena.copy(text), arena, value, error);
}

// A timestamp, a date or a time.
bool parse_time(const Type& type, std::string_view text, Arena& arena, Value& value, SqlError& error) {
  int64_t number = 0;
  const bool is_date = type.kind == TypeKind::kDate;
  const bool is_clock = type.kind == TypeKind::kTime;
  const auto parse = is_clock        ? parse_time_of_day
                     : is_date       ? parse_date
                     : type.is_zoned ? parse_moment
                                     : parse_timestamp;
  switch (parse(trimmed(text), number)) {
    case TimestampSyntax::kOk:
      value = is_date ? Value::of_int(number) : fit_timestamp(type, number);
      return true;
    case TimestampSyntax::kInvalid:
      return fail(error, arena, sqlstate::kInvalidDatetime, "invalid input syntax for type {}: \"{}\"",
                  type_name(type), text);
    case TimestampSyntax::kOutOfRange:
      return fail(error, arena, sqlstate::kDatetimeOverflow, "date/time field value out of range: \"{}\"",
                  text);
    case TimestampSyntax::kZoneOutOfRange:
      return fail(error, arena, sqlstate::kZoneOutOfRange, "time zone displacement out of range: \"{}\"",
                  text);
    case TimestampSyntax::kOtherForm:
      if (is_clock) {
        return fail(error, arena, sqlstate::kNotSupported,
                    "the time \"{}\" is not supported: write it as HH:MM:SS", text);
      }
      return fail(error, arena, sqlstate::kNotSupported,
                  "the {} \"{}\" is not supported: write it as YYYY-MM-DD{}, in the years 1 to 9999",
                  type_name(type), text, is_date ? "" : " HH:MM:SS");
  }
  CHECK(false && "no such syntax");
  return false;
}

bool parse_interval_value(const Type& type, std::string_view text, Arena& arena, Value& value,
                          SqlError& error) {
  Interval interval;
  switch (parse_interval(text, interval)) {
    case IntervalSyntax::kOk:
      value = fit_interval(type, interval);
      return true;
    case IntervalSyntax::kInvalid:
      return fail(error, arena, sqlstate::kInvalidDatetime, "invalid input syntax for type {}: \"{}\"",
                  type_name(type), text);
    case IntervalSyntax::kFieldOutOfRange:
      return fail(error, arena, sqlstate::kIntervalOverflow, "interval field value out of range: \"{}\"",
                  text);
    case IntervalSyntax::kOutOfRange:
      return fail(error, arena, sqlstate::kDatetimeOverflow, "interval out of range");
  }
  CHECK(false && "no such syntax");
  return false;
}

}  // namespace

std::string_view type_name(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return "boolean";
    case TypeKind::kSmallInt:
      return "smallint";
    case TypeKind::kInt:
      return "integer";
    case TypeKind::kBigInt:
      return "bigint";
    case TypeKind::kNumeric:
    case TypeKind::kDecimal:
      return "numeric";
    case TypeKind::kDouble:
      return "double precision";
    case TypeKind::kReal:
      return "real";
    case TypeKind::kDate:
      return "date";
    case TypeKind::kChar:
      return "character";
    case TypeKind::kVarchar:
      if (const char* name = form_name(type)) return name;
      if (is_record(type)) return "record";
      return type.is_text ? "text" : "character varying";
    case TypeKind::kTimestamp:
      return type.is_zoned ? "timestamp with time zone" : "timestamp";
    case TypeKind::kTime:
      return "time";
    case TypeKind::kInterval:
      return "interval";
    case TypeKind::kEnum:
      return enum_definition(type).shown;
    case TypeKind::kNull:
      break;
  }
  return "unknown";
}

bool check_text(std::string_view text, Arena& arena, SqlError& error) {
  const size_t bad = invalid_utf8(text);
  if (bad == std::string_view::npos) return true;
  return fail(error, arena, sqlstate::kNotInRepertoire, "{}", invalid_utf8_message(text, bad));
}

bool fit_string(const Type& type, TooLong too_long, std::string_view text, Arena& arena, Value& value,
                SqlError& error) {
  const size_t end =
      type.length != 0 && text.size() > type.length ? offset_of_character(text, type.length) : text.size();
  if (end < text.size()) {
    const bool only_blanks = text.find_first_not_of(' ', end) == std::string_view::npos;
    if (too_long == TooLong::kRefuse) {
      return fail(error, arena, sqlstate::kStringTooLong, "value too long for a parameter of type {}({})",
                  type_name(type), type.length);
    }
    if ((too_long == TooLong::kCutBlanks && !only_blanks)) {
      return fail(error, arena, sqlstate::kStringTooLong, "value too long for type {}({})", type_name(type),
                  type.length);
    }
    text = text.substr(0, end);
  }
  if (type.kind == TypeKind::kChar) text = text.substr(0, text.find_last_not_of(' ') + 1);
  value = Value::of_text(text);
  return true;
}

Value fit_timestamp(const Type& type, int64_t microseconds) {
  return Value::of_int(type.precision == 0 ? microseconds
                                           : round_timestamp(microseconds, type.precision - 1));
}

bool fit_numeric(const Type& type, int128 number, Arena& arena, Value& value, SqlError& error) {
  if (!fits_numeric(type, number)) {
    (void)fail(error, arena, sqlstate::kOutOfRange, "numeric field overflow");
    const int whole = type.precision - type.scale;
    if (type.precision != 0) {
      error.detail = arena.copy(
          fmt::format("A field with precision {}, scale {} must round to an absolute value less than {}{}.",
                      type.precision, type.scale, whole > 0 ? "10^" : "", whole > 0 ? whole : 1));
    }
    return false;
  }
  value = Value::of_numeric(number);
  return true;
}

void print_value(const Type& type, const Value& value, fmt::memory_buffer& out) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return out.push_back(value.as_bool() ? 't' : 'f');
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt: {
      const fmt::format_int digits(value.as_int());
      return out.append(digits.data(), digits.data() + digits.size());
    }
    case TypeKind::kNumeric:
      return print_numeric(value.as_numeric(), type.scale, out);
    case TypeKind::kDecimal:
      return print_numeric(value.as_numeric(), value.digits(), out);
    case TypeKind::kReal:
      return print_real(static_cast<float>(value.as_double()), out);
    case TypeKind::kDate:
      return print_date(value.as_int(), out);
    case TypeKind::kDouble:
      return print_double(value.as_double(), out);
    case TypeKind::kChar:
    case TypeKind::kVarchar: {
      const std::string_view text = value.as_text();
      out.append(text.data(), text.data() + text.size());
      if (type.kind != TypeKind::kChar) return;
      for (size_t i = count_characters(text); i < type.length; ++i) out.push_back(' ');
      return;
    }
    case TypeKind::kTimestamp:
      print_timestamp(value.as_int(), out);
      if (type.is_zoned) out.append(std::string_view("+00"));
      return;
    case TypeKind::kTime:
      return print_time_of_day(value.as_int(), out);
    case TypeKind::kInterval:
      return print_interval(interval_of(value), out);
    case TypeKind::kEnum: {
      const EnumLabel* const label = find_label(type, value.as_int());
      CHECK(label != nullptr);
      return out.append(label->text.data(), label->text.data() + label->text.size());
    }
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "only NULL has no type");
}

bool parse_value(const Type& type, std::string_view text, Arena& arena, Value& value, SqlError& error) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return parse_boolean(type, text, arena, value, error);
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      return parse_integer(type, text, arena, value, error);
    case TypeKind::kNumeric: {
      int128 number = 0;
      const NumericSyntax syntax = parse_numeric(trimmed(text), type.scale, number);
      if (syntax == NumericSyntax::kInvalid) return not_a_numeric(type, text, arena, error);
      if (syntax == NumericSyntax::kTooLarge) {
        return fail(error, arena, sqlstate::kOutOfRange, "numeric field overflow");
      }
      return fit_numeric(type, number, arena, value, error);
    }
    case TypeKind::kDecimal: {
      const uint8_t digits = digits_after_point(trimmed(text));
      const bool is_cut =
          written_digits_after_point(trimmed(text)) > digits && digits == kMaxNumericPrecision;
      int128 number = 0;
      const NumericSyntax syntax = parse_numeric(trimmed(text), digits, number);
      if (syntax == NumericSyntax::kInvalid) return not_a_numeric(type, text, arena, error);
      if (syntax == NumericSyntax::kTooLarge)
        return fail(error, arena, sqlstate::kOutOfRange, "value overflows numeric format");
      if (is_cut) {
        return fail(error, arena, sqlstate::kNotSupported,
                    "\"{}\" has more digits behind the point than the {} of a numeric here", text,
                    kMaxNumericPrecision);
      }
      value = Value::of_decimal(number, digits);
      return true;
    }
    case TypeKind::kReal: {
      float number = 0;
      const DoubleSyntax syntax = parse_real(trimmed(text), number);
      if (syntax == DoubleSyntax::kInvalid) return invalid_text(type, text, arena, error);
      if (syntax == DoubleSyntax::kOutOfRange)
        return fail(error, arena, sqlstate::kOutOfRange, "\"{}\" is out of range for type real", text);
      value = Value::of_double(double{number});
      return true;
    }
    case TypeKind::kDouble: {
      double number = 0;
      const DoubleSyntax syntax = parse_double(trimmed(text), number);
      if (syntax == DoubleSyntax::kInvalid) return invalid_text(type, text, arena, error);
      if (syntax == DoubleSyntax::kOutOfRange) {
        return fail(error, arena, sqlstate::kOutOfRange, "\"{}\" is out of range for type double precision",
                    text);
      }
      value = Value::of_double(number);
      return true;
    }
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return parse_string(type, text, arena, value, error);
    case TypeKind::kTimestamp:
    case TypeKind::kDate:
    case TypeKind::kTime:
      return parse_time(type, text, arena, value, error);
    case TypeKind::kInterval:
      return parse_interval_value(type, text, arena, value, error);
    case TypeKind::kEnum: {
      const EnumLabel* const label = find_label(type, text);
      if (label == nullptr) {
        return fail(error, arena, sqlstate::kInvalidText, "invalid input value for enum {}: \"{}\"",
                    type_name(type), text);
      }
      value = Value::of_int(label->position);
      return true;
    }
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "only NULL has no type");
  return false;
}

}  // namespace mneme
