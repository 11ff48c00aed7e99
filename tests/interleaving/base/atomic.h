// Stands in for base/atomic.h in the interleaving test: an Atomic<T> whose every operation is a step that the
// scheduler may put off. Steps happen one after the other, whatever memory order they ask for: what weaker
// orders allow is ThreadSanitizer's to judge.
#pragma once

#include <atomic>
#include <cstdint>

#include "tests/interleaving/scheduler.h"

namespace mneme {

template <typename T>
class Atomic {
 public:
  Atomic() = default;
  explicit Atomic(T value) : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order) const {
    interleaving::step(interleaving::Step::kRead);
    return value_;
  }
  void store(T value, std::memory_order) { change() = value; }
  T exchange(T value, std::memory_order) {
    T& now = change();
    const T before = now;
    now = value;
    return before;
  }
  T fetch_add(T amount, std::memory_order) {
    T& now = change();
    const T before = now;
    now = static_cast<T>(now + amount);
    return before;
  }
  T fetch_sub(T amount, std::memory_order) {
    T& now = change();
    const T before = now;
    now = static_cast<T>(now - amount);
    return before;
  }
  T fetch_or(T bits, std::memory_order) {
    T& now = change();
    const T before = now;
    now |= bits;
    return before;
  }
  T fetch_and(T bits, std::memory_order) {
    T& now = change();
    const T before = now;
    now &= bits;
    return before;
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) {
    T& now = change();
    if (now == expected) {
      now = desired;
      return true;
    }
    expected = now;
    return false;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) {
    return compare_exchange_strong(expected, desired, success, failure);
  }

 private:
  T& change() {
    interleaving::step(interleaving::Step::kWrite);
    return value_;
  }

  T value_{};
};

}  // namespace mneme
