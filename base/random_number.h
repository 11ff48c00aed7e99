// unforeseen_number: returns 64 unpredictable bits from the system, for names that must differ between
// machines and processes. Simulations and tests need a seed instead.
#pragma once

#include <cstdint>
#include <random>

namespace mneme {

inline uint64_t unforeseen_number() {
  std::random_device system;
  return uint64_t{system()} << 32 | system();
}

}  // namespace mneme
