// prefetch_line, prefetch_lines, prefetch_first_lines: ask for memory that will be read soon, without waiting
// for it.
//
// Invariants  any address may be asked for, also one that is mapped to nothing.
// Compiler    GCC takes __builtin_prefetch for an operation without effects, and deletes a loop of nothing
//             else. The empty asm statement, which it must keep, keeps the loop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cache_line.h"

namespace mneme {

inline void prefetch_line(const void* at) {
  __builtin_prefetch(at);
  asm volatile("" : : "r"(at));
}

// Every line that holds one of the bytes.
inline void prefetch_lines(const void* from, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(from) & ~uintptr_t{kCacheLineBytes - 1};
  const auto end = reinterpret_cast<uintptr_t>(from) + bytes;
  for (uintptr_t at = begin; at < end; at += kCacheLineBytes)
    prefetch_line(reinterpret_cast<const void*>(at));
}

// That many lines from the one that holds the byte: without a branch, for callers that would save none by
// counting bytes.
template <size_t kLines>
inline void prefetch_first_lines(const void* from) {
#pragma GCC unroll 16
  for (size_t line = 0; line < kLines; ++line)
    prefetch_line(static_cast<const std::byte*>(from) + line * kCacheLineBytes);
}

}  // namespace mneme
