// Goal: exactly the texts that PostgreSQL takes for UTF-8 are valid, and characters are counted and found as
// they are one by one.
// Method: all sequences of one to three bytes, and those of four around each bound, against the ranges of
// Unicode's table 3-7; random texts against a count by first bytes.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/testing/test_effort.h"

namespace mneme {
namespace {

std::string bytes(std::initializer_list<unsigned> each) {
  std::string text;
  for (const unsigned byte : each) text.push_back(static_cast<char>(byte));
  return text;
}

bool within(unsigned byte, unsigned low, unsigned high) {
  return byte >= low && byte <= high;
}

// Unicode's table 3-7, a row a line.
bool is_well_formed(const std::string& text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](size_t from) {
    for (size_t i = from; i < text.size(); ++i) {
      if (!within(at(i), 0x80, 0xbf)) return false;
    }
    return true;
  };
  switch (text.size()) {
    case 1:
      return within(at(0), 0x01, 0x7f);
    case 2:
      return within(at(0), 0xc2, 0xdf) && tail(1);
    case 3:
      return tail(2) && ((at(0) == 0xe0 && within(at(1), 0xa0, 0xbf)) ||
                         (within(at(0), 0xe1, 0xec) && within(at(1), 0x80, 0xbf)) ||
                         (at(0) == 0xed && within(at(1), 0x80, 0x9f)) ||
                         (within(at(0), 0xee, 0xef) && within(at(1), 0x80, 0xbf)));
    case 4:
      return tail(2) && ((at(0) == 0xf0 && within(at(1), 0x90, 0xbf)) ||
                         (within(at(0), 0xf1, 0xf3) && within(at(1), 0x80, 0xbf)) ||
                         (at(0) == 0xf4 && within(at(1), 0x80, 0x8f)));
    default:
      return false;
  }
}

// Whether the bytes are one character, or several.
bool is_made_of_characters(const std::string& text) {
  if (text.empty()) return true;
  for (size_t size = 1; size <= std::min<size_t>(4, text.size()); ++size) {
    if (is_well_formed(text.substr(0, size)) && is_made_of_characters(text.substr(size))) return true;
  }
  return false;
}

void expect_judged(const std::string& text) {
  const bool is_valid = invalid_utf8(text) == std::string::npos;
  ASSERT_EQ(is_valid, is_made_of_characters(text)) << testing::PrintToString(text);
}

constexpr unsigned kStep = step_if_sanitized(5);

TEST(Utf8, JudgesEverySequenceOfUpToThreeBytes) {
  for (unsigned a = 0; a < 256; ++a) {
    expect_judged(bytes({a}));
    for (unsigned b = 0; b < 256; ++b) expect_judged(bytes({a, b}));
  }
  for (unsigned a = 0xc0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      for (unsigned c = (a + b) % kStep; c < 256; c += kStep) expect_judged(bytes({a, b, c}));
    }
  }
}

TEST(Utf8, JudgesSequencesOfFourBytesAtEachBound) {
  const std::vector<unsigned> edges = {0x00, 0x01, 0x7f, 0x80, 0x81, 0x8f, 0x90, 0x9f, 0xa0, 0xbe,
                                       0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xff};
  for (unsigned a = 0xe0; a < 256; ++a) {
    for (unsigned b = a % kStep; b < 256; b += kStep) {
      for (const unsigned c : edges) {
        for (const unsigned d : edges) expect_judged(bytes({a, b, c, d}));
      }
    }
  }
}

TEST(Utf8, FindsWhereAnInvalidSequenceBeginsWhateverIsAround) {
  const std::vector<std::string> wrong = {bytes({0x00}),
                                          bytes({0x80}),
                                          bytes({0xff}),
                                          bytes({0xc0, 0x80}),
                                          bytes({0xed, 0xa0, 0x80}),
                                          bytes({0xf4, 0x90, 0x80, 0x80}),
                                          bytes({0xc3, 0x28}),
                                          bytes({0xe2, 0x82}),
                                          bytes({0xf8, 0x88, 0x80, 0x80, 0x80})};
  for (size_t before = 0; before < 20; ++before) {
    for (const std::string& each : wrong) {
      for (const std::string& filling :
           {std::string("a"), std::string("\u00e9"), std::string("\U0001F600")}) {
        std::string text;
        for (size_t i = 0; i < before; ++i) text += filling;
        EXPECT_EQ(invalid_utf8(text), text.npos);
        EXPECT_EQ(invalid_utf8(text + each), text.size());
        EXPECT_EQ(invalid_utf8(text + each + "aaaaaaaaa"), text.size());
      }
    }
  }
}

TEST(Utf8, NamesTheBytesAsPostgresDoes) {
  const std::string begin = "invalid byte sequence for encoding \"UTF8\":";
  EXPECT_EQ(invalid_utf8_message("a\xc3(b", 1), begin + " 0xc3 0x28");
  EXPECT_EQ(invalid_utf8_message("\xc3", 0), begin + " 0xc3");
  EXPECT_EQ(invalid_utf8_message("\xed\xa0\x80", 0), begin + " 0xed 0xa0 0x80");
  EXPECT_EQ(invalid_utf8_message("\x80zz", 0), begin + " 0x80");
  EXPECT_EQ(invalid_utf8_message(std::string_view("\0z", 2), 0), begin + " 0x00");
}

TEST(Utf8, EveryCharacterIsAppendedAsOneAndNothingElseIs) {
  for (uint32_t code = 0; code < 0x110100; ++code) {
    std::string text = "a";
    const bool is_character = code != 0 && code < 0x110000 && (code < 0xd800 || code > 0xdfff);
    ASSERT_EQ(append_character(code, text), is_character) << code;
    if (!is_character) {
      ASSERT_EQ(text, "a");
      continue;
    }
    ASSERT_TRUE(is_well_formed(text.substr(1))) << code;
    ASSERT_EQ(utf8_bytes(text[1]), text.size() - 1) << code;
    ASSERT_EQ(count_characters(text), 2u) << code;
  }
  std::string text;
  ASSERT_TRUE(append_character(0x20ac, text));
  EXPECT_EQ(text, "\u20ac");
}

TEST(Utf8, CountsAndFindsCharactersAtEveryPlace) {
  std::mt19937 random(7);
  const std::vector<std::string> characters = {"a", "b", "\u00e9", "\u20ac", "\U0001F600"};
  for (int round = 0; round < 3000; ++round) {
    std::vector<size_t> begins;
    std::string text;
    const size_t kinds = 1 + random() % characters.size();
    for (size_t i = random() % 40; i > 0; --i) {
      begins.push_back(text.size());
      text += characters[random() % kinds];
    }
    ASSERT_EQ(invalid_utf8(text), text.npos);
    ASSERT_EQ(count_characters(text), begins.size());
    ASSERT_EQ(is_single_byte(text), begins.size() == text.size());
    for (size_t i = 0; i < begins.size() + 3; ++i)
      ASSERT_EQ(offset_of_character(text, i), i < begins.size() ? begins[i] : text.size())
          << text << " " << i;
    ASSERT_EQ(offset_of_character(text, std::string::npos), text.size());
  }
}

}  // namespace
}  // namespace mneme
