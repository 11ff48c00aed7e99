#include "procedures/values/text_forms.h"

#include <fmt/format.h>

#include <random>

#include "base/ascii.h"
#include "base/check.h"
#include "procedures/values/json.h"

namespace mneme {

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

int digit_of(char c) {
  const size_t digit = kHexDigits.find(ascii_lower(c));
  return digit == kHexDigits.npos ? -1 : static_cast<int>(digit);
}

bool refuse_form(const char* type, std::string_view text, Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kInvalidText, "invalid input syntax for type {}: \"{}\"", type, text);
}

// 32 digits, with a hyphen behind any four of them, perhaps in braces.
bool read_uuid(std::string_view text, Arena& arena, std::string_view& read, SqlError& error) {
  std::string_view rest = text;
  const bool is_in_braces = rest.starts_with('{');
  if (is_in_braces) rest.remove_prefix(1);
  std::string uuid;
  for (size_t digits = 0; digits < 32; ++digits) {
    if (rest.empty() || digit_of(rest[0]) < 0) return refuse_form("uuid", text, arena, error);
    if (digits == 8 || digits == 12 || digits == 16 || digits == 20) uuid += '-';
    uuid += ascii_lower(rest[0]);
    rest.remove_prefix(1);
    if (digits % 4 == 3 && digits < 31 && rest.starts_with('-')) rest.remove_prefix(1);
  }
  if (is_in_braces && !rest.starts_with('}')) return refuse_form("uuid", text, arena, error);
  if (is_in_braces) rest.remove_prefix(1);
  if (!rest.empty()) return refuse_form("uuid", text, arena, error);
  read = uuid == text ? text : arena.copy(uuid);
  return true;
}

// Two digits a byte, with blanks between bytes.
bool read_hex(std::string_view text, Arena& arena, std::string_view& read, SqlError& error) {
  std::string bytea = "\\x";
  for (size_t i = 2; i < text.size(); ++i) {
    if (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') continue;
    for (size_t place = i; place < i + 2; ++place) {
      if (place == text.size()) {
        return fail(error, arena, sqlstate::kInvalidParameter,
                    "invalid hexadecimal data: odd number of digits");
      }
      if (digit_of(text[place]) < 0) {
        return fail(error, arena, sqlstate::kInvalidParameter, "invalid hexadecimal digit: \"{}\"",
                    text.substr(place, 1));
      }
      bytea += ascii_lower(text[place]);
    }
    ++i;
  }
  read = bytea == text ? text : arena.copy(bytea);
  return true;
}

bool is_octal(char c, char most) {
  return c >= '0' && c <= most;
}

// A backslash is before another one, or before three octal digits.
bool read_escaped(std::string_view text, Arena& arena, std::string_view& read, SqlError& error) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (text.substr(i + 1).starts_with('\\')) {
      bytes += '\\';
      ++i;
    } else if (i + 3 < text.size() && is_octal(text[i + 1], '3') && is_octal(text[i + 2], '7') &&
               is_octal(text[i + 3], '7')) {
      bytes += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      return fail(error, arena, sqlstate::kInvalidText, "invalid input syntax for type bytea");
    }
  }
  read = arena.copy(bytea_of_bytes(bytes));
  return true;
}

}  // namespace

bool read_form(const Type& type, std::string_view text, Arena& arena, std::string_view& read,
               SqlError& error) {
  switch (text_form(type)) {
    case TextForm::kUuid:
      return read_uuid(text, arena, read, error);
    case TextForm::kBytea:
      return text.starts_with("\\x") ? read_hex(text, arena, read, error)
                                     : read_escaped(text, arena, read, error);
    case TextForm::kJson: {
      Json json;
      read = text;
      return read_json(text, false, arena, json, error);
    }
    case TextForm::kJsonb: {
      Json json;
      if (!read_json(text, true, arena, json, error)) return false;
      const std::string printed = print_json(json);
      read = printed == text ? text : arena.copy(printed);
      return true;
    }
    default:
      CHECK(false && "a form that is read");
      return false;
  }
}

std::string bytes_of_bytea(std::string_view bytea) {
  std::string bytes;
  for (size_t i = 2; i + 1 < bytea.size(); i += 2)
    bytes += static_cast<char>(digit_of(bytea[i]) * 16 + digit_of(bytea[i + 1]));
  return bytes;
}

std::string bytea_of_bytes(std::string_view bytes) {
  std::string bytea = "\\x";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    bytea += kHexDigits[byte / 16];
    bytea += kHexDigits[byte % 16];
  }
  return bytea;
}

std::string bytes_of_uuid(std::string_view uuid) {
  std::string digits = "\\x";
  for (const char c : uuid) {
    if (c != '-') digits += c;
  }
  return bytes_of_bytea(digits);
}

std::string uuid_of_bytes(std::string_view bytes) {
  const std::string digits = bytea_of_bytes(bytes).substr(2);
  return fmt::format("{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4), digits.substr(12, 4),
                     digits.substr(16, 4), digits.substr(20));
}

std::string random_uuid() {
  thread_local std::mt19937_64 numbers{std::random_device{}()};
  const uint64_t high = (numbers() & 0xffffffffffff0fff) | 0x4000;
  const uint64_t low = (numbers() & 0x3fffffffffffffff) | 0x8000000000000000;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff,
                     low >> 48, low & 0xffffffffffff);
}

}  // namespace mneme
