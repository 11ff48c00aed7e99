// Query functions of bytea, and of its encodings as text. A bytea is the text that it prints
// (engine/schema/text_form.h).
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "engine/schema/text_form.h"
#include "procedures/catalog/query_functions.h"
#include "procedures/values/text_forms.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

bool give_bytes(std::string_view bytes, Arena& arena, Value& result) {
  return give_text(bytea_of_bytes(bytes), arena, result);
}

bool bytea_concat(QueryArguments arguments, Arena& arena, Value& result, SqlError&) {
  std::string all(arguments[0].as_text());
  all += arguments[1].as_text().substr(2);
  return give_text(all, arena, result);
}

bool bytea_bits(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  result = Value::of_int(static_cast<int64_t>(bytea_size(arguments[0].as_text()) * 8));
  return true;
}

bool bytea_part(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const std::string bytes = bytes_of_bytea(arguments[0].as_text());
  const auto size = static_cast<int64_t>(bytes.size());
  const int64_t begin = arguments[1].as_int() - 1;
  int64_t end = size;
  if (arguments.size() > 2) {
    if (arguments[2].as_int() < 0)
      return fail(error, arena, sqlstate::kNegativeSubstring, "negative substring length not allowed");
    end = std::min(size, begin + arguments[2].as_int());
  }
  const int64_t first = std::max<int64_t>(begin, 0);
  return give_bytes(end > first ? std::string_view(bytes).substr(static_cast<size_t>(first),
                                                                 static_cast<size_t>(end - first))
                                : std::string_view(),
                    arena, result);
}

bool bytea_position(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  const std::string bytes = bytes_of_bytea(arguments[0].as_text());
  const size_t at = bytes.find(bytes_of_bytea(arguments[1].as_text()));
  result = Value::of_int(at == std::string::npos ? 0 : static_cast<int64_t>(at + 1));
  return true;
}

bool refuse_place(int64_t place, size_t size, Arena& arena, SqlError& error) {
  return fail(error, arena, "2202E", "index {} out of valid range, 0..{}", place,
              static_cast<int64_t>(size) - 1);
}

bool get_byte(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const std::string bytes = bytes_of_bytea(arguments[0].as_text());
  const int64_t place = arguments[1].as_int();
  if (place < 0 || place >= static_cast<int64_t>(bytes.size()))
    return refuse_place(place, bytes.size(), arena, error);
  result = Value::of_int(static_cast<unsigned char>(bytes[static_cast<size_t>(place)]));
  return true;
}

bool set_byte(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  std::string bytes = bytes_of_bytea(arguments[0].as_text());
  const int64_t place = arguments[1].as_int();
  if (place < 0 || place >= static_cast<int64_t>(bytes.size()))
    return refuse_place(place, bytes.size(), arena, error);
  bytes[static_cast<size_t>(place)] = static_cast<char>(arguments[2].as_int());
  return give_bytes(bytes, arena, result);
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// A line has 76 characters at most.
std::string in_base64(std::string_view bytes) {
  constexpr size_t kLine = 76;
  std::string text;
  size_t in_line = 0;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    if (in_line == kLine) {
      text += '\n';
      in_line = 0;
    }
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (size_t j = 0; j < 4; ++j) text += j <= count ? kBase64[group >> (18 - 6 * j) & 63] : '=';
    in_line += 4;
  }
  return text;
}

bool from_base64(std::string_view text, std::string& bytes, Arena& arena, SqlError& error) {
  uint32_t group = 0;
  size_t count = 0;
  size_t ends = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    const size_t digit = kBase64.find(c);
    if (c == '=') {
      ++ends;
    } else if (digit == kBase64.npos || ends > 0) {
      return fail(error, arena, sqlstate::kInvalidParameter,
                  "invalid symbol \"{}\" found while decoding base64 sequence", c);
    }
    group = group << 6 | (c == '=' ? 0 : static_cast<uint32_t>(digit));
    if (++count % 4 != 0) continue;
    for (size_t j = 0; j + std::min<size_t>(ends, 2) < 3; ++j)
      bytes += static_cast<char>(group >> (16 - 8 * j));
    group = 0;
  }
  if (count % 4 == 0 && ends <= 2) return true;
  (void)fail(error, arena, sqlstate::kInvalidParameter, "invalid base64 end sequence");
  error.hint = "Input data is missing padding, is truncated, or is otherwise corrupted.";
  return false;
}

