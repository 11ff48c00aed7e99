// Goal: memory is aligned for direct I/O, large memory for huge pages; it is zeroed, and of the size asked
// for. Method: direct calls, at sizes around a huge page.
#include "base/memory/aligned_bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/memory/huge_pages.h"

namespace mneme {
namespace {

TEST(AlignedBytes, AreAlignedZeroedAndOfTheSizeAskedFor) {
  constexpr size_t kPage = AlignedBytes::kAlignment;
  for (const size_t bytes : {kPage, kHugePageBytes - kPage, kHugePageBytes, kHugePageBytes + kPage}) {
    const AlignedBytes memory(bytes);
    EXPECT_EQ(memory.size(), bytes);
    const size_t alignment = bytes < kHugePageBytes ? kPage : kHugePageBytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % alignment, 0u) << bytes << " bytes";
    EXPECT_TRUE(is_zeros(memory.span()));
    memory.span().back() = std::byte{1};
  }
}

TEST(AlignedBytes, MoveWithTheirMemory) {
  AlignedBytes first(AlignedBytes::kAlignment);
  first.data()[0] = std::byte{7};
  const AlignedBytes second(std::move(first));
  EXPECT_EQ(second.data()[0], std::byte{7});
}

}  // namespace
}  // namespace mneme
