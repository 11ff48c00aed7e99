#include "logging/commit/log_flusher.h"

#include <sys/prctl.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/clock.h"
#include "base/processor_time.h"

namespace mneme {

namespace {

using std::chrono::nanoseconds;

// No wait is endless: should a device lose a wake-up, the log is late, not stuck.
constexpr nanoseconds kLongest = std::chrono::seconds(1);
// A record is reserved and not yet published: its worker is busy with it just now.
constexpr nanoseconds kUntilPublished = std::chrono::microseconds(50);
// Where gathering has no end but a group's size: a worker that fills the buffer while the flusher goes to
// sleep sends no wake-up, so the flusher polls at this interval.
constexpr nanoseconds kUntilLooked = std::chrono::milliseconds(5);
// So often a thread that flushes for itself looks for records that others are about to publish before it
// sleeps.
constexpr int kLooks = 16;

}  // namespace

LogFlusher::LogFlusher(LogBuffer& buffer, LogDevice& device, const LogFlusherOptions& options)
    : buffer_(buffer),
      device_(device),
      options_(options),
      waiters_flush_(device.ends_in_append() && options.observer == nullptr && !options.keeps_until_durable),
      taken_(options.begin),
      pace_(options.group),
      durable_(options.begin.value) {
  CHECK(options.group.bytes > 0);
  CHECK(waiters_flush_ || !options.group.only_waiters);
  if (!options.group.only_waiters) thread_ = std::thread([this] { run(); });
}

LogFlusher::~LogFlusher() {
  finish();
}

void LogFlusher::finish() {
  if (options_.group.only_waiters) {
    const StreamPosition prefix = buffer_.contiguous_prefix();
    if (prefix > durable()) (void)flush_until(StreamPosition{prefix.value - 1});
    return;
  }
  if (!thread_.joinable()) return;
  closing_.store(true, std::memory_order_release);
  wake_thread();
  thread_.join();
}

bool LogFlusher::wait_durable(StreamPosition position) {
  if (position < durable()) return true;
  if (waiters_flush_) return flush_until(position);
  begin_wait();
  progress_.await([&] { return position < durable() || has_failed(); });
  end_wait();
  return position < durable();
}

bool LogFlusher::flush_until(StreamPosition position) {
  for (int looks = 0;; ++looks) {
    {
      const std::lock_guard turn(turn_);
      if (position < durable() || has_failed()) break;
      if (const StreamPosition prefix = buffer_.contiguous_prefix(); prefix > taken_) send(prefix);
      if (const StreamPosition now = device_.wait(nanoseconds::zero()); now > durable()) rise(now);
      if (device_.failure()) fail();
      if (position < durable() || has_failed()) break;
    }
    // The record, or one before it, is about to be published, or the device has no room just now.
    if (looks < kLooks) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kUntilPublished);
    }
  }
  return position < durable();
}

void LogFlusher::begin_wait() {
  urgent_.fetch_add(1, std::memory_order_acq_rel);
  if (options_.group.waiters_hurry) wake(kGathering);
}

FlusherCounters LogFlusher::counters() const {
  const std::lock_guard guard(mutex_);
  return counters_;
}

void LogFlusher::wake(Sleep from) {
  Sleep expected = from;
  if (rest_->sleep.compare_exchange_strong(expected, kAwake, std::memory_order_relaxed)) wake_thread();
}

void LogFlusher::wake_thread() {
  if (!waiters_flush_) return device_.wake();
  { const std::lock_guard guard(resting_); }
  rested_.notify_one();
}

void LogFlusher::run() {
  // Waits are for tens of microseconds; the system lets a timer be late by as much, unless it is asked not
  // to.
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  std::unique_lock turn(turn_);
  while (!failed_.load(std::memory_order_relaxed)) {
    // Before the prefix: what was published before the destructor began must be in it.
    const bool closing = closing_.load(std::memory_order_acquire);
    if (options_.observer != nullptr) options_.observer->gathers();
    const StreamPosition prefix = buffer_.contiguous_prefix();
    nanoseconds gathering = gathering_left(prefix);
    // A whole group, but for records that are late, for which no wake-up comes.
    const bool is_late = prefix.value - taken_.value + buffer_.late_bytes() >= options_.group.bytes;
    if (options_.keeps_until_durable) {
      gathering = std::min(gathering, is_late ? kUntilPublished : kUntilLooked);
    }
    StreamPosition durable_now;
    if (gathering > nanoseconds::zero()) {
      durable_now = wait_for_device(kGathering, gathering, turn);
    } else if (prefix > taken_) {
      // The next wait submits what the device took, which also knows how long to wait.
      if (send(prefix)) continue;
      durable_now = wait_for_device(kAwake, kLongest, turn);
    } else if (!closing) {
      durable_now = wait_for_device(kIdle, kLongest, turn);
    } else if (durable() < taken_) {
      durable_now = wait_for_device(kAwake, kLongest, turn);
    } else {
      return;
    }
    if (durable_now > durable()) rise(durable_now);
    if (device_.failure()) fail();
    const std::lock_guard guard(mutex_);
    counters_.processor_ns = thread_processor_ns();
  }
}

