#include "tests/adding_one/counting_device.h"

#include <memory>

#include "logging/device/device_factory.h"

namespace mneme {

StreamPosition CountingDevice::append(const LogSource&, StreamPosition begin, StreamPosition end) {
  bytes_.fetch_add(end.value - begin.value, std::memory_order_relaxed);
  durable_ = end;
  has_news_ = true;
  return end;
}

StreamPosition CountingDevice::wait(std::chrono::nanoseconds limit) {
  std::unique_lock guard(mutex_);
  if (!has_news_) woken_.wait_for(guard, limit, [this] { return is_woken_; });
  is_woken_ = false;
  has_news_ = false;
  return durable_;
}

void CountingDevice::wake() {
  const std::lock_guard guard(mutex_);
  is_woken_ = true;
  woken_.notify_one();
}

DeviceCounters CountingDevice::counters() const {
  return {.device_bytes = bytes_.load(std::memory_order_relaxed)};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as the table has it; other devices keep what they take
Result<OpenedDevice> open_counting_device(LogDeviceRequest request) {
  OpenedDevice opened;
  opened.device = std::make_unique<CountingDevice>(request.file.begin);
  return opened;
}

}  // namespace mneme
