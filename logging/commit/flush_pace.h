// FlushPace: how long records gather for a flush, at least, where how long flushes take decides it.
//
// Why         Each flush takes processor time, and devices that others share, a virtual disk above all,
//             answer many small flushes with stalls of tens of milliseconds. Of how many a device takes well,
//             how long one takes tells most: so each is followed by a rest of some flushes' length.
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

  // One flush took so long. A stall counts as no more than kLongest: it says little of the next flush.
  void flushed(std::chrono::nanoseconds took);
  // From one sending to the next.
  std::chrono::nanoseconds interval() const;

 private:
  const GroupCommit group_;
  double mean_ns_ = 0;
};

}  // namespace mneme
