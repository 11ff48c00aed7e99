#include "logging/commit/flush_pace.h"

#include <algorithm>
#include <cstdint>

namespace mneme {

namespace {

constexpr double kFlushesInMean = 64;

}  // namespace

void FlushPace::flushed(std::chrono::nanoseconds took) {
  const auto ns = static_cast<double>(std::min<std::chrono::nanoseconds>(took, kLongest).count());
  mean_ns_ = mean_ns_ == 0 ? ns : mean_ns_ + (ns - mean_ns_) / kFlushesInMean;
}

std::chrono::nanoseconds FlushPace::interval() const {
  const std::chrono::nanoseconds least = group_.interval;
  const std::chrono::nanoseconds paced(static_cast<int64_t>(mean_ns_ * group_.rests));
  return std::max(least, std::min<std::chrono::nanoseconds>(paced, kLongest));
}

}  // namespace mneme
