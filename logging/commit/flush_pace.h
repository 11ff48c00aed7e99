// FlushPace: derives from the length of the last flushes how long records gather for the next one, at least.
//
// Why         Each flush takes processor time, and devices that others share, a virtual disk above all,
//             answer many small flushes with stalls of tens of milliseconds. A device that takes long for one
//             flush takes few of them well. So the flusher rests after each for some flushes' length.
// Invariants  the interval is the group's, or longer, up to kLongest.
// Threads     one owner.
#pragma once

#include <chrono>

#include "logging/commit/group_commit.h"

namespace mneme {

class FlushPace {
 public:
  static constexpr std::chrono::microseconds kLongest{2000};

  explicit FlushPace(const GroupCommit& group) : group_(group) {}

  // Notes that one flush took so long. A stall counts as no more than kLongest, because it says little of the
  // next flush.
  void flushed(std::chrono::nanoseconds took);
  // Returns how long the flusher waits, at least, from one sending to the next.
  std::chrono::nanoseconds interval() const;

 private:
  const GroupCommit group_;
  double mean_ns_ = 0;
};

}  // namespace mneme
