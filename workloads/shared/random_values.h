// Random values that the transaction processing benchmarks have in common: NURand, which prefers some numbers
// to others (TPC-C 2.1.6, TATP), and strings.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/memory/arena.h"
#include "workloads/shared/random.h"

namespace mneme {

// Non-uniform over [low, high]. `a` is 2^k - 1: numbers with many ones among their low k bits are preferred;
// `c` shifts which those are.
int64_t nu_rand(Random& random, int64_t a, int64_t c, int64_t low, int64_t high);

inline constexpr std::string_view kAlphanumeric =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
inline constexpr std::string_view kDigits = kAlphanumeric.substr(0, 10);
inline constexpr std::string_view kLetters = kAlphanumeric.substr(10, 26);

// In `arena`.
std::span<char> random_characters(Random& random, std::string_view alphabet, size_t length, Arena& arena);

// Random letters and digits of a random length (TPC-C's a-string), digits (n-string), capital letters. In
// `arena`.
std::string_view alphanumeric(Random& random, int64_t min_length, int64_t max_length, Arena& arena);
std::string_view digits(Random& random, size_t length, Arena& arena);
std::string_view letters(Random& random, size_t length, Arena& arena);

}  // namespace mneme
