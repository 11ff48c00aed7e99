// Ticks: the processor's own counter, for intervals inside one run: a reading takes a third of
// monotonic_ns()'s time.
//
// Invariants  all cores count alike and steadily, as the kernel asks for before it keeps its own time by this
//             counter. A reading may move past neighbouring instructions, and one core may be some ticks
//             behind another: the difference between two threads' readings may be slightly negative.
// Units       ticks; TickScale holds how many nanoseconds one tick is. Where there is no such counter a tick
//             is a nanosecond.
#pragma once

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <cstdint>

#include "base/clock.h"

namespace mneme {

inline uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return monotonic_ns();
#endif
}

// Both clocks, read at its making and whenever it is asked: over milliseconds the ratio is exact to a
// thousandth.
class TickScale {
 public:
  double ns_per_tick() const {
    const Reading now = read();
    const uint64_t passed = now.tick - first_.tick;
    return passed == 0 ? 1.0 : static_cast<double>(now.ns - first_.ns) / static_cast<double>(passed);
  }
  uint64_t first_tick() const { return first_.tick; }
  uint64_t first_ns() const { return first_.ns; }

 private:
  struct Reading {
    uint64_t ns;
    uint64_t tick;
  };

  // A thread that is interrupted between the two clocks reads them at different times: the tightest of some
  // tries counts.
  static Reading read() {
    constexpr int kTries = 10;
    constexpr uint64_t kTightNs = 1000;
    Reading tightest{};
    uint64_t least_ns = ~uint64_t{0};
    for (int i = 0; i < kTries && least_ns > kTightNs; ++i) {
      const uint64_t before = monotonic_ns();
      const uint64_t tick = ticks();
      const uint64_t gap_ns = monotonic_ns() - before;
      if (gap_ns >= least_ns) continue;
      least_ns = gap_ns;
      tightest = {before + gap_ns / 2, tick};
    }
    return tightest;
  }

  Reading first_ = read();
};

}  // namespace mneme
