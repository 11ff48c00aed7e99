#include "logging/log_ring.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>

#include "base/check.h"

namespace mneme {

namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

std::byte* allocate(size_t bytes) {
  CHECK(std::has_single_bit(bytes));
  const size_t alignment = bytes < kHugePageBytes ? 4096 : kHugePageBytes;
  CHECK(bytes >= alignment);
  void* memory = std::aligned_alloc(alignment, bytes);
  CHECK(memory != nullptr);
  ::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: refused, the ring has small pages
  std::memset(memory, 0, bytes);            // faults every page in now, not in somebody's commit
  return static_cast<std::byte*>(memory);
}

}  // namespace

LogRing::LogRing(size_t capacity_bytes) : capacity_(capacity_bytes), memory_(allocate(capacity_bytes)) {}

LogRing::~LogRing() {
  std::free(memory_);
}

}  // namespace mneme
