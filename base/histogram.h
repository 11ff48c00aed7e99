// Histogram: counts of non-negative integers (latencies, sizes) in buckets no wider than 1/32 of their value.
//
// Invariants  quantile(q) is at least the true quantile and at most 1/32 above it; max() and mean() are
//             exact.
// Units       whatever the caller records.
// Threads     one owner; histograms of several threads are merged afterwards.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace mneme {

class Histogram {
 public:
  void record(uint64_t value) {
    ++buckets_[bucket_of(value)];
    ++count_;
    sum_ += value;
    max_ = std::max(max_, value);
  }
  void merge(const Histogram& other) {
    for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

  // The smallest bucket bound that the fraction q of all values, to the nearest whole value, lie at or below;
  // 0 when empty.
  uint64_t quantile(double q) const {
    const auto wanted = static_cast<uint64_t>(std::llround(q * static_cast<double>(count_)));
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (seen >= wanted && seen > 0) return std::min(upper_bound(i), max_);
    }
    return max_;
  }

 private:
  // Values below 32 have a bucket each; above, each power of two has 32.
  static constexpr int kSubBits = 5;
  static constexpr uint64_t kSub = uint64_t{1} << kSubBits;
  static constexpr size_t kBuckets = (64 - kSubBits + 1) * kSub;

  static size_t bucket_of(uint64_t value) {
    if (value < kSub) return value;
    const int shift = std::bit_width(value) - 1 - kSubBits;
    return (static_cast<size_t>(shift) + 1) * kSub + ((value >> shift) - kSub);
  }
  static uint64_t upper_bound(size_t bucket) {
    if (bucket < kSub) return bucket;
    const size_t shift = bucket / kSub - 1;
    return ((bucket % kSub + kSub + 1) << shift) - 1;
  }

  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace mneme
