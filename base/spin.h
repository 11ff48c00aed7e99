// spin_pause: the pause in a loop that waits for another thread, which should be done soon.
//
// `tries` counts the rounds of the loop. Most rounds only pause the core. Every 64th yields the processor,
// because with more threads than cores the other thread may not be running.
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
