// GroupCommit: when the records that have gathered are sent to the device together.
//
// Each flush costs the device and the processor much the same, however few records it carries; each record
// that waits for others is acknowledged later. Records gather while a flush is in flight, and until the
// interval since the last sending is over; but no longer than until so many bytes or so many records have
// come. With no interval this is greedy: the next flush begins when the last one ends, so that a record waits
// for less than two; and only a log that fills whole units has several in flight.
//
// Source   group commit: Aether, section 2.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mneme {

struct GroupCommit {
  std::chrono::microseconds interval{0};  // since the last sending; 0: greedy
  size_t bytes = 0;                       // in a DurableLog, 0: one unit of the device's
  uint64_t records = 0;                   // 0: however many
  // Whether a thread that waits for one record to be durable has all sent at once. Not so: it waits for its
  // group.
  bool waiters_hurry = true;
  // The interval is at least so many times what a flush took of late (flush_pace.h); 0: it stays what it is.
  uint32_t rests = 0;
  // No thread of the log's own flushes, only those that wait, and the log when it is closed. The device's
  // appends end at once (LogDevice::ends_in_append).
  bool only_waiters = false;
};

}  // namespace mneme
