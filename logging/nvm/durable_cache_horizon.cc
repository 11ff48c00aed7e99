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
    : appenders_(appenders),
      counter_(begin),
      bounds_(std::make_unique<CachePadded<std::atomic<uint64_t>>[]>(appenders)),
      durable_(begin.value) {
  for (uint32_t worker = 0; worker < appenders; ++worker) {
    bounds_[worker]->store(kNoBound, std::memory_order_relaxed);
  }
}

Lsn DurableCacheHorizon::durable() const {
  uint64_t known = durable_->load(std::memory_order_acquire);
  if (has_failed()) return Lsn{known};
  uint64_t lowest = counter_.drawn().value;  // before the bounds
  for (uint32_t worker = 0; worker < appenders_; ++worker) {
    lowest = std::min(lowest, bounds_[worker]->load(std::memory_order_acquire));
  }
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
