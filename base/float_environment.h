// Float environment: the rounding and the traps in which the same numbers come out everywhere, for as long as
// an object of this lives.
//
// A program that brings a database along may round otherwise, flush what is tiny to zero, or trap. What a
// call computes then would not be what its replay computes.
//
// Cost        two registers are read where they are as they should be.
// Threads     its thread's. Threads that are made meanwhile have it, too.
#pragma once

#include <xmmintrin.h>

#include <cfenv>
#include <cstdint>

namespace mneme {

class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() : vector_(_mm_getcsr()) {
    uint16_t x87;
    asm volatile("fnstcw %0" : "=m"(x87));
    // All but what has been raised so far.
    if ((vector_ & ~kRaised) == kVector && (x87 & kX87Bits) == kX87) [[likely]]
      return;
    is_changed_ = true;
    std::fegetenv(&former_);
    std::fesetenv(FE_DFL_ENV);
    _mm_setcsr(kVector);
  }
  ~DefaultFloatEnvironment() {
    if (!is_changed_) [[likely]]
      return;
    std::fesetenv(&former_);
    _mm_setcsr(vector_);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  static constexpr uint32_t kRaised = 0x3f;
  static constexpr uint32_t kVector = 0x1f80;  // to nearest, no traps, tiny numbers kept
  static constexpr uint16_t kX87Bits = 0x0f3f;
  static constexpr uint16_t kX87 = 0x033f;  // the same, at full precision

  const uint32_t vector_;
  bool is_changed_ = false;
  std::fenv_t former_;
};

}  // namespace mneme
