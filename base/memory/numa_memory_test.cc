// Goal: memory lies on the node that it was asked for, as the kernel reports; each node has pages of its own.
// Method: move_pages() and get_mempolicy() asked about pages, on as many nodes as the machine has; and two
// nodes made up, between which a thread moves at will.
#include "base/memory/numa_memory.h"

#include <gtest/gtest.h>
#include <numaif.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "base/memory/huge_pages.h"

namespace mneme {
namespace {

// Returns the node of a touched page; below 0, an error's number.
int node_of_page(std::byte* page) {
  void* pages[] = {page};
  int status[] = {-1};
  return move_pages(0, 1, pages, nullptr, status, 0) == 0 ? status[0] : -errno;
}

int policy_of(std::byte* page) {
  int mode = -1;
  return get_mempolicy(&mode, nullptr, 0, page, MPOL_F_ADDR) == 0 ? mode : -errno;
}

// A sandbox may refuse the question; then that the memory is there and can be written is all that there is to
// test.
bool lies_between(std::byte* page, uint32_t first, uint32_t end) {
  const int node = node_of_page(page);
  return node == -EPERM || node == -ENOSYS ||
         (node >= static_cast<int>(first) && node < static_cast<int>(end));
}

thread_local uint32_t made_up_node = 0;
const NumaView kTwoNodes{2, [] { return made_up_node; }};

TEST(NumaMemory, PagesLieOnTheNodeTheyWereAskedFor) {
  for (const PageSize pages : {PageSize::kHuge, PageSize::kSmall}) {
    HugePageSource memory(pages);
    const uint32_t nodes = memory.numa().nodes;
    ASSERT_EQ(memory.touch_ahead(2 * nodes * kHugePageBytes, 2, [](size_t) {}), 2 * nodes * kHugePageBytes);
    for (uint32_t node = 0; node < nodes; ++node) {
      for (int i = 0; i < 4; ++i) {  // touched ahead, and not
        std::byte* page = memory.allocate_on(node, kHugePageBytes);
        ASSERT_NE(page, nullptr);
        page[0] = std::byte{1};
        EXPECT_TRUE(lies_between(page, node, node + 1)) << "page " << i << ": " << node_of_page(page);
      }
    }
    std::byte* own = memory.allocate(kHugePageBytes);
    own[0] = std::byte{1};
    EXPECT_TRUE(lies_between(own, 0, nodes)) << node_of_page(own);
  }
}

TEST(NumaMemory, TheKernelIsToldThePreferredNode) {
  void* mapped = mmap(nullptr, kHugePageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* page = static_cast<std::byte*>(mapped);
  if (!prefer_node(page, kHugePageBytes, 0)) {
    EXPECT_TRUE(errno == EPERM || errno == ENOSYS) << strerror(errno);
  } else {
    EXPECT_EQ(policy_of(page), MPOL_PREFERRED);
    page[0] = std::byte{1};
    EXPECT_TRUE(lies_between(page, 0, 1)) << node_of_page(page);
    interleave_nodes(page, kHugePageBytes);
    EXPECT_EQ(policy_of(page), MPOL_INTERLEAVE);
  }
  EXPECT_FALSE(prefer_node(page, kHugePageBytes, 1000)) << "no machine has so many";
  munmap(mapped, kHugePageBytes);
}

TEST(NumaMemory, AThreadGetsItsNodesPages) {
  HugePageSource memory(PageSize::kHuge, kTwoNodes);
  memory.touch_ahead(6 * kHugePageBytes, 2, [](size_t) {});
  std::set<std::byte*> given;
  made_up_node = 1;
  for (int i = 0; i < 4; ++i) given.insert(memory.allocate(kHugePageBytes));
  EXPECT_EQ(memory.bytes_ready(), 3 * kHugePageBytes)
      << "the fourth was mapped, not taken from the other node";
  made_up_node = 0;
  for (int i = 0; i < 3; ++i) given.insert(memory.allocate(kHugePageBytes));
  EXPECT_EQ(memory.bytes_ready(), 0u);
  EXPECT_EQ(given.size(), 7u);
}

}  // namespace
}  // namespace mneme
