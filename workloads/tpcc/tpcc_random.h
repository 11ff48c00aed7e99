// TPC-C's random values: NURand's constants, last names, item data, zip codes (clauses 2.1.6, 4.3.2).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/memory/arena.h"
#include "workloads/shared/random_values.h"
#include "workloads/tpcc/tpcc_schema.h"

namespace mneme::tpcc {

// The constants C of NURand, one a use (2.1.6). Customers' last names have one for the population and one for
// the run, whose difference is bound by 2.1.6.1.
struct NuRandConstants {
  int64_t last_name_load;
  int64_t last_name_run;
  int64_t customer;
  int64_t item;

  static NuRandConstants of_seed(uint64_t seed);
};

inline constexpr int64_t kLastNameA = 255;
inline constexpr int64_t kCustomerA = 1023;
inline constexpr int64_t kItemA = 8191;

inline constexpr size_t kMaxLastNameBytes = 15;

// The last name of a number below kMostLastNames: a syllable for each of its digits.
class LastName {
 public:
  explicit LastName(int64_t number);
  std::string_view text() const { return {text_.data(), length_}; }

 private:
  std::array<char, kMaxLastNameBytes> text_;
  size_t length_ = 0;
};

// I_DATA and S_DATA: 26 to 50 characters, in one of ten with ORIGINAL at a random place.
std::string_view data_with_original(Random& random, Arena& arena);
// A zip code: four random digits, then 11111 (4.3.2.7).
std::string_view zip(Random& random, Arena& arena);

}  // namespace mneme::tpcc
