// Wrong: the pace is added to the group's interval.
// Must fail: Rule: The interval is the longer of the two
#include <algorithm>

#include "logging/commit/flush_pace.h"

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
  return least + std::min<std::chrono::nanoseconds>(paced, kLongest);
}

std::chrono::nanoseconds FlushPace::left(const Gathering& gathering) const {
  if (is_full(gathering)) return std::chrono::nanoseconds::zero();
  if (gathering.is_in_flight) return kUntilFlushEnds;
  if (!gathering.since_sending) return std::chrono::nanoseconds::zero();
  return std::max(interval() - *gathering.since_sending, std::chrono::nanoseconds::zero());
}

bool FlushPace::is_full(const Gathering& gathering) const {
  return gathering.bytes >= group_.bytes || (group_.records > 0 && gathering.records >= group_.records) ||
         (group_.waiters_hurry && gathering.is_awaited) || gathering.is_closing;
}

}  // namespace mneme
