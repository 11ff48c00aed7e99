// NullDevice: takes every record and drops it. Durable at once and after a crash gone: it measures what the
// rest costs.
//
// Threads, waiting: as LogDevice says.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "logging/device/log_device.h"

namespace mneme {

class NullDevice : public LogDevice {
 public:
  explicit NullDevice(StreamPosition begin) : durable_(begin) {}

  StreamPosition append(const LogSource&, StreamPosition begin, StreamPosition end) override {
    if (end > begin) flushes_.fetch_add(1, std::memory_order_relaxed);
    durable_ = end;
    appended_ = true;
    return end;
  }
  StreamPosition wait(std::chrono::nanoseconds limit) override {
    std::unique_lock guard(mutex_);
    if (!appended_) woken_.wait_for(guard, limit, [this] { return wake_is_due_; });
    wake_is_due_ = false;
    appended_ = false;
    return durable_;
  }
  void wake() override {
    const std::lock_guard guard(mutex_);
    wake_is_due_ = true;
    woken_.notify_one();
  }
  DeviceCounters counters() const override { return {flushes_.load(std::memory_order_relaxed), 0, 0}; }
  std::optional<Error> failure() const override { return std::nullopt; }

 private:
  // The flusher's.
  StreamPosition durable_;
  bool appended_ = false;

  std::atomic<uint64_t> flushes_{
      0};             // written by the flusher, read by counters(); relaxed: it orders nothing
  std::mutex mutex_;  // guards wake_is_due_
  std::condition_variable woken_;
  bool wake_is_due_ = false;
};

}  // namespace mneme
