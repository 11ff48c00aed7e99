// EpochOptions: of a log in the layout `epoch` (epoch_log.h).
#pragma once

#include <chrono>
#include <cstdint>

namespace mneme {

inline constexpr std::chrono::microseconds kDefaultEpoch{5000};

struct EpochOptions {
  uint32_t loggers = 0;  // 0: one for eight workers, and at least one for each directory
  std::chrono::microseconds interval = kDefaultEpoch;  // of an epoch, at most; positive
};

}  // namespace mneme
