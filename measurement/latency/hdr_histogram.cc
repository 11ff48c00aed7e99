#include "measurement/latency/hdr_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace mneme {

size_t HdrHistogram::bucket_of(uint64_t value) {
  if (value < kSub) return value;
  const int shift = std::bit_width(value) - 1 - kSubBits;
  return (static_cast<size_t>(shift) + 1) * kSub + ((value >> shift) - kSub);
}

uint64_t HdrHistogram::upper_bound(size_t bucket) {
  if (bucket < kSub) return bucket;
  const size_t shift = bucket / kSub - 1;
  return ((bucket % kSub + kSub + 1) << shift) - 1;
}

void HdrHistogram::record(uint64_t value) {
  ++buckets_[bucket_of(value)];
  ++count_;
  sum_ += value;
  max_ = std::max(max_, value);
}

void HdrHistogram::merge(const HdrHistogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

void HdrHistogram::clear() {
  std::ranges::fill(buckets_, 0);
  count_ = sum_ = max_ = 0;
}

uint64_t HdrHistogram::quantile(double q) const {
  const auto wanted = static_cast<uint64_t>(std::llround(q * static_cast<double>(count_)));
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= wanted && seen > 0) return std::min(upper_bound(i), max_);
  }
  return max_;
}

CompactHistogram::CompactHistogram(const HdrHistogram& histogram)
    : sum_(histogram.sum_), max_(histogram.max_) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  for (size_t i = 0; i < HdrHistogram::kBuckets; ++i) {
    for (uint64_t left = histogram.buckets_[i]; left > 0;) {
      const auto count = static_cast<uint32_t>(std::min(left, kMost));
      buckets_.push_back({static_cast<uint32_t>(i), count});
      left -= count;
    }
  }
  buckets_.shrink_to_fit();
}

void CompactHistogram::add_to(HdrHistogram& histogram) const {
  for (const Bucket& bucket : buckets_) {
    histogram.buckets_[bucket.number] += bucket.count;
    histogram.count_ += bucket.count;
  }
  histogram.sum_ += sum_;
  histogram.max_ = std::max(histogram.max_, max_);
}

}  // namespace mneme
