// BackOff: how long to wait before what failed is tried again: twice as long each time, up to a limit.
//
// Threads  one owner. It reads no clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace mneme {

class BackOff {
 public:
  BackOff(std::chrono::milliseconds first, std::chrono::milliseconds most)
      : first_(first), most_(most), next_(first) {}

  // After one more failure.
  std::chrono::milliseconds next() { return std::exchange(next_, std::min(2 * next_, most_)); }
  // It went well.
  void reset() { next_ = first_; }

 private:
  const std::chrono::milliseconds first_;
  const std::chrono::milliseconds most_;
  std::chrono::milliseconds next_;
};

}  // namespace mneme
