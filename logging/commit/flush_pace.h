// FlushPace: decides when the records that have gathered are sent to the device together.
//
// Why         Each flush takes processor time, and devices that others share, a virtual disk above all,
//             answer many small flushes with stalls of tens of milliseconds. A device that takes long for one
//             flush takes few of them well. So records gather for the group's interval, or, where the group
//             rests, for some flushes' length.
// Invariants  the interval is the longer of the group's own and the pace: some flushes' length, at most
//             kLongest. kLongest bounds the pace, not the group's own interval. A full group is sent at once,
//             as is one that a thread waits for.
// Threads     one owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "logging/commit/group_commit.h"

namespace mneme {

// What has gathered, and what goes on meanwhile.
struct Gathering {
  uint64_t bytes = 0;         // published and not sent
  uint64_t records = 0;       // published since the last sending; counted only where the group asks for it
  bool is_awaited = false;    // a thread waits for one of them to be durable
  bool is_closing = false;    // no more will come
  bool is_in_flight = false;  // a flush has been sent and has not ended
  std::optional<std::chrono::nanoseconds> since_sending{};  // nothing: none was sent yet
};

class FlushPace {
 public:
  static constexpr std::chrono::microseconds kLongest{2000};
  // While a flush is in flight: its end ends the wait. A second, so that a log whose device loses a wake-up
  // is late, not stuck.
  static constexpr std::chrono::nanoseconds kUntilFlushEnds = std::chrono::seconds(1);

  explicit FlushPace(const GroupCommit& group) : group_(group) {}

  // Notes that one flush took so long. A stall counts as no more than kLongest, because it says little of the
  // next flush.
  void flushed(std::chrono::nanoseconds took);
  // Returns how long the flusher waits, at least, from one sending to the next.
  std::chrono::nanoseconds interval() const;
  // Returns how much longer the records gather before they are sent, if no flush ends before; 0: not at all.
  std::chrono::nanoseconds left(const Gathering& gathering) const;

 private:
  bool is_full(const Gathering& gathering) const;

  const GroupCommit group_;
  double mean_ns_ = 0;
};

}  // namespace mneme
