#include "logging/nvm/durable_cache_horizon.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace mneme {

namespace {

constexpr int kSpins = 100;
constexpr std::chrono::microseconds kNap{20};

}  // namespace

DurableCacheHorizon::DurableCacheHorizon(Lsn begin, uint32_t appenders)
    : counter_(begin), bounds_(appenders), durable_(begin.value) {}

Lsn DurableCacheHorizon::durable() const {
  uint64_t known = durable_->load(std::memory_order_acquire);
  if (has_failed()) return Lsn{known};
  const uint64_t lowest = bounds_.lowest(counter_.drawn().value);
  while (known < lowest && !durable_->compare_exchange_weak(known, lowest, std::memory_order_acq_rel)) {
  }
  return Lsn{std::max(known, lowest)};
}

bool DurableCacheHorizon::await(Lsn lsn) {
  for (int spin = 0; !(lsn < durable()); ++spin) {
    if (has_failed()) return false;
    if (spin < kSpins) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
  return true;
}

}  // namespace mneme
