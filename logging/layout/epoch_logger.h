// EpochLogger: one of an epoch log's loggers (epoch_log.h): a thread that makes its workers' records durable,
// epoch by epoch, in a stream of its own.
//
// Flow        the clock ends an epoch -> gather what is complete -> append it to the device, sync ->
//             persisted_until() rises -> the pepoch thread looks at all loggers
// Invariants  all records of its workers that belong to epochs before persisted_until() are durable; it never
//             falls. What becomes complete while a flush is under way goes out with the next one, however
//             many epochs it is.
// Threads     one of its own. buffer(): workers. persisted_until, take_persisted: the pepoch thread. The
//             rest: any.
// Waiting     the thread sleeps between epochs. Where a worker stands between its draw and its publication
//             when an epoch ends, the logger looks again soon after.
// Errors      the device's first failure ends the log (EpochHorizon::fail) and the waits for space.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/fifo_queue.h"
#include "logging/commit/log_flusher.h"
#include "logging/device/log_device.h"
#include "logging/layout/epoch_clock.h"
#include "logging/layout/epoch_horizon.h"
#include "logging/layout/logger_buffer.h"

namespace mneme {

class EpochLogger {
 public:
  // The part of the stream that holds the epochs before a given one.
  struct Extent {
    StreamPosition end = kFirstPosition;
    uint64_t records = 0;
  };

  // `begin`: of the incarnation. The device's first position is kFirstPosition.
  EpochLogger(EpochClock& clock, EpochHorizon& horizon, std::unique_ptr<LogDevice> device, Lsn begin,
              const LoggerBufferOptions& buffer);
  // The clock has stopped. Makes everything durable first, unless the log has failed.
  ~EpochLogger() { finish(); }
  void finish();

  LoggerBuffer& buffer() { return buffer_; }

  LogEpoch persisted_until() const { return LogEpoch{persisted_until_.load(std::memory_order_acquire)}; }
  // The extent of the epochs before `until`, which is no later than persisted_until() and no earlier than
  // asked before.
  Extent take_persisted(LogEpoch until);

  DeviceCounters device_counters() const { return device_->counters(); }
  FlusherCounters flusher_counters() const;

 private:
  void run();
  bool flush(StreamPosition end);
  bool has_failed();

  EpochClock& clock_;
  EpochHorizon& horizon_;
  const LogEpoch first_epoch_;
  LoggerBuffer buffer_;
  const std::unique_ptr<LogDevice> device_;

  // The thread's.
  StreamPosition taken_ = kFirstPosition;
  FifoQueue<LoggerBuffer::Gathered> gathered_;

  // Written by the thread (release: the records are durable, and what take_persisted() finds is there); read
  // by the pepoch thread (acquire).
  std::atomic<uint64_t> persisted_until_;
  std::atomic<bool> closing_{false};  // written by finish() (release), read by the thread (acquire)

  mutable std::mutex mutex_;                     // guards all below but the thread; taken once a flush
  FifoQueue<LoggerBuffer::Gathered> persisted_;  // epochs that the pepoch thread has not taken yet
  Extent taken_extent_;                          // of those that it has
  FlusherCounters counters_;

  std::thread thread_;
};

}  // namespace mneme
