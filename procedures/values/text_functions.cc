#include "procedures/values/text_functions.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "procedures/values/regular_expression.h"

namespace mneme {

namespace {

using ir::Function;

// Room for `bytes` characters; nullptr, with the error set, when that is too many.
char* room(size_t bytes, Arena& arena, SqlError& error) {
  if (bytes > kMaxTextBytes) {
    (void)fail(error, arena, sqlstate::kProgramLimit, "requested length too large");
    return nullptr;
  }
  return static_cast<char*>(arena.allocate(std::max<size_t>(bytes, 1)));  // nullptr has a meaning of its own
}

Value text_of(const char* data, size_t size) {
  return Value::of_text({data, size});
}

template <typename Change>
Value map_characters(std::string_view text, Arena& arena, Change change) {
  char* to = static_cast<char*>(arena.allocate(text.size()));
  std::transform(text.begin(), text.end(), to, change);
  return text_of(to, text.size());
}

char lower_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// The first `count` characters.
std::string_view first_characters(std::string_view text, int64_t count) {
  return text.substr(0, offset_of_character(text, static_cast<size_t>(count)));
}
std::string_view without_first_characters(std::string_view text, int64_t count) {
  return text.substr(offset_of_character(text, static_cast<size_t>(count)));
}
int64_t characters_of(std::string_view text) {
  return static_cast<int64_t>(count_characters(text));
}

// Characters count from 1; what lies before the first is empty, but counts.
bool substring(std::span<const Value> arguments, Arena& arena, Value& result, SqlError& error) {
  std::string_view text = arguments[0].as_text();
  const int64_t from = arguments[1].as_int();
  const int64_t begin = std::max<int64_t>(from, 1);
  int64_t count = static_cast<int64_t>(text.size());
  if (arguments.size() > 2) {
    const int64_t wanted = arguments[2].as_int();
    if (wanted < 0)
      return fail(error, arena, sqlstate::kNegativeSubstring, "negative substring length not allowed");
    count = from + wanted - begin;
  }
  text = count <= 0 ? std::string_view() : without_first_characters(text, begin - 1);
  result = Value::of_text(first_characters(text, std::max<int64_t>(count, 0)));
  return true;
}

// A negative count keeps all but so many characters.
std::string_view left(std::string_view text, int64_t count) {
  if (count < 0) count = std::max<int64_t>(0, characters_of(text) + count);
  return first_characters(text, count);
}
std::string_view right(std::string_view text, int64_t count) {
  if (count < 0) return without_first_characters(text, -count);
  return without_first_characters(text, std::max<int64_t>(0, characters_of(text) - count));
}

size_t begin_of_last_character(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && is_utf8_continuation(text[at])) --at;
  return at;
}

Value trim(std::span<const Value> arguments, bool front, bool back) {
  std::string_view text = arguments[0].as_text();
  const std::string_view characters = arguments.size() > 1 ? arguments[1].as_text() : " ";
  if (is_single_byte(characters)) {
    if (front) text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
    if (back) text = text.substr(0, text.find_last_not_of(characters) + 1);
    return Value::of_text(text);
  }
  // A character's bytes occur in valid text where the character does, and nowhere else.
  const auto is_trimmed = [&](std::string_view character) {
    return characters.find(character) != std::string_view::npos;
  };
  while (front && !text.empty() && is_trimmed(text.substr(0, utf8_bytes(text[0]))))
    text.remove_prefix(utf8_bytes(text[0]));
  while (back && !text.empty() && is_trimmed(text.substr(begin_of_last_character(text))))
    text = text.substr(0, begin_of_last_character(text));
  return Value::of_text(text);
}

bool pad(std::span<const Value> arguments, bool front, Arena& arena, Value& result, SqlError& error) {
  const std::string_view text = arguments[0].as_text();
  const auto width = static_cast<size_t>(std::max<int64_t>(0, arguments[1].as_int()));
  const std::string_view fill = arguments.size() > 2 ? arguments[2].as_text() : " ";
  const size_t characters = count_characters(text);
  if (width <= characters || fill.empty()) {
    result = Value::of_text(text.substr(0, offset_of_character(text, width)));
    return true;
  }
  const size_t in_fill = count_characters(fill);
  const size_t rest = offset_of_character(fill, (width - characters) % in_fill);
  const size_t padding = (width - characters) / in_fill * fill.size() + rest;
  char* to = room(padding + text.size(), arena, error);
  if (to == nullptr) return false;
  char* const padded = front ? to : to + text.size();
  for (size_t i = 0; i < padding; ++i) padded[i] = fill[i % fill.size()];
  std::copy(text.begin(), text.end(), front ? to + padding : to);
  result = text_of(to, padding + text.size());
  return true;
}

bool replace(std::span<const Value> arguments, Arena& arena, Value& result, SqlError& error) {
  const std::string_view text = arguments[0].as_text();
  const std::string_view from = arguments[1].as_text();
  const std::string_view by = arguments[2].as_text();
  size_t count = 0;
  if (!from.empty()) {
    for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, at + from.size()))
      ++count;
  }
  if (count == 0) {
    result = arguments[0];
    return true;
  }
  const size_t size = text.size() - count * from.size() + count * by.size();
  char* const to = room(size, arena, error);
  if (to == nullptr) return false;
  char* end = to;
  size_t done = 0;
  for (; count > 0; --count) {
    const size_t at = text.find(from, done);
    end = std::copy(text.begin() + done, text.begin() + at, end);
    end = std::copy(by.begin(), by.end(), end);
    done = at + from.size();
  }
  std::copy(text.begin() + done, text.end(), end);
  result = text_of(to, size);
  return true;
}

