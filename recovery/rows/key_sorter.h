// KeySorter: the order of an index's keys, by the bytes in which they differ.
//
// Invariants  the order is stable. Keys of one index have the same number of words and are compared as
//             index.h says.
// Time        keys that come in order are left as they are. Others are sorted byte by byte, the lowest first,
//             where they differ at all: a table's keys of one stretch differ in a few bytes, and each costs a
//             pass without a comparison. Where they differ in many, or are few, they are compared.
// Threads     one owner. Memory is kept from one call to the next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mneme {

class KeySorter {
 public:
  // `keys`: `words` words each, one key after the other. Their numbers in order, until the next call.
  std::span<const uint32_t> sort(std::span<const uint64_t> keys, size_t words);

 private:
  struct Digit {
    uint32_t word;
    uint32_t shift;
  };

  void find_digits(std::span<const uint64_t> keys, size_t words);
  void sort_by(const Digit& digit, std::span<const uint64_t> keys, size_t words);

  std::vector<uint32_t> order_;
  std::vector<uint32_t> scratch_;
  std::vector<uint64_t> differing_;  // by word: the bits in which keys differ
  std::vector<Digit> digits_;        // the lowest first
};

}  // namespace mneme
