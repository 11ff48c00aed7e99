#include "measurement/latency/latency_series.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {
namespace {

bool holds_latencies(const std::vector<HdrHistogram>& histograms) {
  return std::ranges::any_of(histograms, [](const HdrHistogram& each) { return each.count() > 0; });
}

}  // namespace

void LatencySeries::begin(size_t second) {
  CHECK(second > second_);
  ended_.resize(second);
  if (holds_latencies(current_)) {
    for (HdrHistogram& histogram : current_) {
      ended_[second_].emplace_back(histogram);
      histogram.clear();
    }
  }
  second_ = second;
}

size_t LatencySeries::seconds() const {
  return holds_latencies(current_) ? second_ + 1 : 0;
}

void LatencySeries::add_to(HdrHistogram& histogram, size_t second, size_t tag) const {
  if (second == second_) return histogram.merge(current_[tag]);
  if (second < ended_.size() && !ended_[second].empty()) ended_[second][tag].add_to(histogram);
}

HdrHistogram latencies_in(const std::vector<LatencySeries>& threads, size_t second) {
  HdrHistogram sum;
  for (const LatencySeries& thread : threads) {
    for (size_t tag = 0; tag < thread.tags(); ++tag) thread.add_to(sum, second, tag);
  }
  return sum;
}

HdrHistogram latencies_in(const std::vector<LatencySeries>& threads, size_t second, size_t tag) {
  HdrHistogram sum;
  for (const LatencySeries& thread : threads) thread.add_to(sum, second, tag);
  return sum;
}

size_t seconds_of(const std::vector<LatencySeries>& threads) {
  size_t seconds = 0;
  for (const LatencySeries& thread : threads) seconds = std::max(seconds, thread.seconds());
  return seconds;
}

}  // namespace mneme
