// 64 unforeseeable bits from the system: for names that must differ between machines and processes. Not for
// simulations and tests, which want a seed.
#pragma once

#include <cstdint>
#include <random>

namespace mneme {

inline uint64_t unforeseen_number() {
  std::random_device system;
  return uint64_t{system()} << 32 | system();
}

}  // namespace mneme
