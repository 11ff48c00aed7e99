// Goal: memory comes aligned, zeroed and counted; what was touched ahead is given out first, and counts only
// then. Method: direct calls; the kernel (mincore) says which pages are there.
#include "base/memory/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <set>
#include <vector>

namespace mneme {
namespace {

constexpr size_t kSmallPageBytes = 4096;

bool is_touched(std::byte* page) {
  std::vector<unsigned char> resident(kHugePageBytes / kSmallPageBytes);
  EXPECT_EQ(mincore(page, kHugePageBytes, resident.data()), 0);
  return std::ranges::all_of(resident, [](unsigned char state) { return (state & 1) != 0; });
}

TEST(HugePageSource, PiecesAreAlignedZeroedAndCounted) {
  HugePageSource memory;
  for (const size_t alignment : {kHugePageBytes, 4 * kHugePageBytes}) {
    std::byte* piece = memory.allocate(2 * kHugePageBytes, alignment);
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % alignment, 0u);
    for (size_t i = 0; i < 2 * kHugePageBytes; i += kSmallPageBytes) ASSERT_EQ(piece[i], std::byte{0});
    piece[2 * kHugePageBytes - 1] = std::byte{1};
  }
  EXPECT_EQ(memory.bytes_allocated(), 4 * kHugePageBytes);
}

size_t touched_bytes(std::byte* page) {
  std::vector<unsigned char> resident(kHugePageBytes / kSmallPageBytes);
  EXPECT_EQ(mincore(page, kHugePageBytes, resident.data()), 0);
  return kSmallPageBytes * static_cast<size_t>(std::ranges::count_if(
                               resident, [](unsigned char state) { return (state & 1) != 0; }));
}

// So thousands of tables with a few rows each fit into memory.
TEST(HugePageSource, AFirstPieceTakesWhatIsUsedOfIt) {
  HugePageSource memory;
  std::byte* piece = memory.allocate_first(0);
  ASSERT_NE(piece, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % kHugePageBytes, 0u);
  piece[0] = piece[100'000] = std::byte{7};
  EXPECT_EQ(touched_bytes(piece), 2 * kSmallPageBytes);
  memory.outgrown(piece);
  EXPECT_EQ(piece[0], std::byte{7});
  EXPECT_EQ(piece[100'000], std::byte{7});
  EXPECT_EQ(piece[200'000], std::byte{0});
  EXPECT_EQ(memory.bytes_allocated(), kHugePageBytes);
  memory.release(piece);
  EXPECT_EQ(memory.bytes_allocated(), 0u);
}

TEST(HugePageSource, PagesTouchedAheadAreGivenOutFirst) {
  for (const PageSize pages : {PageSize::kHuge, PageSize::kSmall}) {
    HugePageSource memory(pages);
    size_t told = 0;
    const size_t touched = memory.touch_ahead(5 * kHugePageBytes - 1, 3, [&](size_t sum) {
      EXPECT_GT(sum, told);
      told = sum;
    });
    EXPECT_EQ(touched, 5 * kHugePageBytes);
    EXPECT_LE(told, touched);
    EXPECT_EQ(memory.bytes_ready(), touched);
    EXPECT_EQ(memory.bytes_allocated(), 0u) << "nobody has any yet";
    std::set<std::byte*> given;
    for (int i = 0; i < 5; ++i) {
      std::byte* page = memory.allocate(kHugePageBytes);
      ASSERT_NE(page, nullptr);
      EXPECT_TRUE(is_touched(page));
      EXPECT_EQ(page[kSmallPageBytes], std::byte{0});
      given.insert(page);
    }
    EXPECT_EQ(given.size(), 5u);
    EXPECT_EQ(memory.bytes_ready(), 0u);
    EXPECT_EQ(memory.bytes_allocated(), 5 * kHugePageBytes);
    EXPECT_FALSE(is_touched(memory.allocate(kHugePageBytes))) << "the sixth was not asked for ahead";
  }
}

TEST(HugePageSource, TouchesWhatThereIsWhereMemoryIsShort) {
  HugePageSource memory;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit nothing_more{kHugePageBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &nothing_more), 0);
  const size_t touched = memory.touch_ahead(4 * kHugePageBytes, 1, [](size_t) {});
  std::byte* piece = memory.allocate(kHugePageBytes);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(touched, 0u);
  EXPECT_EQ(piece, nullptr);
  EXPECT_EQ(memory.touch_ahead(kHugePageBytes, 1, [](size_t) {}), kHugePageBytes)
      << "and goes on when there is more";
}

}  // namespace
}  // namespace mneme