void LogFlusher::rise(StreamPosition durable_now) {
  durable_->store(durable_now.value, std::memory_order_release);
  progress_.notify_all();
  if (options_.keeps_until_durable) buffer_.release(durable_now);
  if (options_.observer != nullptr) options_.observer->rose(durable_now);
  const uint64_t now = monotonic_ns();
  const std::lock_guard guard(mutex_);
  while (!in_flight_.empty() && in_flight_.front().end <= durable_now) {
    const uint64_t took = now - in_flight_.front().begin_ns;
    counters_.flush_ns.record(took);
    pace_.flushed(nanoseconds(took));
    in_flight_.pop_front();
  }
  counters_.interval_ns = static_cast<uint64_t>(pace_.interval().count());
}

// How much longer records should gather before they are sent, if no flush ends before.
nanoseconds LogFlusher::gathering_left(StreamPosition prefix) const {
  Gathering gathering{.bytes = prefix.value - taken_.value,
                      .records = came_->load(std::memory_order_relaxed) - came_at_last_send_,
                      .is_awaited = urgent_.load(std::memory_order_relaxed) > 0,
                      .is_closing = closing_.load(std::memory_order_relaxed),
                      .is_in_flight = !in_flight_.empty()};
  if (last_send_ns_ != 0) gathering.since_sending = nanoseconds(monotonic_ns() - last_send_ns_);
  return pace_.left(gathering);
}

// Gives the device what it takes. False: it has no room until a flush ends or a segment is ready.
bool LogFlusher::send(StreamPosition prefix) {
  last_send_ns_ = monotonic_ns();
  came_at_last_send_ = came_->load(std::memory_order_relaxed);
  while (taken_ < prefix) {
    const StreamPosition next = device_.append(buffer_, taken_, prefix);
    if (next == taken_) return false;
    taken_ = next;
    in_flight_.push_back({taken_, monotonic_ns()});
    if (!options_.keeps_until_durable) buffer_.release(taken_);
  }
  return true;
}

StreamPosition LogFlusher::wait_for_device(Sleep sleep, nanoseconds limit,
                                           std::unique_lock<std::mutex>& turn) {
  // What was sent has ended.
  if (waiters_flush_ && !in_flight_.empty()) return device_.wait(nanoseconds::zero());
  if (sleep != kAwake) {
    const GroupCommit& group = options_.group;
    rest_->until_position.store(taken_.value + group.bytes, std::memory_order_relaxed);
    rest_->until_came.store(
        group.records == 0 ? std::numeric_limits<uint64_t>::max() : came_at_last_send_ + group.records,
        std::memory_order_relaxed);
    rest_->sleep.store(sleep, std::memory_order_release);
    // Look again for waiters that came before the announcement; the read-modify-writes order it before those
    // that come now.
    if (sleep == kGathering && group.waiters_hurry && urgent_.fetch_add(0, std::memory_order_acq_rel) > 0)
      limit = nanoseconds::zero();
    if (sleep == kIdle && !(buffer_.quiescent(taken_) && may_sleep())) {
      rest_->sleep.store(kAwake, std::memory_order_relaxed);  // it looks again soon, and needs no wake-up
      limit = kUntilPublished;
    }
  }
  const StreamPosition durable_now = waiters_flush_ ? rest(sleep, limit, turn) : device_.wait(limit);
  rest_->sleep.store(kAwake, std::memory_order_relaxed);
  return durable_now;
}

// Leaves the turn to others meanwhile.
StreamPosition LogFlusher::rest(Sleep sleep, nanoseconds limit, std::unique_lock<std::mutex>& turn) {
  turn.unlock();
  std::unique_lock guard(resting_);
  if (sleep == kAwake) {
    rested_.wait_for(guard, std::min(limit, kUntilPublished));
  } else {
    rested_.wait_for(guard, limit, [&] {
      return rest_->sleep.load(std::memory_order_relaxed) == kAwake ||
             closing_.load(std::memory_order_relaxed);
    });
  }
  guard.unlock();
  turn.lock();
  return device_.wait(nanoseconds::zero());
}

bool LogFlusher::may_sleep() {
  return options_.observer == nullptr || options_.observer->may_sleep();
}

void LogFlusher::fail() {
  failed_.store(true, std::memory_order_release);
  buffer_.close();
  progress_.notify_all();
  if (options_.observer != nullptr) options_.observer->failed();
}

}  // namespace mneme
