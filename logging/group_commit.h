// GroupCommit: when the records that have gathered are sent to the device together.
//
// Each flush costs the device and the processor much the same, however few records it carries; each record that waits for
// others is acknowledged later. Records are sent as soon as one of these says so: the time since the last sending,
// the bytes, the number of records. With no time set nothing gathers: greedy, the next flush begins as soon as
// the device has room, with what came while it was busy.
//
// Source   group commit: Aether, section 2.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mneme {

struct GroupCommit {
  std::chrono::microseconds interval{0};  // since the last sending; 0: greedy
  size_t bytes = 0;                       // 0: as many as may wait without stopping the workers
  uint64_t records = 0;                   // 0: however many
  // Whether a thread that waits for one record to be durable sends all at once. Not so: it waits for its group.
  bool waiters_hurry = true;
};

}  // namespace mneme
