// DelayedDevice: another device, made slower: what was appended is durable no sooner than a given time after.
//
// So slow devices can be studied where there are none. It sleeps through the latency, which occupies no
// processor.
//
// Invariants  an append occupies one of `depth` places until it is durable and its time is over, as on a
//             device that is as slow by nature; append() takes nothing while all are occupied.
// Threads, waiting, errors  as LogDevice says.
// Units       the latency counts from append(). Where the other device takes longer, nothing is added.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>

#include "base/clock.h"
#include "logging/device/log_device.h"

namespace mneme {

struct DelayedDeviceOptions {
  StreamPosition begin = kFirstPosition;
  std::chrono::nanoseconds latency{0};
  uint32_t depth = 1;
};

class DelayedDevice : public LogDevice {
 public:
  DelayedDevice(std::unique_ptr<LogDevice> device, const DelayedDeviceOptions& options)
      : device_(std::move(device)),
        options_(options),
        inner_durable_(options.begin),
        durable_(options.begin) {}

  StreamPosition append(const LogSource& source, StreamPosition begin, StreamPosition end) override {
    if (in_flight_.size() == options_.depth) return begin;
    const StreamPosition taken = device_->append(source, begin, end);
    if (taken > begin) {
      in_flight_.push_back({taken, monotonic_ns() + static_cast<uint64_t>(options_.latency.count())});
    }
    return taken;
  }

  StreamPosition wait(std::chrono::nanoseconds limit) override {
    inner_durable_ = device_->wait(std::min(limit, until_due()));
    const uint64_t now = monotonic_ns();
    while (!in_flight_.empty() && in_flight_.front().end <= inner_durable_ &&
           in_flight_.front().due_ns <= now) {
      durable_ = in_flight_.front().end;
      in_flight_.pop_front();
    }
    return durable_;
  }
  void wake() override { device_->wake(); }
  DeviceCounters counters() const override { return device_->counters(); }
  LogSpace space() override { return device_->space(); }
  std::optional<Error> failure() const override { return device_->failure(); }

 private:
  struct Append {
    StreamPosition end;
    uint64_t due_ns;
  };

  // How long until the oldest append is over, if only its time is missing.
  std::chrono::nanoseconds until_due() const {
    if (in_flight_.empty() || in_flight_.front().end > inner_durable_) return std::chrono::nanoseconds::max();
    const uint64_t now = monotonic_ns();
    return std::chrono::nanoseconds(in_flight_.front().due_ns - std::min(in_flight_.front().due_ns, now));
  }

  const std::unique_ptr<LogDevice> device_;
  const DelayedDeviceOptions options_;

  // Owned by the flusher.
  StreamPosition inner_durable_;
  StreamPosition durable_;
  std::deque<Append> in_flight_;  // in log order
};

}  // namespace mneme
