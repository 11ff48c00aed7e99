#include "workloads/tpcc/tpcc_random.h"

#include <cstdlib>

#include "base/check.h"

namespace mneme::tpcc {
namespace {

constexpr std::string_view kOriginal = "ORIGINAL";
constexpr std::array<std::string_view, 10> kSyllables = {"BAR", "OUGHT", "ABLE",  "PRI",   "PRES",
                                                         "ESE", "ANTI",  "CALLY", "ATION", "EING"};

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

LastName::LastName(int64_t number) {
  CHECK(number >= 0);
  CHECK(number < kMostLastNames);
  for (const int64_t syllable : {number / 100, number / 10 % 10, number % 10}) {
    const std::string_view text = kSyllables[static_cast<size_t>(syllable)];
    length_ += text.copy(text_.data() + length_, text.size());
  }
}

std::string_view data_with_original(Random& random, Arena& arena) {
  const auto length = static_cast<size_t>(random.uniform(26, 50));
  const std::span<char> text = random_characters(random, kAlphanumeric, length, arena);
  if (random.chance(10)) {
    const int64_t last = static_cast<int64_t>(length - kOriginal.size());
    kOriginal.copy(text.data() + random.uniform(0, last), kOriginal.size());
  }
  return {text.data(), text.size()};
}

std::string_view zip(Random& random, Arena& arena) {
  constexpr std::string_view kTail = "11111";
  const std::span<char> text = random_characters(random, kDigits, 4 + kTail.size(), arena);
  kTail.copy(text.data() + 4, kTail.size());
  return {text.data(), text.size()};
}

}  // namespace mneme::tpcc
