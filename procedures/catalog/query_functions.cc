#include "procedures/catalog/query_functions.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <string>

#include "base/ascii.h"
#include "base/check.h"
#include "base/utf8.h"
#include "procedures/parser/written_names.h"
#include "procedures/values/array_text.h"
#include "procedures/values/text_forms.h"

namespace mneme {

namespace {

bool unistr(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const std::string_view text = arguments[0].as_text();
  std::string all;
  const auto invalid = [&] { return fail(error, arena, sqlstate::kSyntaxError, "invalid Unicode escape"); };
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      all.push_back(text[at]);
      continue;
    }
    std::string_view rest = text.substr(at + 1);
    if (rest.starts_with('\\')) {
      all.push_back('\\');
      ++at;
      continue;
    }
    size_t digits = 4;
    size_t mark = 0;
    if (rest.starts_with('+') || rest.starts_with('u') || rest.starts_with('U')) {
      digits = rest[0] == '+' ? 6 : rest[0] == 'u' ? 4 : 8;
      mark = 1;
    }
    if (rest.size() < mark + digits) return invalid();
    uint32_t code = 0;
    for (const char c : rest.substr(mark, digits)) {
      const char digit = ascii_lower(c);
      if (!is_ascii_digit(digit) && (digit < 'a' || digit > 'f')) return invalid();
      code = code * 16 + static_cast<uint32_t>(is_ascii_digit(digit) ? digit - '0' : digit - 'a' + 10);
    }
    if (!append_character(code, all))
      return fail(error, arena, sqlstate::kSyntaxError, "invalid Unicode code point: {:04X}", code);
    at += mark + digits;
  }
  return give_text(all, arena, result);
}

Value quoted_name(QueryArguments arguments, Arena& arena) {
  return Value::of_text(arena.copy(shown_name(arguments[0].as_text())));
}

// The text's MD5 digest, as 32 hexadecimal digits (RFC 1321).
bool md5_of_bytes(std::string message, Arena& arena, Value& result) {
  constexpr std::array<uint32_t, 16> kTurns = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
  const uint64_t bits = uint64_t{message.size()} * 8;
  message.push_back('\x80');
  while (message.size() % 64 != 56) message.push_back('\0');
  for (unsigned i = 0; i < 8; ++i) message.push_back(static_cast<char>(bits >> (8 * i)));
  std::array<uint32_t, 4> sum = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (size_t block = 0; block < message.size(); block += 64) {
    std::array<uint32_t, 16> words{};
    for (size_t i = 0; i < 64; ++i)
      words[i / 4] |= uint32_t{static_cast<unsigned char>(message[block + i])} << (8 * (i % 4));
    auto [a, b, c, d] = sum;
    for (uint32_t i = 0; i < 64; ++i) {
      const uint32_t round = i / 16;
      const uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                             : round == 1 ? (d & b) | (~d & c)
                             : round == 2 ? b ^ c ^ d
                                          : c ^ (b | ~d);
      const uint32_t word = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
      const auto sine = static_cast<uint32_t>(std::floor(std::abs(std::sin(double{1} + i)) * 0x1p32));
      const uint32_t all = a + mixed + sine + words[word % 16];
      a = d;
      d = c;
      c = b;
      b += std::rotl(all, static_cast<int>(kTurns[round * 4 + i % 4]));
    }
    sum[0] += a;
    sum[1] += b;
    sum[2] += c;
    sum[3] += d;
  }
  std::string digits;
  for (const uint32_t part : sum) {
    for (unsigned i = 0; i < 4; ++i) digits += fmt::format("{:02x}", (part >> (8 * i)) & 0xff);
  }
  return give_text(digits, arena, result);
}

bool md5_of(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  return md5_of_bytes(std::string(arguments[0].as_text()), arena, result);
}

bool md5_of_bytea(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  return md5_of_bytes(bytes_of_bytea(arguments[0].as_text()), arena, result);
}

