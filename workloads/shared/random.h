// Random: a small, fast generator whose numbers are the same on every machine and compiler.
//
// The state is one word, so a generator may be made afresh for each call or part of a population, from
// whatever identifies it: call number n of a stream does not depend on the calls before it, and a population
// does not depend on how many threads make it. std:: distributions are not used: their results differ between
// libraries.
//
// Source      SplitMix64: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators (OOPSLA 2014).
#pragma once

#include <cstdint>
#include <initializer_list>

namespace mneme {

class Random {
 public:
  explicit Random(std::initializer_list<uint64_t> seeds) {
    for (const uint64_t seed : seeds) state_ = mix(state_ + kStep) ^ seed;
    state_ = mix(state_);
  }

  uint64_t next() {
    state_ += kStep;
    return mix(state_);
  }

  // Uniform over [low, high]. The bias of the multiplication is below 2^-32 for ranges of up to 32 bits.
  int64_t uniform(int64_t low, int64_t high) {
    const uint64_t count = static_cast<uint64_t>(high - low) + 1;
    return low + static_cast<int64_t>(
                     static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * count) >> 64));
  }

  // Uniform, above 0 and below 1.
  double fraction() { return (static_cast<double>(next() >> 11) + 0.5) / 9007199254740992.0; }  // 2^53

  // True in `percent` of a hundred cases.
  bool chance(int percent) { return uniform(1, 100) <= percent; }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;

  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_ = 0;
};

}  // namespace mneme
