// The flusher: takes records out of the buffer in order, gives them to the device, and says what is durable.
//
// Flow        buffer.contiguous_prefix() -> device.append() -> buffer.release() -> device.wait() -> durable
//             rises (the buffer is released at the end where it is what survives a crash until then:
//             nvm_ring.h)
// Invariants  durable <= taken <= contiguous prefix, all on record boundaries; durable never falls.
// Threads     one of its own. durable, wait_durable, record_came, counters: any. Where the device's appends
//             end at once (LogDevice::ends_in_append), a thread in wait_durable() flushes itself, so that no
//             other one stands between it and the device; the flusher's thread then serves the records that
//             nobody waits for. Who flushes has the turn, a mutex, for as long as the flush takes.
// Waiting     group commit, as group_commit.h says; a thread in wait_durable() hurries it. The worker whose
//             record reaches a bound wakes the flusher; one that is published just while the flusher lies
//             down may be overlooked, and then the next record, the end of a flush or of the interval wakes
//             it. With nothing reserved it sleeps until a worker wakes it. Where waiters flush, one that
//             finds the turn taken waits for that flush, and goes on only if its record was not in it: this
//             is what makes groups there.
// Errors      when the device fails, durable stops, waits end, and the buffer is closed.
// Source      group commit and flush pipelining: Aether, sections 2 and 4.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/cache_line.h"
#include "base/event_count.h"
#include "base/histogram.h"
#include "logging/buffer/log_buffer.h"
#include "logging/commit/flush_pace.h"
#include "logging/commit/flusher_observer.h"
#include "logging/commit/group_commit.h"
#include "logging/device/log_device.h"

namespace mneme {

struct LogFlusherOptions {
  StreamPosition begin = kFirstPosition;
  GroupCommit group;  // bytes are not 0
  FlusherObserver* observer = nullptr;
  // records stay in the buffer until the device has them, not until it takes them
  bool keeps_until_durable = false;
};

struct FlusherCounters {
  Histogram flush_ns;  // of each append, from when the device took it until it was seen to be durable
  // of the flusher's thread; what the system and the threads that wait do for it is not in it
  uint64_t processor_ns = 0;
  uint64_t interval_ns = 0;  // between two sendings, at last
};

class LogFlusher {
 public:
  LogFlusher(LogBuffer& buffer, LogDevice& device, const LogFlusherOptions& options);
  // Makes everything published durable first, unless the device has failed.
  ~LogFlusher();
  // Makes durable all that was published before, and ends. No worker appends any more.
  void finish();

  StreamPosition durable() const { return StreamPosition{durable_->load(std::memory_order_acquire)}; }
  // Returns false if the log failed before the record at `position` was durable.
  bool wait_durable(StreamPosition position);
  // Between the two a thread waits, in another way than by wait_durable(): the flusher hurries.
  void begin_wait();
  void end_wait() { urgent_.fetch_sub(1, std::memory_order_relaxed); }
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }
  FlusherCounters counters() const;

  // To be called after the record that ends at `end` is published. One load of a line that is rarely written,
  // unless the flusher sleeps or groups are counted in records.
  void record_came(StreamPosition end) {
    const uint64_t came =
        options_.group.records == 0 ? 0 : came_->fetch_add(1, std::memory_order_relaxed) + 1;
    const Sleep sleep = rest_->sleep.load(std::memory_order_acquire);
    if (sleep == kAwake) return;
    if (sleep == kIdle || end.value >= rest_->until_position.load(std::memory_order_relaxed) ||
        came >= rest_->until_came.load(std::memory_order_relaxed)) {
      wake(sleep);
    }
  }

 private:
  // The state of the flusher's thread.
  enum Sleep : uint8_t { kAwake, kGathering, kIdle };
  // The part of it that workers read.
  struct Rest {
    // Written by the thread (release: the bounds below are what they read then; before it waits) and by the
    // thread that wakes it (compare-exchange: only one does). That kIdle is not overlooked rests on other
    // orders: LogBuffer::quiescent() puts it before every reserve() that it didn't see; for kGathering and
    // wait_durable() urgent_ does.
    std::atomic<Sleep> sleep{kAwake};
    // Written by the thread before kGathering, read by record_came(). Relaxed: `sleep` orders them.
    std::atomic<uint64_t> until_position{0};
    std::atomic<uint64_t> until_came{0};
  };
  // Records that the device was given and that are not durable yet.
  struct Flush {
    StreamPosition end;
    uint64_t begin_ns;
  };

  void run();
  bool flush_until(StreamPosition position);
  std::chrono::nanoseconds gathering_left(StreamPosition prefix) const;
  bool send(StreamPosition prefix);
  StreamPosition wait_for_device(Sleep sleep, std::chrono::nanoseconds limit,
                                 std::unique_lock<std::mutex>& turn);
  StreamPosition rest(Sleep sleep, std::chrono::nanoseconds limit, std::unique_lock<std::mutex>& turn);
  void wake_thread();
  void rise(StreamPosition durable_now);
  bool may_sleep();
  void wake(Sleep from);
  void fail();

  LogBuffer& buffer_;
  LogDevice& device_;
  const LogFlusherOptions options_;
  const bool waiters_flush_;

  std::mutex turn_;
  // Owned by who has the turn, as is the flusher's side of the buffer and the device.
  StreamPosition taken_;
  uint64_t last_send_ns_ = 0;  // 0: none yet
  uint64_t came_at_last_send_ = 0;
  std::deque<Flush> in_flight_;  // in log order
  FlushPace pace_;

  // Written by who has the turn (release: the records below are durable before a thread reads it); read by
  // all (acquire).
  CachePadded<std::atomic<uint64_t>> durable_;
  CachePadded<Rest> rest_;
  // Records that came. Written by the workers, only where groups are counted in records; read by the thread.
  // Relaxed: a group may turn out larger by those that are published and not yet in the prefix.
  CachePadded<std::atomic<uint64_t>> came_{0};
  // Threads in wait_durable(), or past begin_wait(). Read-modify-written on both sides, so that either the
  // thread sees the waiter or the waiter sees kGathering.
  std::atomic<uint32_t> urgent_{0};
  std::atomic<bool> failed_{false};   // written in the turn, once (release); read by waiters (acquire)
  std::atomic<bool> closing_{false};  // written by the destructor (release); read by the thread (acquire)
  EventCount progress_;               // durable_ or failed_ changed

  mutable std::mutex mutex_;  // guards counters_; taken once a flush
  FlusherCounters counters_;

  // Where the thread rests if it has no say over the device alone. The mutex orders its look at `sleep` and
  // `closing_` against the notification.
  std::mutex resting_;
  std::condition_variable rested_;

  std::thread thread_;
};

}  // namespace mneme
