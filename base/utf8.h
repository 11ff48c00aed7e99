// UTF-8: checks it, counts its characters and finds where they begin.
//
// A sequence is valid as PostgreSQL has it: the shortest that encodes its character, no surrogate, nothing
// above U+10FFFF. A zero byte is no character of a text.
// Invariants  all but invalid_utf8() take valid text, of which text of ASCII alone costs one scan, 8 bytes at
//             a time.
// Threads     any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mneme {

inline constexpr uint64_t kHighBits = 0x8080808080808080;

// Whether no byte has its high bit set: then a character is a byte.
inline bool is_single_byte(std::string_view text) {
  uint64_t found = 0;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    found |= word;
  }
  for (; i < text.size(); ++i) found |= static_cast<unsigned char>(text[i]);
  return (found & kHighBits) == 0;
}

// Whether the byte is not a character's first one.
constexpr bool is_utf8_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// The bytes that the character with this first byte has.
constexpr size_t utf8_bytes(char first) {
  const auto c = static_cast<unsigned char>(first);
  return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

// Returns where the first sequence that is not valid begins, or npos.
size_t invalid_utf8(std::string_view text);

// PostgreSQL's message for the invalid sequence that begins at `at`, with its bytes.
std::string invalid_utf8_message(std::string_view text, size_t at);

size_t count_characters(std::string_view text);

// Returns where the character with `count` ones before it begins: the text's size if it has no more.
size_t offset_of_character(std::string_view text, size_t count);

// Appends the character U+`code`. Returns false, appending nothing, if there is no such character.
[[nodiscard]] bool append_character(uint32_t code, std::string& text);

}  // namespace mneme
