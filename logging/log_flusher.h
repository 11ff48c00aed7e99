// The flusher: takes records out of the buffer in order, gives them to the device, and says what is durable.
//
// Flow        buffer.contiguous_prefix() -> device.append() -> buffer.release() -> device.wait() -> durable rises
// Invariants  durable <= taken <= contiguous prefix, all on record boundaries; durable never falls.
// Threads     one of its own. durable, wait_durable, records_came: any.
// Waiting     group commit: records that come while every chain is in flight go out together with the next one.
//             While nobody waits in wait_durable() (flush pipelining), it gathers for `flush_interval` before it
//             sends: each flush costs the device and the processor the same, however few records it carries.
//             With nothing reserved it sleeps until a worker wakes it.
// Errors      when the device fails, durable stops, waits end, and the buffer is closed.
// Source      group commit and flush pipelining: Aether, sections 2 and 4.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "base/cache_line.h"
#include "base/event_count.h"
#include "logging/log_buffer.h"
#include "logging/log_device.h"

namespace mneme {

struct LogFlusherOptions {
  Lsn begin = kFirstLsn;
  std::chrono::microseconds flush_interval{0};
  size_t gather_bytes = 0;  // as many are sent without waiting for the interval
};

class LogFlusher {
 public:
  LogFlusher(LogBuffer& buffer, LogDevice& device, const LogFlusherOptions& options);
  // Makes everything published durable first, unless the device has failed.
  ~LogFlusher();

  Lsn durable() const { return Lsn{durable_->load(std::memory_order_acquire)}; }
  // False: the log failed before the record at `lsn` was durable.
  bool wait_durable(Lsn lsn);
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }

  // To be called after a record is published. One load of a line that is rarely written, unless the flusher sleeps.
  void records_came() {
    if (sleep_.load(std::memory_order_relaxed) == kIdle) wake(kIdle);
  }

 private:
  // What the flusher's thread is doing.
  enum Sleep : uint8_t { kAwake, kGathering, kIdle };

  void run();
  std::chrono::nanoseconds gathering_left(Lsn prefix) const;
  bool send(Lsn prefix);
  Lsn wait_for_device(Sleep sleep, std::chrono::nanoseconds limit);
  void wake(Sleep from);
  void fail();

  LogBuffer& buffer_;
  LogDevice& device_;
  const LogFlusherOptions options_;

  // Owned by the thread.
  Lsn taken_;
  uint64_t last_send_ns_ = 0;

  // Written by the thread (release: the records below are durable before anybody hears of it); read by all (acquire).
  CachePadded<std::atomic<uint64_t>> durable_;
  // Written by the thread (before it waits) and by who wakes it (compare-exchange: only one does). Relaxed where
  // records_came() looks: LogBuffer::quiescent() orders kIdle before every reserve() that it didn't see, and for
  // wait_durable() urgent_ does.
  std::atomic<Sleep> sleep_{kAwake};
  // Threads in wait_durable(). Read-modify-written on both sides, so that either the thread sees the waiter or the
  // waiter sees kGathering.
  std::atomic<uint32_t> urgent_{0};
  std::atomic<bool> failed_{false};   // written by the thread, once (release); read by waiters (acquire)
  std::atomic<bool> closing_{false};  // written by the destructor (release); read by the thread (acquire)
  EventCount progress_;               // durable_ or failed_ changed

  std::thread thread_;
};

}  // namespace mneme
