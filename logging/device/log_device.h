// LogDevice: where the log's records become durable.
//
// Flow        append() ... append() -> wait() -> durable position, the end of the longest prefix of completed
//             appends
// Invariants  append() takes whole records from the front of what it is given, so the durable position always
//             lies on a record boundary. It copies them: the caller may overwrite them on return.
// Threads     append, wait: the flusher, one thread at a time. wake, counters, failure: any thread.
// Waiting     append() takes nothing while it has no room, and waits for nothing, unless ends_in_append():
//             then for the device. wait() waits.
// Errors      after failure() the durable position rises no more and append() takes nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "logging/buffer/log_source.h"
#include "logging/record/stream_position.h"

namespace mneme {

struct DeviceCounters {
  uint64_t flushes = 0;          // appends that were sent to the device
  uint64_t device_bytes = 0;     // with block headers and padding
  uint64_t segment_waits = 0;    // times that no segment was ready when one was needed
  uint64_t segments_reused = 0;  // whose files a checkpoint had passed
};

// How much room a device has left that keeps a log of bounded size.
enum class LogSpace : uint8_t {
  kEnough,
  kCheckpointDue,  // a checkpoint should make room before it gets scarce
  kScarce,         // what is left is for records that have their place already, and for the checkpoint's
};

class LogDevice {
 public:
  virtual ~LogDevice() = default;

  // Takes the first records of [begin, end) from the source and starts to make them durable. Returns the
  // position up to which it took them; `begin` when it has no room just now.
  virtual StreamPosition append(const LogSource& source, StreamPosition begin, StreamPosition end) = 0;

  // Waits until an append completes, room comes up, wake() is called or the time is over. Returns the durable
  // position.
  virtual StreamPosition wait(std::chrono::nanoseconds limit) = 0;
  // Ends the current or the next wait().
  virtual void wake() = 0;

  // Whether what append() takes is durable, or has failed, when it returns; the next wait() says which.
  virtual bool ends_in_append() const { return false; }

  virtual DeviceCounters counters() const = 0;
  // Any thread. Most devices have no bound.
  virtual LogSpace space() { return LogSpace::kEnough; }
  virtual std::optional<Error> failure() const = 0;
};

}  // namespace mneme
