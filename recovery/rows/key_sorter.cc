#include "recovery/rows/key_sorter.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "engine/index/index.h"

namespace mneme {

namespace {

// Below these a comparison sort takes no longer.
constexpr size_t kFewKeys = 128;
constexpr size_t kManyDigits = 10;

}  // namespace

std::span<const uint32_t> KeySorter::sort(std::span<const uint64_t> keys, size_t words) {
  order_.resize(keys.size() / words);
  std::iota(order_.begin(), order_.end(), 0);
  const auto is_below = [&](uint32_t a, uint32_t b) {
    return compare_words(keys.data() + a * words, keys.data() + b * words, words) < 0;
  };
  if (std::ranges::is_sorted(order_, is_below)) return order_;
  find_digits(keys, words);
  if (order_.size() < kFewKeys || digits_.size() > kManyDigits) {
    std::ranges::stable_sort(order_, is_below);
    return order_;
  }
  scratch_.resize(order_.size());
  for (const Digit& digit : digits_) sort_by(digit, keys, words);
  return order_;
}

void KeySorter::find_digits(std::span<const uint64_t> keys, size_t words) {
  differing_.assign(words, 0);
  for (size_t i = 0; i < keys.size(); i += words) {
    for (size_t w = 0; w < words; ++w) differing_[w] |= keys[i + w] ^ keys[w];
  }
  digits_.clear();
  for (size_t w = words; w-- > 0;) {
    for (uint32_t shift = 0; shift < 64; shift += 8) {
      if ((differing_[w] >> shift & 0xff) != 0) digits_.push_back({static_cast<uint32_t>(w), shift});
    }
  }
}

// A counting sort, stable, so that keys that agree in this digit keep the order that lower ones gave them.
void KeySorter::sort_by(const Digit& digit, std::span<const uint64_t> keys, size_t words) {
  const auto digit_of = [&](uint32_t i) { return keys[i * words + digit.word] >> digit.shift & 0xff; };
  std::array<uint32_t, 256> places{};
  for (const uint32_t i : order_) ++places[digit_of(i)];
  uint32_t begin = 0;
  for (uint32_t& place : places) begin += std::exchange(place, begin);
  for (const uint32_t i : order_) scratch_[places[digit_of(i)]++] = i;
  order_.swap(scratch_);
}

}  // namespace mneme
