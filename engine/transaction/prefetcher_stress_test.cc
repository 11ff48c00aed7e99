// Goal: groups of look-ups may run, and rows be peeked at, beside any number of writers. Method: one thread
// changes the even rows' amounts and inserts and erases the odd rows, while two others look up both kinds in
// two rounds and peek at what was found. An even row always tells its own key; of an odd one nothing is
// known, but that reading it is no race.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/testing/test_database.h"
#include "engine/transaction/prefetcher.h"

namespace mneme {
namespace {

constexpr int64_t kPrefetchedRows = 64;
constexpr int kChanges = 20'000;

class PrefetcherStress : public testing::TestWithParam<bool> {};

TEST_P(PrefetcherStress, LooksUpAndPeeksBesideWriters) {
  TestDatabase t(3, GetParam());
  UnloggedWriter loader(t.db);
  for (int64_t id = 0; id < kPrefetchedRows; id += 2)
    CHECK(loader.insert(t.kItem, t.values(id, id % 10, id, 0)) == AccessStatus::kOk);

  std::atomic<bool> done{false};
  const auto read = [&](WorkerId worker) {
    Transaction transaction(t.db, t.db.worker(worker));
    const RowLayout& layout = t.db.schema().layout(t.kItem);
    std::vector<std::byte> image(layout.image_bytes());
    Prefetcher prefetcher;
    while (!done.load(std::memory_order_relaxed)) {
      transaction.begin();
      prefetcher.forget();
      for (const int64_t first : {int64_t{0}, kPrefetchedRows / 2}) {
        std::vector<RowLookup> lookups;
        for (int64_t id = first; id < first + kPrefetchedRows / 2; ++id)
          lookups.push_back({TestDatabase::kById, ImageParts::all(), t.id_key(id)});
        prefetcher.add(t.db, lookups);
        for (int64_t id = first; id < first + kPrefetchedRows / 2; ++id) {
          const auto at = static_cast<size_t>(id);
          const bool found = prefetcher.peek(at, ImageParts::all(), image.data());
          // A writer in the way may hide a row, and in a tree show the one beside it.
          if (prefetcher.take(TestDatabase::kById, t.id_key(id)) == nullptr || id % 2 != 0) continue;
          ASSERT_TRUE(found);
          EXPECT_EQ(layout.get(image.data(), t.kId).as_int(), id);
        }
      }
      transaction.abort();
    }
  };
  std::thread one(read, WorkerId{1}), two(read, WorkerId{2});

  Transaction writer(t.db, t.db.worker(WorkerId{0}));
  for (int i = 0; i < kChanges; ++i) {
    const int64_t id = i * 7 % kPrefetchedRows;
    writer.begin();
    AccessStatus status;
    if (id % 2 == 0) {
      status = t.set(writer, id, t.kAmount, i);
    } else if (t.amount(writer, id)) {
      status = t.erase(writer, id);
    } else {
      status = t.insert(writer, id, id % 10, id, i);
    }
    EXPECT_EQ(status, AccessStatus::kOk);
    EXPECT_EQ(t.commit(writer).status, CommitStatus::kCommitted);
  }
  done.store(true, std::memory_order_relaxed);
  one.join();
  two.join();
}

INSTANTIATE_TEST_SUITE_P(Indexes, PrefetcherStress, testing::Bool(),
                         [](const auto& info) { return info.param ? "Tree" : "Hash"; });

}  // namespace
}  // namespace mneme
