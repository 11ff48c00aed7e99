#include "workloads/tpcc_random.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace mneme::tpcc {
namespace {

constexpr std::string_view kAlphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = kAlphanumeric.substr(0, 10);
constexpr std::string_view kLetters = kAlphanumeric.substr(10, 26);
constexpr std::string_view kOriginal = "ORIGINAL";
constexpr std::array<std::string_view, 10> kSyllables = {"BAR", "OUGHT", "ABLE",  "PRI",   "PRES",
                                                         "ESE", "ANTI",  "CALLY", "ATION", "EING"};

char* random_characters(Random& random, std::string_view alphabet, size_t length, Arena& arena) {
  char* text = static_cast<char*>(arena.allocate(length));
  std::generate_n(text, length, [&] {
    return alphabet[static_cast<size_t>(random.uniform(0, static_cast<int64_t>(alphabet.size()) - 1))];
  });
  return text;
}

}  // namespace

NuRandConstants NuRandConstants::of_seed(uint64_t seed) {
  Random random({seed, /*purpose=*/0xc0});
  NuRandConstants constants;
  constants.last_name_load = random.uniform(0, kLastNameA);
  constants.customer = random.uniform(0, kCustomerA);
  constants.item = random.uniform(0, kItemA);
  int64_t delta;
  do {
    constants.last_name_run = random.uniform(0, kLastNameA);
    delta = std::abs(constants.last_name_run - constants.last_name_load);
  } while (delta < 65 || delta > 119 || delta == 96 || delta == 112);
  return constants;
}

int64_t nu_rand(Random& random, int64_t a, int64_t c, int64_t low, int64_t high) {
  const int64_t or_ed = random.uniform(0, a) | random.uniform(low, high);
  return (or_ed + c) % (high - low + 1) + low;
}

LastName::LastName(int64_t number) {
  CHECK(number >= 0);
  CHECK(number < kMostLastNames);
  for (const int64_t syllable : {number / 100, number / 10 % 10, number % 10}) {
    const std::string_view text = kSyllables[static_cast<size_t>(syllable)];
    length_ += text.copy(text_.data() + length_, text.size());
  }
}

std::string_view alphanumeric(Random& random, int64_t min_length, int64_t max_length, Arena& arena) {
  const auto length = static_cast<size_t>(random.uniform(min_length, max_length));
  return {random_characters(random, kAlphanumeric, length, arena), length};
}

std::string_view digits(Random& random, int64_t length, Arena& arena) {
  return {random_characters(random, kDigits, static_cast<size_t>(length), arena),
          static_cast<size_t>(length)};
}

std::string_view letters(Random& random, int64_t length, Arena& arena) {
  return {random_characters(random, kLetters, static_cast<size_t>(length), arena),
          static_cast<size_t>(length)};
}

std::string_view data_with_original(Random& random, Arena& arena) {
  const auto length = static_cast<size_t>(random.uniform(26, 50));
  char* text = random_characters(random, kAlphanumeric, length, arena);
  if (random.chance(10)) {
    const int64_t last = static_cast<int64_t>(length - kOriginal.size());
    kOriginal.copy(text + random.uniform(0, last), kOriginal.size());
  }
  return {text, length};
}

std::string_view zip(Random& random, Arena& arena) {
  constexpr std::string_view kTail = "11111";
  char* text = random_characters(random, kDigits, 4 + kTail.size(), arena);
  kTail.copy(text + 4, kTail.size());
  return {text, 4 + kTail.size()};
}

}  // namespace mneme::tpcc
