// Goal: an index that no thread reads takes all changes, and lets no thread read it. Method: each function
// of Index.
#include "engine/index/unread_index.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

TEST(UnreadIndex, TakesChangesAndKeepsNoEntry) {
  const std::unique_ptr<Index> index = make_unread_index(1);
  EXPECT_EQ(index->key_words(), 1u);
  const uint64_t key = 7;
  Row* existing = nullptr;
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(index->insert(&key, nullptr, existing, nullptr), Index::InsertStatus::kInserted);
  const IndexEntry entries[] = {{&key, nullptr}, {&key, nullptr}};
  InsertHint hint;
  size_t done = 0;
  EXPECT_EQ(index->insert_run(entries, hint, done, existing), Index::InsertStatus::kInserted);
  EXPECT_EQ(done, 2u);
  EXPECT_TRUE(index->replace(&key, nullptr, nullptr, nullptr));
  EXPECT_TRUE(index->erase(&key, nullptr));
  index->for_each([](const uint64_t*, Row*) { FAIL(); });
  EXPECT_EQ(index->memory_bytes(), 0u);
  index->verify();
}

TEST(UnreadIndex, ALookUpAheadFindsNothing) {
  const std::unique_ptr<Index> index = make_unread_index(1);
  const uint64_t key = 7;
  AheadLookup lookup{.key = &key};
  AheadLookup* const lookups[] = {&lookup};
  index->find_ahead(lookups);
  EXPECT_EQ(lookup.row, nullptr);
}

TEST(UnreadIndexDeathTest, WhoReadsItEndsTheProcess) {
  const std::unique_ptr<Index> index = make_unread_index(1);
  const uint64_t key = 7;
  NodeVersion node;
  EXPECT_DEATH((void)index->find(&key, node), "");
  IndexCursor cursor({&key, 1}, {&key, 1}, ScanDirection::kForward);
  EXPECT_DEATH((void)index->next(cursor), "");
}

}  // namespace
}  // namespace mneme