std::string doubled(std::string_view text, char quote) {
  std::string all(1, quote);
  for (const char c : text) all += c == quote ? std::string(2, c) : std::string(1, c);
  return all + quote;
}

std::string literal_of(std::string_view text) {
  std::string quoted = doubled(text, '\'');
  if (text.find('\\') == text.npos) return quoted;
  std::string escaped = "E";
  for (const char c : quoted) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return escaped;
}

bool quote_literal(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  return give_text(literal_of(arguments[0].as_text()), arena, result);
}

bool quote_nullable(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  return give_text(arguments[0].is_null() ? "NULL" : literal_of(arguments[0].as_text()), arena, result);
}

class Formatter {
 public:
  Formatter(QueryArguments arguments, Arena& arena, SqlError& error)
      : written_(arguments[0].as_text()), values_(arguments.subspan(1)), arena_(arena), error_(error) {}

  bool write(std::string& text) {
    while (at_ < written_.size()) {
      if (written_[at_] != '%') {
        text.push_back(written_[at_++]);
      } else if (written_.substr(at_ + 1).starts_with('%')) {
        text.push_back('%');
        at_ += 2;
      } else if (++at_; !write_specifier(text)) {
        return false;
      }
    }
    return true;
  }

 private:
  std::optional<size_t> take_number() {
    size_t end = at_;
    size_t number = 0;
    while (end < written_.size() && is_ascii_digit(written_[end]) && number < 100'000'000)
      number = number * 10 + static_cast<size_t>(written_[end++] - '0');
    if (end == at_) return std::nullopt;
    at_ = end;
    return number;
  }
  bool refuse_end() {
    return fail(error_, arena_, sqlstate::kInvalidParameter, "unterminated format() type specifier");
  }

  bool write_specifier(std::string& text) {
    const size_t begin = at_;
    if (const std::optional<size_t> number = take_number()) {
      if (written_.substr(at_).starts_with('$')) {
        ++at_;
        if (*number == 0) {
          return fail(error_, arena_, sqlstate::kInvalidParameter,
                      "format specifies argument 0, but arguments are numbered from 1");
        }
        next_ = *number - 1;
      } else {
        at_ = begin;
      }
    }
    bool goes_left = false;
    while (written_.substr(at_).starts_with('-')) {
      goes_left = true;
      ++at_;
    }
    if (written_.substr(at_).starts_with('*'))
      return fail(error_, arena_, sqlstate::kNotSupported, "a width by * is not supported in format()");
    const size_t width = take_number().value_or(0);
    if (at_ >= written_.size()) return refuse_end();
    const char type = written_[at_++];
    if (type != 's' && type != 'I' && type != 'L') {
      return fail(error_, arena_, sqlstate::kInvalidParameter, "unrecognized format() type specifier \"{}\"",
                  type);
    }
    if (next_ >= values_.size())
      return fail(error_, arena_, sqlstate::kInvalidParameter, "too few arguments for format()");
    const Value& value = values_[next_++];
    std::string part;
    if (type == 'L') {
      part = value.is_null() ? "NULL" : literal_of(value.as_text());
    } else if (value.is_null() && type == 'I') {
      return fail(error_, arena_, sqlstate::kNullNotAllowed,
                  "null values cannot be formatted as an SQL identifier");
    } else if (!value.is_null()) {
      part = type == 'I' ? shown_name(value.as_text()) : std::string(value.as_text());
    }
    const size_t length = count_characters(part);
    const std::string blanks(width > length ? width - length : 0, ' ');
    text += goes_left ? part + blanks : blanks + part;
    return true;
  }

  const std::string_view written_;
  const QueryArguments values_;
  Arena& arena_;
  SqlError& error_;
  size_t at_ = 0;
  size_t next_ = 0;
};

bool format_text(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null()) return true;
  std::string text;
  return Formatter(arguments, arena, error).write(text) && give_text(text, arena, result);
}

