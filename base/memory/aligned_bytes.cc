#include "base/memory/aligned_bytes.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "base/exhaustion.h"
#include "base/memory/huge_pages.h"

namespace mneme {

namespace {

std::byte* allocate(size_t bytes) {
  CHECK(bytes % AlignedBytes::kAlignment == 0);
  const bool huge = bytes >= kHugePageBytes;
  const size_t alignment = huge ? kHugePageBytes : AlignedBytes::kAlignment;
  // Whole pages, so that the last one can be huge, too.
  const size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) out_of_memory(whole);
  if (huge) ::madvise(memory, whole, MADV_HUGEPAGE);  // a wish: refused, the pages are small
  std::memset(memory, 0, whole);
  return static_cast<std::byte*>(memory);
}

}  // namespace

AlignedBytes::AlignedBytes(size_t bytes) : memory_(allocate(bytes)), bytes_(bytes) {}

AlignedBytes::~AlignedBytes() {
  std::free(memory_);
}

}  // namespace mneme
