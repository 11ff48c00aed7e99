// LatencySeries: one thread's latencies, by the second in which they ended and by tag, such as a procedure.
//
// Memory      a histogram of 58 KiB a tag; and for each second and tag the buckets that hold something, 8
//             bytes each, often 1 KiB. A second ends with an allocation, others pass without one.
// Invariants  seconds never fall from one record() to the next.
// Threads     one owner. Those of several threads are read afterwards, together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measurement/latency/hdr_histogram.h"

namespace mneme {

class LatencySeries {
 public:
  explicit LatencySeries(size_t tags) : current_(tags) {}

  void record(size_t second, size_t tag, uint64_t latency) {
    if (second != second_) begin(second);
    current_[tag].record(latency);
  }

  size_t tags() const { return current_.size(); }
  // One more than the last second that holds something; 0: none does.
  size_t seconds() const;
  void add_to(HdrHistogram& histogram, size_t second, size_t tag) const;

 private:
  void begin(size_t second);

  size_t second_ = 0;
  std::vector<HdrHistogram> current_;                 // by tag, of the second that goes on
  std::vector<std::vector<CompactHistogram>> ended_;  // by second; a second without calls has no tags
};

// The latencies of all threads in one second, of all tags together.
HdrHistogram latencies_in(const std::vector<LatencySeries>& threads, size_t second);
// The same of one tag.
HdrHistogram latencies_in(const std::vector<LatencySeries>& threads, size_t second, size_t tag);
// One more than the last second in which any thread has something.
size_t seconds_of(const std::vector<LatencySeries>& threads);

}  // namespace mneme
