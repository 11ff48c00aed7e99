// TPC-C's random values against clauses 2.1.6 and 4.3.2: bounds, and the shape that NURand is there for.
#include "workloads/tpcc/tpcc_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

namespace mneme::tpcc {
namespace {

TEST(NuRand, StaysWithinItsBoundsAndReachesBoth) {
  struct Case {
    int64_t a, low, high;
  };
  for (const auto& [a, low, high] :
       {Case{255, 0, 999}, Case{1023, 1, 3000}, Case{8191, 1, 100'000}, Case{8191, 1, 7}}) {
    Random random({7});
    int64_t least = high, most = low;
    for (int i = 0; i < 2'000'000; ++i) {
      const int64_t value = nu_rand(random, a, /*c=*/123, low, high);
      least = std::min(least, value);
      most = std::max(most, value);
    }
    EXPECT_GE(least, low);
    EXPECT_LE(most, high);
    EXPECT_EQ(least, low) << "A = " << a;
    EXPECT_GE(most, high - high / 1000) << "A = " << a;
  }
}

// Each of the 8 low bits of the OR is 1 with probability 3/4, so low bits all ones are (3/2)^8 = 25 times as
// frequent as uniform numbers, and all zeros 2^8 times rarer.
TEST(NuRand, FavoursWhatItShould) {
  Random random({7});
  int ones = 0, zeros = 0;
  constexpr int kDraws = 1'000'000;
  for (int i = 0; i < kDraws; ++i) {
    const int64_t value = nu_rand(random, 255, 0, 0, 1023);
    ones += (value & 255) == 255;
    zeros += (value & 255) == 0;
  }
  EXPECT_NEAR(ones, kDraws * std::pow(0.75, 8), kDraws * 0.002);
  EXPECT_NEAR(zeros, kDraws * std::pow(0.25, 8), kDraws * 0.0001);
}

TEST(NuRand, ConstantsOfLoadAndRunDifferAsTheSpecificationWants) {
  std::set<int64_t> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const NuRandConstants constants = NuRandConstants::of_seed(seed);
    const int64_t delta = std::abs(constants.last_name_run - constants.last_name_load);
    EXPECT_GE(delta, 65);
    EXPECT_LE(delta, 119);
    EXPECT_NE(delta, 96);
    EXPECT_NE(delta, 112);
    EXPECT_LE(constants.last_name_load, 255);
    EXPECT_LE(constants.customer, 1023);
    EXPECT_LE(constants.item, 8191);
    seen.insert(constants.item);
  }
  EXPECT_GT(seen.size(), 150u);
}

TEST(LastName, IsMadeOfSyllables) {
  EXPECT_EQ(LastName(0).text(), "BARBARBAR");
  EXPECT_EQ(LastName(371).text(), "PRICALLYOUGHT");  // the specification's example
  EXPECT_EQ(LastName(999).text(), "EINGEINGEING");
  EXPECT_EQ(LastName(777).text().size(), kMaxLastNameBytes);
  std::set<std::string> names;
  for (int64_t number = 0; number < kMostLastNames; ++number) names.emplace(LastName(number).text());
  EXPECT_EQ(names.size(), static_cast<size_t>(kMostLastNames));
}

TEST(Strings, HaveTheirLengthsAndAlphabets) {
  Random random({7});
  Arena arena;
  size_t shortest = 99, longest = 0;
  for (int i = 0; i < 2'000; ++i) {
    const std::string_view text = alphanumeric(random, 14, 24, arena);
    shortest = std::min(shortest, text.size());
    longest = std::max(longest, text.size());
    EXPECT_TRUE(std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0; })) << text;
    EXPECT_TRUE(
        std::ranges::all_of(digits(random, 16, arena), [](unsigned char c) { return std::isdigit(c) != 0; }));
  }
  EXPECT_EQ(shortest, 14u);
  EXPECT_EQ(longest, 24u);
  const std::string_view code = zip(random, arena);
  EXPECT_EQ(code.size(), 9u);
  EXPECT_EQ(code.substr(4), "11111");
}

TEST(Strings, OneInTenIsOriginalAnywhereInside) {
  Random random({7});
  std::map<size_t, int> places;
  int originals = 0;
  for (int i = 0; i < 20'000; ++i) {
    Arena arena;
    const std::string_view text = data_with_original(random, arena);
    EXPECT_GE(text.size(), 26u);
    EXPECT_LE(text.size(), 50u);
    const size_t at = text.find("ORIGINAL");
    if (at == std::string_view::npos) continue;
    ++originals;
    ++places[at];
  }
  EXPECT_NEAR(originals, 2'000, 150);
  EXPECT_GT(places[0], 0);
  EXPECT_GT(places.size(), 35u);
}

}  // namespace
}  // namespace mneme::tpcc
