// Ticks: the processor's own counter, for intervals inside one run: a reading takes a third of monotonic_ns()'s time.
//
// Invariants  all cores count alike and steadily, as the kernel asks for before it keeps its own time by this counter.
//             A reading may move past neighbouring instructions, and one core may be some ticks behind another: whoever
//             subtracts readings of two threads must bear a small negative difference.
// Units       ticks; TickScale says how many nanoseconds one is. Where there is no such counter a tick is a nanosecond.
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

// Both clocks, read at its making and whenever it is asked: over milliseconds the ratio is exact to a thousandth.
class TickScale {
 public:
  double ns_per_tick() const {
    const uint64_t passed = ticks() - first_tick_;
    return passed == 0 ? 1.0 : static_cast<double>(monotonic_ns() - first_ns_) / static_cast<double>(passed);
  }
  uint64_t first_tick() const { return first_tick_; }
  uint64_t first_ns() const { return first_ns_; }

 private:
  uint64_t first_ns_ = monotonic_ns();
  uint64_t first_tick_ = ticks();
};

}  // namespace mneme
