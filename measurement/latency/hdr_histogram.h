// HdrHistogram: counts of latencies in the buckets of HdrHistogram's format with two significant digits, so
// that they can be written in it (hdr_log.h). It is finer than base/histogram.h, in four times the memory.
//
// Layout      values below 256 have a bucket each; above, each power of two has 128. This is HdrHistogram's
//             order of counts for a lowest value of 1 and 256 sub-buckets.
// Invariants  quantile(q) is at least the true quantile and at most 1/128 above it; max() and mean() are
//             exact.
// Units       whatever the caller records.
// Threads     one owner.
// Source      http://hdrhistogram.org, AbstractHistogram.java.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mneme {

class HdrHistogram {
 public:
  static constexpr int kSubBits = 7;
  static constexpr uint64_t kSub = uint64_t{1} << kSubBits;
  static constexpr size_t kBuckets = (64 - kSubBits + 1) * kSub;

  static size_t bucket_of(uint64_t value);
  static uint64_t upper_bound(size_t bucket);

  void record(uint64_t value);
  void merge(const HdrHistogram& other);
  // Makes it empty.
  void clear();

  uint64_t count() const { return count_; }
  uint64_t count_in(size_t bucket) const { return buckets_[bucket]; }
  uint64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  // The smallest bucket bound, or max() if that is less, that the fraction q of all values, to the nearest
  // whole value, lie at or below; 0 when empty.
  uint64_t quantile(double q) const;

 private:
  friend class CompactHistogram;

  std::vector<uint64_t> buckets_ = std::vector<uint64_t>(kBuckets);
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

// A histogram that is only kept: its buckets that hold something, without the many that don't.
class CompactHistogram {
 public:
  CompactHistogram() = default;
  explicit CompactHistogram(const HdrHistogram& histogram);

  void add_to(HdrHistogram& histogram) const;

 private:
  struct Bucket {
    uint32_t number;
    uint32_t count;  // a bucket with more than fits has several entries
  };

  std::vector<Bucket> buckets_;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace mneme