bool repeat(std::span<const Value> arguments, Arena& arena, Value& result, SqlError& error) {
  const std::string_view text = arguments[0].as_text();
  const auto count = static_cast<size_t>(std::max<int64_t>(0, arguments[1].as_int()));
  const size_t size = text.size() * count;
  char* const to = room(size, arena, error);
  if (to == nullptr) return false;
  for (size_t i = 0; i < count; ++i) std::copy(text.begin(), text.end(), to + i * text.size());
  result = text_of(to, size);
  return true;
}

// From 1; 0 where it does not occur; 1 for the empty string.
Value position(std::string_view text, std::string_view wanted) {
  const size_t at = text.find(wanted);
  return Value::of_int(at == std::string_view::npos ? 0 : characters_of(text.substr(0, at)) + 1);
}

Value reverse(std::string_view text, Arena& arena) {
  char* const to = static_cast<char*>(arena.allocate(text.size()));
  char* end = to;
  if (is_single_byte(text)) {
    std::reverse_copy(text.begin(), text.end(), to);
  } else {
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view last = rest.substr(begin_of_last_character(rest));
      end = std::copy(last.begin(), last.end(), end);
      rest.remove_suffix(last.size());
    }
  }
  return text_of(to, text.size());
}

// % is any text, _ any character, and what follows the escape character itself. Where a % was met, the last
// one takes a character more whenever what follows it does not fit. Other characters are compared by bytes.
bool like(std::string_view text, std::string_view pattern, std::string_view escape, Arena& arena,
          Value& result, SqlError& error) {
  if (escape.size() > 1 && count_characters(escape) > 1) {
    return fail(error, arena, sqlstate::kInvalidEscapeSequence, "invalid escape string");
  }
  size_t at = 0;
  size_t next = 0;
  size_t after_any = std::string_view::npos;  // in the pattern, behind its last %
  size_t taken = 0;                           // by that %: up to there in the text
  for (;;) {
    if (next < pattern.size() && pattern[next] == '%' && escape != "%") {
      after_any = ++next;
      taken = at;
      continue;
    }
    if (next == pattern.size()) {
      if (at == text.size()) break;
    } else if (at < text.size()) {
      const bool escaped = !escape.empty() && pattern.substr(next).starts_with(escape);
      const size_t wanted = escaped ? next + escape.size() : next;
      if (wanted == pattern.size()) {
        return fail(error, arena, sqlstate::kInvalidEscapeSequence,
                    "LIKE pattern must not end with escape character");
      }
      const bool is_any = pattern[wanted] == '_' && !escaped;
      if (is_any || pattern[wanted] == text[at]) {
        at += is_any ? utf8_bytes(text[at]) : 1;
        next = wanted + 1;
        continue;
      }
    }
    if (after_any == std::string_view::npos || taken == text.size()) {
      result = Value::of_bool(false);
      return true;
    }
    taken += utf8_bytes(text[taken]);
    at = taken;
    next = after_any;
  }
  result = Value::of_bool(true);
  return true;
}

// The collation C knows the letters of ASCII alone.
bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || lower_letter(c) != c || upper(c) != c;
}

