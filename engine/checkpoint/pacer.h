// Pacer: lets a thread work for a share of the time only, in short turns, so that it takes little from others
// where there are no more processors than threads.
//
// Threads     one. Units: a share of 1 never rests.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/clock.h"

namespace mneme {

class Pacer {
 public:
  explicit Pacer(double share) : rest_per_work_(1 / share - 1) {}

  // Call it often. `hurry`: there is a reason to go on at once.
  void rest_if_due(bool hurry) {
    if (rest_per_work_ <= 0) return;
    const uint64_t now = monotonic_ns();
    const uint64_t worked = now - turn_began_ns_;
    if (worked < kTurnNs) return;
    if (!hurry) {
      // A turn that lasted longer, because others had the processor meanwhile, is no reason to rest for
      // longer.
      const auto rest = static_cast<double>(std::min(worked, 4 * kTurnNs)) * rest_per_work_;
      std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<int64_t>(rest)));
    }
    turn_began_ns_ = monotonic_ns();
  }

 private:
  // Long enough that waking up costs little beside it, and shorter than what a scheduler gives a thread at a
  // time.
  static constexpr uint64_t kTurnNs = 200'000;

  const double rest_per_work_;
  uint64_t turn_began_ns_ = monotonic_ns();
};

}  // namespace mneme
