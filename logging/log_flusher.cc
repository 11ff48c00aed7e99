#include "logging/log_flusher.h"

#include <algorithm>

#include "base/clock.h"

namespace mneme {

namespace {

using std::chrono::nanoseconds;

// No wait is endless: should a device lose a wake-up, the log is late, not stuck.
constexpr nanoseconds kLongest = std::chrono::seconds(1);
// A record is reserved and not yet published: its worker is busy with it just now.
constexpr nanoseconds kUntilPublished = std::chrono::microseconds(50);

}  // namespace

LogFlusher::LogFlusher(LogBuffer& buffer, LogDevice& device, const LogFlusherOptions& options)
    : buffer_(buffer),
      device_(device),
      options_(options),
      taken_(options.begin),
      durable_(options.begin.value),
      thread_([this] { run(); }) {}

LogFlusher::~LogFlusher() {
  closing_.store(true, std::memory_order_release);
  device_.wake();
  thread_.join();
}

bool LogFlusher::wait_durable(Lsn lsn) {
  if (lsn < durable()) return true;
  urgent_.fetch_add(1, std::memory_order_acq_rel);
  wake(kGathering);
  progress_.await([&] { return lsn < durable() || has_failed(); });
  urgent_.fetch_sub(1, std::memory_order_relaxed);
  return lsn < durable();
}

void LogFlusher::wake(Sleep from) {
  Sleep expected = from;
  if (sleep_.compare_exchange_strong(expected, kAwake, std::memory_order_relaxed)) device_.wake();
}

void LogFlusher::run() {
  while (!failed_.load(std::memory_order_relaxed)) {
    // Before the prefix: what was published before the destructor began must be in it.
    const bool closing = closing_.load(std::memory_order_acquire);
    const Lsn prefix = buffer_.contiguous_prefix();
    const nanoseconds gathering = gathering_left(prefix);
    Lsn durable_now;
    if (gathering > nanoseconds::zero()) {
      durable_now = wait_for_device(kGathering, gathering);
    } else if (prefix > taken_) {
      durable_now = wait_for_device(kAwake, send(prefix) ? nanoseconds::zero() : kLongest);
    } else if (!closing) {
      durable_now = wait_for_device(kIdle, kLongest);
    } else if (durable() < taken_) {
      durable_now = wait_for_device(kAwake, kLongest);
    } else {
      return;
    }
    if (durable_now > durable()) {
      durable_->store(durable_now.value, std::memory_order_release);
      progress_.notify_all();
    }
    if (device_.failure()) fail();
  }
}

// How much longer records should gather before they are sent.
nanoseconds LogFlusher::gathering_left(Lsn prefix) const {
  if (prefix.value - taken_.value >= options_.gather_bytes) return nanoseconds::zero();
  if (urgent_.load(std::memory_order_relaxed) > 0) return nanoseconds::zero();
  if (closing_.load(std::memory_order_relaxed)) return nanoseconds::zero();
  const nanoseconds since_last(monotonic_ns() - last_send_ns_);
  return std::max(options_.flush_interval - since_last, nanoseconds::zero());
}

// Gives the device what it takes. False: it has no room until a chain ends or a segment is ready.
bool LogFlusher::send(Lsn prefix) {
  last_send_ns_ = monotonic_ns();
  while (taken_ < prefix) {
    const Lsn next = device_.append(buffer_, taken_, prefix);
    if (next == taken_) return false;
    taken_ = next;
    buffer_.release(taken_);
  }
  return true;
}

Lsn LogFlusher::wait_for_device(Sleep sleep, nanoseconds limit) {
  if (sleep != kAwake) {
    sleep_.store(sleep, std::memory_order_relaxed);
    // Look again for who came before the announcement; the read-modify-writes order it before those who come now.
    if (sleep == kGathering && urgent_.fetch_add(0, std::memory_order_acq_rel) > 0)
      limit = nanoseconds::zero();
    if (sleep == kIdle && !buffer_.quiescent(taken_)) {
      sleep_.store(kAwake, std::memory_order_relaxed);  // it looks again soon: nobody need wake it
      limit = kUntilPublished;
    }
  }
  const Lsn durable_now = device_.wait(limit);
  sleep_.store(kAwake, std::memory_order_relaxed);
  return durable_now;
}

void LogFlusher::fail() {
  failed_.store(true, std::memory_order_release);
  buffer_.close();
  progress_.notify_all();
}

}  // namespace mneme