// The first character's number.
uint32_t code_point_of(std::string_view text) {
  const size_t bytes = utf8_bytes(text[0]);
  uint32_t code = static_cast<unsigned char>(text[0]) & (bytes == 1 ? 0x7fu : 0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  return code;
}

// The part of that number between separators, from 1, or from -1 backwards.
bool split_part(std::span<const Value> arguments, Arena& arena, Value& result, SqlError& error) {
  std::string_view text = arguments[0].as_text();
  const std::string_view separator = arguments[1].as_text();
  int64_t number = arguments[2].as_int();
  if (number == 0) return fail(error, arena, sqlstate::kInvalidParameter, "field position must not be zero");
  result = Value::of_text("");
  if (text.empty()) return true;
  if (separator.empty()) {
    if (number == 1 || number == -1) result = Value::of_text(text);
    return true;
  }
  if (number < 0) {
    int64_t parts = 1;
    for (size_t at = text.find(separator); at != text.npos; at = text.find(separator, at + separator.size()))
      ++parts;
    number += parts + 1;
    if (number <= 0) return true;
  }
  for (; number > 1; --number) {
    const size_t at = text.find(separator);
    if (at == text.npos) return true;
    text.remove_prefix(at + separator.size());
  }
  result = Value::of_text(text.substr(0, text.find(separator)));
  return true;
}

bool translate(std::span<const Value> arguments, Arena& arena, Value& result, SqlError& error) {
  std::string_view text = arguments[0].as_text();
  const std::string_view from = arguments[1].as_text();
  const std::string_view to = arguments[2].as_text();
  // A replacement has four bytes at most.
  char* const begin = room(text.size() * 4, arena, error);
  if (begin == nullptr) return false;
  char* end = begin;
  while (!text.empty()) {
    std::string_view character = first_characters(text, 1);
    text.remove_prefix(character.size());
    if (const size_t at = from.find(character); at != from.npos) {
      const std::string_view rest = without_first_characters(to, characters_of(from.substr(0, at)));
      character = first_characters(rest, 1);
    }
    end = std::copy(character.begin(), character.end(), end);
  }
  result = text_of(begin, static_cast<size_t>(end - begin));
  return true;
}

}  // namespace

bool character_of_code(int64_t code, Arena& arena, Value& result, SqlError& error) {
  if (code == 0) return fail(error, arena, sqlstate::kProgramLimit, "null character not permitted");
  if (code < 0) return fail(error, arena, sqlstate::kInvalidParameter, "character number must be positive");
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  if (code > 0x10FFFF)
    return fail(error, arena, sqlstate::kProgramLimit, "requested character too large for encoding: {}",
                code);
  if (is_surrogate)
    return fail(error, arena, sqlstate::kProgramLimit, "requested character not valid for encoding: {}",
                code);
  std::string character;
  (void)append_character(static_cast<uint32_t>(code), character);
  result = Value::of_text(arena.copy(character));
  return true;
}

bool apply_text_function(Function function, std::span<const Value> arguments, Arena& arena, Value& result,
                         SqlError& error) {
  const std::string_view text = arguments[0].as_text();
  switch (function) {
    case Function::kLength:
      result = Value::of_int(characters_of(text));
      return true;
    case Function::kOctetLength:
      result = Value::of_int(static_cast<int64_t>(text.size()));
      return true;
    case Function::kBitLength:
      result = Value::of_int(static_cast<int64_t>(text.size()) * 8);
      return true;
    case Function::kLower:
      result = map_characters(text, arena, lower_letter);
      return true;
    case Function::kUpper:
      result = map_characters(text, arena, upper);
      return true;
    case Function::kSubstring:
      return substring(arguments, arena, result, error);
    case Function::kLeft:
      result = Value::of_text(left(text, arguments[1].as_int()));
      return true;
    case Function::kRight:
      result = Value::of_text(right(text, arguments[1].as_int()));
      return true;
    case Function::kTrim:
      result = trim(arguments, true, true);
      return true;
    case Function::kLtrim:
      result = trim(arguments, true, false);
      return true;
    case Function::kRtrim:
      result = trim(arguments, false, true);
      return true;
    case Function::kLpad:
      return pad(arguments, true, arena, result, error);
    case Function::kRpad:
      return pad(arguments, false, arena, result, error);
    case Function::kReplace:
      return replace(arguments, arena, result, error);
    case Function::kPosition:
      result = position(text, arguments[1].as_text());
      return true;
    case Function::kRepeat:
      return repeat(arguments, arena, result, error);
    case Function::kReverse:
      result = reverse(text, arena);
      return true;
    case Function::kInitcap: {
      bool in_word = false;
      result = map_characters(text, arena, [&](char c) {
        const char changed = in_word ? lower_letter(c) : upper(c);
        in_word = is_letter_or_digit(c);
        return changed;
      });
      return true;
    }
    case Function::kSplitPart:
      return split_part(arguments, arena, result, error);
    case Function::kTranslate:
      return translate(arguments, arena, result, error);
    case Function::kStartsWith:
      result = Value::of_bool(text.starts_with(arguments[1].as_text()));
      return true;
    case Function::kAscii:
      result = Value::of_int(text.empty() ? 0 : int64_t{code_point_of(text)});
      return true;
    case Function::kMatches:
      return matches(text, arguments[1].as_text(), !arguments[2].as_text().empty(), arena, result, error);
    case Function::kLike:
      return like(text, arguments[1].as_text(), arguments[2].as_text(), arena, result, error);
    default:
      CHECK(false && "a function on text");
      return false;
  }
}

bool concatenate(std::span<const std::string_view> parts, Arena& arena, Value& result, SqlError& error) {
  size_t size = 0;
  for (std::string_view part : parts) size += part.size();
  char* const to = room(size, arena, error);
  if (to == nullptr) return false;
  char* end = to;
  for (std::string_view part : parts) end = std::copy(part.begin(), part.end(), end);
  result = text_of(to, size);
  return true;
}

}  // namespace mneme
