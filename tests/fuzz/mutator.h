// Mutator: changes an input a little, as fuzzers do: bits, bytes, numbers, written ones too, at their limits;
// parts left out, doubled, moved, or put in from another input. And half of the time the target makes its
// checksums right.
//
// Threads  one owner.
#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "tests/fuzz/target.h"

namespace mneme::fuzz {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // One of the corpus, changed.
  Bytes next(const Target& target, std::span<const Bytes> corpus);

 private:
  void change(Bytes& input, std::span<const Bytes> corpus);
  void change_digits(Bytes& input, size_t at);
  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  std::mt19937_64 random_;
};

}  // namespace mneme::fuzz
