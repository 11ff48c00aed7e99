// Stands in for base/spin.h in the interleaving test: a spinning thread waits until another thread has
// written something.
#pragma once

#include <cstdint>

#include "tests/interleaving/scheduler.h"

namespace mneme {

inline void spin_pause(uint32_t) {
  interleaving::wait_for_others();
}

}  // namespace mneme
