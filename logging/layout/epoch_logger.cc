#include "logging/layout/epoch_logger.h"

#include <sys/prctl.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/clock.h"
#include "base/processor_time.h"

namespace mneme {

namespace {

// No wait is endless: should a device lose a wake-up, the log is late, not stuck.
constexpr std::chrono::nanoseconds kLongestPause = std::chrono::seconds(1);
// A worker stands between draw and publication: it is busy with it just now.
constexpr std::chrono::microseconds kPollPause{50};

}  // namespace

EpochLogger::EpochLogger(EpochClock& clock, EpochHorizon& horizon, std::unique_ptr<LogDevice> device,
                         Lsn begin, const LoggerBufferOptions& buffer)
    : clock_(clock),
      horizon_(horizon),
      first_epoch_(epoch_of(begin)),
      buffer_(clock.counter(), buffer),
      device_(std::move(device)),
      persisted_until_(first_epoch_.value),
      thread_([this] { run(); }) {}

void EpochLogger::finish() {
  if (!thread_.joinable()) return;
  closing_.store(true, std::memory_order_release);
  clock_.wake();
  thread_.join();
}

void EpochLogger::run() {
  // As the flusher does (log_flusher.cc): its waits are short.
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  while (!has_failed()) {
    // Before gathering: what was published before finish() began must be in it.
    const bool closing = closing_.load(std::memory_order_acquire);
    const LogEpoch begun = clock_.epoch();
    const LogEpoch complete = buffer_.gather(gathered_);
    if (!gathered_.empty() && !flush(gathered_[gathered_.size() - 1].end)) return;
    if (complete > persisted_until()) {
      persisted_until_.store(complete.value, std::memory_order_release);
      horizon_.logger_came_on();
    }
    if (complete < begun) {
      std::this_thread::sleep_for(kPollPause);
    } else if (closing) {
      return;
    } else {
      clock_.await_past(complete,
                        [this] { return closing_.load(std::memory_order_acquire) || horizon_.has_failed(); });
    }
  }
}

// Makes the stream durable up to there. False: the device, or another one, has failed.
bool EpochLogger::flush(StreamPosition end) {
  const uint64_t begin_ns = monotonic_ns();
  const uint64_t persisted = epoch_of(horizon_.durable()).value - first_epoch_.value;
  buffer_.set_persisted_epochs(
      static_cast<uint32_t>(std::min<uint64_t>(persisted, std::numeric_limits<uint32_t>::max())));
  StreamPosition durable;
  while (durable < end) {
    if (has_failed()) return false;
    const StreamPosition next = taken_ < end ? device_->append(buffer_, taken_, end) : taken_;
    if (next > taken_) {
      taken_ = next;
      buffer_.release(taken_);
    } else {
      durable = device_->wait(kLongestPause);
    }
  }
  const std::lock_guard guard(mutex_);
  counters_.flush_ns.record(monotonic_ns() - begin_ns);
  counters_.processor_ns = thread_processor_ns();
  for (; !gathered_.empty(); gathered_.pop()) persisted_.push(gathered_.front());
  return true;
}

bool EpochLogger::has_failed() {
  if (auto failure = device_->failure()) {
    horizon_.fail(std::move(*failure));
    clock_.wake();
  }
  if (!horizon_.has_failed()) return false;
  buffer_.close();
  return true;
}

EpochLogger::Extent EpochLogger::take_persisted(LogEpoch until) {
  const std::lock_guard guard(mutex_);
  for (; !persisted_.empty() && persisted_.front().epoch < until; persisted_.pop()) {
    taken_extent_ = {persisted_.front().end, persisted_.front().records};
  }
  return taken_extent_;
}

FlusherCounters EpochLogger::flusher_counters() const {
  const std::lock_guard guard(mutex_);
  return counters_;
}

}  // namespace mneme
