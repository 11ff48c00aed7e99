// Goal: of keys that grow in several runs in turn, each run's end is known; a hint that is wrong does no
// harm. Method: a tree of such runs, and what is known of the next key before each insert.
#include "engine/index/insert_hints.h"

#include <gtest/gtest.h>

#include <array>

namespace mneme {
namespace {

using Key = std::array<uint64_t, 2>;

constexpr uint64_t kLength = 500;

class InsertHintsTest : public testing::TestWithParam<uint64_t> {
 protected:
  bool insert(const Key& key) {
    Row* existing = nullptr;
    return index->insert(key.data(), reinterpret_cast<Row*>(uintptr_t{64}), existing, nullptr,
                         &hints.of(key.data(), key.size())) == Index::InsertStatus::kInserted;
  }

  HugePageSource memory;
  std::unique_ptr<Index> index = make_btree_index(2, memory);
  InsertHints hints;
};

TEST_P(InsertHintsTest, TheEndOfEachRunIsKnownUnlessAnotherTookItsPlace) {
  const uint64_t runs = GetParam();
  uint64_t known = 0;
  for (uint64_t n = 1; n <= kLength; ++n) {
    for (uint64_t run = 0; run < runs; ++run) {
      const Key key{run, n};
      known += hints.know(key.data(), 2) ? 1 : 0;
      ASSERT_TRUE(insert(key));
      ASSERT_FALSE(insert(key));
      const Key before{run, n - 1};
      EXPECT_FALSE(hints.know(before.data(), 2));
    }
  }
  index->verify();
  size_t entries = 0;
  index->for_each([&](const uint64_t*, Row*) { ++entries; });
  EXPECT_EQ(entries, runs * kLength);
  // Thousands of runs share the places of a few hundred.
  if (runs <= 40) {
    EXPECT_GT(known, runs * kLength * 8 / 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, InsertHintsTest, testing::Values(1, 10, 40, 2000),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace mneme
