// spin_pause: how to wait for a thread that is about to be done.
//
// Pauses the core the first times, then gives the processor away: with more threads than cores, the one
// waited for may not be running.
#pragma once

#include <cstdint>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mneme {

inline void spin_pause(uint32_t tries) {
  if (tries % 64 == 63) {
    std::this_thread::yield();
    return;
  }
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace mneme
