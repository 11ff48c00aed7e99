#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace mneme {

namespace {

unsigned byte_at(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Returns the bytes of the valid sequence at the text's beginning, or 0.
size_t sequence_bytes(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size_t size = utf8_bytes(text[0]);
  if (text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if (!is_utf8_continuation(text[i])) return 0;
  }
  const unsigned second = byte_at(text, 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool too_high = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_high ? 0 : size;
}

uint64_t word_at(std::string_view text, size_t i) {
  uint64_t word;
  std::memcpy(&word, text.data() + i, sizeof word);
  return word;
}

// The bytes of the word that are not a character's first ones.
size_t continuations(uint64_t word) {
  return static_cast<size_t>(std::popcount(word & (~word << 1) & kHighBits));
}

}  // namespace

size_t invalid_utf8(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  size_t i = 0;
  while (i < text.size()) {
    // No byte of the word has its high bit set, nor gets it when one is taken from each: it is ASCII without
    // zeros.
    if (i + 8 <= text.size()) {
      const uint64_t word = word_at(text, i);
      if ((((word - kOnes) | word) & kHighBits) == 0) {
        i += 8;
        continue;
      }
    }
    const size_t size = sequence_bytes(text.substr(i));
    if (size == 0) return i;
    i += size;
  }
  return std::string_view::npos;
}

std::string invalid_utf8_message(std::string_view text, size_t at) {
  const unsigned first = byte_at(text, at);
  // PostgreSQL takes a byte that begins no sequence for one of its own.
  const size_t size = first >= 0xc0 && first < 0xf8 ? utf8_bytes(text[at]) : 1;
  std::string bytes;
  for (const char c : text.substr(at, size)) {
    fmt::format_to(std::back_inserter(bytes), " 0x{:02x}", static_cast<unsigned char>(c));
  }
  return "invalid byte sequence for encoding \"UTF8\":" + bytes;
}

size_t count_characters(std::string_view text) {
  size_t more = 0;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) more += continuations(word_at(text, i));
  for (; i < text.size(); ++i) more += is_utf8_continuation(text[i]) ? 1 : 0;
  return text.size() - more;
}

size_t offset_of_character(std::string_view text, size_t count) {
  size_t i = 0;
  while (count >= 8 && i + 8 <= text.size()) {
    count -= 8 - continuations(word_at(text, i));
    i += 8;
  }
  // The last word may have ended within a character.
  while (i < text.size() && is_utf8_continuation(text[i])) ++i;
  for (; count > 0 && i < text.size(); --count) i += utf8_bytes(text[i]);
  return std::min(i, text.size());
}

bool append_character(uint32_t code, std::string& text) {
  const auto append = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto append_rest = [&](unsigned shift) { append(0x80 | ((code >> shift) & 0x3f)); };
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  if (code < 0x80) {
    append(code);
  } else if (code < 0x800) {
    append(0xc0 | (code >> 6));
    append_rest(0);
  } else if (code < 0x10000) {
    append(0xe0 | (code >> 12));
    append_rest(6);
    append_rest(0);
  } else {
    append(0xf0 | (code >> 18));
    append_rest(12);
    append_rest(6);
    append_rest(0);
  }
  return true;
}

}  // namespace mneme
