// CountingDevice: drops the log, and counts its bytes. An example: docs/HACKING.md adds it.
//
// Invariants  what append() takes is durable at the next wait().
// Threads     as LogDevice says.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "logging/device/log_device.h"

namespace mneme {

class CountingDevice : public LogDevice {
 public:
  explicit CountingDevice(StreamPosition begin) : durable_(begin) {}

  StreamPosition append(const LogSource& source, StreamPosition begin, StreamPosition end) override;
  StreamPosition wait(std::chrono::nanoseconds limit) override;
  void wake() override;
  DeviceCounters counters() const override;
  std::optional<Error> failure() const override { return std::nullopt; }

 private:
  StreamPosition durable_;  // the flusher's
  bool has_news_ = false;
  std::atomic<uint64_t> bytes_{0};  // written by the flusher, read by counters(); relaxed: a count
  std::mutex mutex_;                // guards is_woken_
  std::condition_variable woken_;
  bool is_woken_ = false;
};

}  // namespace mneme
