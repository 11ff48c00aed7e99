// Monotonic time in nanoseconds, for intervals; never a calendar time.
#pragma once

#include <cstdint>
#include <ctime>

namespace mneme {

inline uint64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

inline double seconds_since(uint64_t begin_ns) {
  return static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
}

}  // namespace mneme
