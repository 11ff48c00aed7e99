// Processor time, in nanoseconds: what the calling thread has used so far, and what all threads of the
// process have.
#pragma once

#include <cstdint>
#include <ctime>

namespace mneme {

inline uint64_t processor_ns(clockid_t clock) {
  timespec used;
  clock_gettime(clock, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

inline uint64_t thread_processor_ns() {
  return processor_ns(CLOCK_THREAD_CPUTIME_ID);
}
inline uint64_t process_processor_ns() {
  return processor_ns(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace mneme
