// How much a test tries: under a sanitizer each case takes many times as long as without one.
#pragma once

#include <cstdint>

namespace mneme {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#else
inline constexpr bool kIsSanitized = false;
#endif

// A test with many cases that are alike advances by this: by 1, and by `step` under a sanitizer, so that it
// tries every `step`th case there.
constexpr uint32_t step_if_sanitized(uint32_t step) {
  return kIsSanitized ? step : 1;
}

}  // namespace mneme
