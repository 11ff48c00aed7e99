// CachePadded<T>: a T alone on its cache lines, so that two threads' Ts never share one.
#pragma once

#include <cstddef>
#include <utility>

namespace mneme {

// 64 on every x86 and most ARM servers. A constant, not std::hardware_destructive_interference_size, because
// layouts must not depend on compiler flags.
inline constexpr size_t kCacheLineBytes = 64;

template <typename T>
struct alignas(kCacheLineBytes) CachePadded {
  T value;

  template <typename... Args>
  explicit CachePadded(Args&&... args) : value(std::forward<Args>(args)...) {}
  T& operator*() { return value; }
  const T& operator*() const { return value; }
  T* operator->() { return &value; }
  const T* operator->() const { return &value; }
};
static_assert(sizeof(CachePadded<char>) == kCacheLineBytes);

}  // namespace mneme