bool concat_with(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  if (arguments[0].is_null()) return true;
  std::string text;
  bool is_first = true;
  for (const Value& part : arguments.subspan(1)) {
    if (part.is_null()) continue;
    if (!is_first) text += arguments[0].as_text();
    is_first = false;
    text += part.as_text();
  }
  return give_text(text, arena, result);
}

bool overlay(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const std::string_view text = arguments[0].as_text();
  const int64_t from = arguments[2].as_int();
  const int64_t count = arguments.size() > 3 ? arguments[3].as_int()
                                             : static_cast<int64_t>(count_characters(arguments[1].as_text()));
  if (from <= 0)
    return fail(error, arena, sqlstate::kNegativeSubstring, "negative substring length not allowed");
  const int64_t end = std::max<int64_t>(from + count, 1);
  std::string all(text.substr(0, offset_of_character(text, static_cast<size_t>(from - 1))));
  all += arguments[1].as_text();
  all += text.substr(offset_of_character(text, static_cast<size_t>(end - 1)));
  return give_text(all, arena, result);
}

bool count_nulls(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  int64_t count = 0;
  for (const Value& each : arguments) count += each.is_null() ? 1 : 0;
  result = Value::of_int(count);
  return true;
}

bool count_others(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (!count_nulls(arguments, arena, result, error)) return false;
  result = Value::of_int(static_cast<int64_t>(arguments.size()) - result.as_int());
  return true;
}

// ---- numbers ----

template <double (*Function)(double)>
bool of_double(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const double number = Function(arguments[0].as_double());
  if (std::isnan(number) && !std::isnan(arguments[0].as_double()))
    return fail(error, arena, sqlstate::kOutOfRange, "input is out of range");
  if (std::isinf(number) && !std::isinf(arguments[0].as_double()))
    return fail(error, arena, sqlstate::kOutOfRange, "value out of range: overflow");
  result = Value::of_double(number);
  return true;
}

double degrees_of(double radians) {
  return radians / (std::numbers::pi / 180.0);
}
double radians_of(double degrees) {
  return degrees * (std::numbers::pi / 180.0);
}

bool atan2_of(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  result = Value::of_double(std::atan2(arguments[0].as_double(), arguments[1].as_double()));
  return true;
}

bool pi_of(QueryArguments, Arena&, Value& result, SqlError&) {
  result = Value::of_double(std::numbers::pi);
  return true;
}

bool gcd_of(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const int64_t a = arguments[0].as_int();
  const int64_t b = arguments[1].as_int();
  if (a == kLeast || b == kLeast) return fail(error, arena, sqlstate::kOutOfRange, "bigint out of range");
  result = Value::of_int(std::gcd(a, b));
  return true;
}

bool lcm_of(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].as_int() == 0 || arguments[1].as_int() == 0) {
    result = Value::of_int(0);
    return true;
  }
  if (!gcd_of(arguments, arena, result, error)) return false;
  int64_t multiple = 0;
  if (__builtin_mul_overflow(arguments[0].as_int() / result.as_int(), arguments[1].as_int(), &multiple) ||
      multiple == std::numeric_limits<int64_t>::min())
    return fail(error, arena, sqlstate::kOutOfRange, "bigint out of range");
  result = Value::of_int(multiple < 0 ? -multiple : multiple);
  return true;
}

std::mt19937_64& generator() {
  thread_local std::mt19937_64 numbers{std::random_device{}()};
  return numbers;
}

bool random_number(QueryArguments, Arena&, Value& result, SqlError&) {
  constexpr double kSteps = 9007199254740992.0;  // 2^53
  result = Value::of_double(static_cast<double>(generator()() >> 11) / kSteps);
  return true;
}

bool draw_uuid(QueryArguments, Arena& arena, Value& result, SqlError&) {
  return give_text(random_uuid(), arena, result);
}