std::string in_escapes(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c == '\0' || (c & '\x80') != 0) {
      text += fmt::format("\\{:03o}", static_cast<int>(static_cast<unsigned char>(c)));
    } else {
      text += c == '\\' ? "\\\\" : std::string(1, c);
    }
  }
  return text;
}

bool refuse_encoding(std::string_view name, Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kInvalidParameter, "unrecognized encoding: \"{}\"", name);
}

bool encode(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const std::string_view form = arguments[1].as_text();
  if (form == "hex") return give_text(arguments[0].as_text().substr(2), arena, result);
  const std::string bytes = bytes_of_bytea(arguments[0].as_text());
  if (form == "base64") return give_text(in_base64(bytes), arena, result);
  if (form == "escape") return give_text(in_escapes(bytes), arena, result);
  return refuse_encoding(form, arena, error);
}

bool decode(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const std::string_view form = arguments[1].as_text();
  std::string_view read;
  if (form == "hex") {
    const std::string text = "\\x" + std::string(arguments[0].as_text());
    return read_form(kByteaType, text, arena, read, error) && give_text(read, arena, result);
  }
  if (form == "escape") {
    // What begins with \x is no hexadecimal digits there.
    if (arguments[0].as_text().starts_with("\\x"))
      return fail(error, arena, sqlstate::kInvalidText, "invalid input syntax for type bytea");
    return read_form(kByteaType, arguments[0].as_text(), arena, read, error) &&
           give_text(read, arena, result);
  }
  if (form != "base64") return refuse_encoding(form, arena, error);
  std::string bytes;
  return from_base64(arguments[0].as_text(), bytes, arena, error) && give_bytes(bytes, arena, result);
}

bool is_utf8_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_') plain += static_cast<char>(c | 0x20);
  }
  return plain == "utf8" || plain == "unicode";
}

bool refuse_conversion(std::string_view encoding, Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kNotSupported, "the encoding \"{}\" is not supported; use UTF8",
              encoding);
}

bool convert_to(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (!is_utf8_name(arguments[1].as_text())) return refuse_conversion(arguments[1].as_text(), arena, error);
  return give_bytes(arguments[0].as_text(), arena, result);
}

bool convert_from(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (!is_utf8_name(arguments[1].as_text())) return refuse_conversion(arguments[1].as_text(), arena, error);
  const std::string bytes = bytes_of_bytea(arguments[0].as_text());
  return check_text(bytes, arena, error) && give_text(bytes, arena, result);
}

constexpr QueryFunction kBytesFunctions[] = {
    {"mneme_bytea_concat", 2, 2, {kByteaType, kByteaType}, kByteaType, bytea_concat},
    {"mneme_bytea_bits", 1, 1, {kByteaType}, types::kBigInt, bytea_bits},
    {"mneme_bytea_part", 2, 3, {kByteaType, types::kBigInt, types::kBigInt}, kByteaType, bytea_part},
    {"mneme_bytea_position", 2, 2, {kByteaType, kByteaType}, types::kBigInt, bytea_position},
    {"get_byte", 2, 2, {kByteaType, types::kBigInt}, Type{.kind = TypeKind::kInt}, get_byte},
    {"set_byte", 3, 3, {kByteaType, types::kBigInt, types::kBigInt}, kByteaType, set_byte},
    {"encode", 2, 2, {kByteaType, types::kText}, types::kText, encode},
    {"decode", 2, 2, {types::kText, types::kText}, kByteaType, decode},
    {"convert_to", 2, 2, {types::kText, types::kText}, kByteaType, convert_to},
    {"convert_from", 2, 2, {kByteaType, types::kText}, types::kText, convert_from},
};

}  // namespace

std::span<const QueryFunction> bytes_query_functions() {
  return kBytesFunctions;
}

}  // namespace mneme
