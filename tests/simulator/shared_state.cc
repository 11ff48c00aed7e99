#include "tests/simulator/shared_state.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace mneme::simulator {

void Shared::tell(const std::string& sentence) {
  const size_t bytes = std::min(sentence.size(), sizeof(fault) - 1);
  std::memcpy(fault, sentence.data(), bytes);
  fault[bytes] = 0;
}

std::span<SharedCall> calls_of(Shared& shared, const Scenario& scenario, uint64_t life, uint64_t worker) {
  return {shared.calls + (life * scenario.workers + worker) * scenario.calls, scenario.calls};
}

SharedMemory::SharedMemory(const Scenario& scenario)
    : bytes_(sizeof(Shared) + sizeof(SharedCall) * scenario.lives * scenario.workers * scenario.calls) {
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  shared_ = new (memory) Shared();
}

SharedMemory::~SharedMemory() {
  ::munmap(shared_, bytes_);
}

}  // namespace mneme::simulator