constexpr QueryFunction kTextFunctions[] = {
    {"unistr", 1, 1, {types::kText}, types::kText, unistr},
    {"md5", 1, 1, {types::kText}, types::kText, md5_of},
    {"quote_ident", 1, 1, {types::kText}, types::kText, plain<quoted_name>},
    {"mneme_bytea_md5", 1, 1, {kByteaType}, types::kText, md5_of_bytea},
    {"quote_literal", 1, 1, {types::kText}, types::kText, quote_literal},
    {"quote_nullable", 1, 1, {types::kText}, types::kText, quote_nullable, false},
    {"format",
     1,
     16,
     {types::kText, types::kText, types::kText, types::kText, types::kText, types::kText, types::kText,
      types::kText, types::kText, types::kText, types::kText, types::kText, types::kText, types::kText,
      types::kText, types::kText},
     types::kText,
     format_text,
     false},
    {"concat_ws",
     2,
     16,
     {types::kText, types::kText, types::kText, types::kText, types::kText, types::kText, types::kText,
      types::kText, types::kText, types::kText, types::kText, types::kText, types::kText, types::kText,
      types::kText, types::kText},
     types::kText,
     concat_with,
     false},
    {"num_nulls",
     1,
     16,
     {types::kText, types::kText, types::kText, types::kText, types::kText, types::kText, types::kText,
      types::kText, types::kText, types::kText, types::kText, types::kText, types::kText, types::kText,
      types::kText, types::kText},
     types::kInt,
     count_nulls,
     false},
    {"num_nonnulls",
     1,
     16,
     {types::kText, types::kText, types::kText, types::kText, types::kText, types::kText, types::kText,
      types::kText, types::kText, types::kText, types::kText, types::kText, types::kText, types::kText,
      types::kText, types::kText},
     types::kInt,
     count_others,
     false},
    {"overlay", 3, 4, {types::kText, types::kText, types::kInt, types::kInt}, types::kText, overlay},
    {"cbrt", 1, 1, {types::kDouble}, types::kDouble, of_double<std::cbrt>},
    {"degrees", 1, 1, {types::kDouble}, types::kDouble, of_double<degrees_of>},
    {"radians", 1, 1, {types::kDouble}, types::kDouble, of_double<radians_of>},
    {"sin", 1, 1, {types::kDouble}, types::kDouble, of_double<std::sin>},
    {"cos", 1, 1, {types::kDouble}, types::kDouble, of_double<std::cos>},
    {"tan", 1, 1, {types::kDouble}, types::kDouble, of_double<std::tan>},
    {"asin", 1, 1, {types::kDouble}, types::kDouble, of_double<std::asin>},
    {"acos", 1, 1, {types::kDouble}, types::kDouble, of_double<std::acos>},
    {"atan", 1, 1, {types::kDouble}, types::kDouble, of_double<std::atan>},
    {"atan2", 2, 2, {types::kDouble, types::kDouble}, types::kDouble, atan2_of},
    {"pi", 0, 0, {}, types::kDouble, pi_of},
    {"gcd", 2, 2, {types::kBigInt, types::kBigInt}, types::kBigInt, gcd_of},
    {"lcm", 2, 2, {types::kBigInt, types::kBigInt}, types::kBigInt, lcm_of},
    {"random", 0, 0, {}, types::kDouble, random_number, true, std::nullopt, false, true},
    {"gen_random_uuid", 0, 0, {}, kUuidType, draw_uuid, true, std::nullopt, false, true},
};

}  // namespace

std::span<const QueryFunction> text_query_functions() {
  return kTextFunctions;
}

static std::array<std::span<const QueryFunction>, 8> all_query_functions() {
  return {text_query_functions(),   pattern_query_functions(), array_query_functions(),
          format_query_functions(), time_query_functions(),    number_query_functions(),
          json_query_functions(),   bytes_query_functions()};
}

size_t count_query_functions() {
  size_t count = 0;
  for (const auto functions : all_query_functions()) count += functions.size();
  return count;
}

const QueryFunction& query_function(size_t number) {
  for (const auto functions : all_query_functions()) {
    if (number < functions.size()) return functions[number];
    number -= functions.size();
  }
  CHECK(false && "there are fewer query functions");
  return text_query_functions()[0];
}

}  // namespace mneme
