// Goal: what a prefetched group found stands in for a look-up exactly as long as it may. Method: groups of
// look-ups of rows that are there, that are not, and that change between the prefetching and the reading; a
// transaction must see what it sees without prefetching.
#include "engine/transaction/prefetcher.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "engine/index/unread_index.h"
#include "engine/testing/test_database.h"
#include "engine/transaction/replay_access.h"

namespace mneme {
namespace {

class PrefetcherTest : public testing::TestWithParam<bool> {
 protected:
  PrefetcherTest()
      : t(2, GetParam()), transaction(t.db, t.db.worker(WorkerId{0})), other(t.db, t.db.worker(WorkerId{1})) {
    UnloggedWriter writer(t.db);
    for (int64_t id = 0; id < 100; id += 2)
      CHECK(writer.insert(t.kItem, t.values(id, id % 10, id, 7 * id)) == AccessStatus::kOk);
  }
  void TearDown() override {
    transaction.abort();
    other.abort();
  }

  std::vector<RowLookup> lookups_of(std::initializer_list<int64_t> ids) const {
    std::vector<RowLookup> lookups;
    for (const int64_t id : ids) lookups.push_back({TestDatabase::kById, ImageParts::all(), t.id_key(id)});
    return lookups;
  }
  Prefetcher run(std::initializer_list<int64_t> ids) {
    Prefetcher prefetcher;
    prefetcher.start(t.db, lookups_of(ids));
    return prefetcher;
  }
  Row* take(Prefetcher& prefetcher, int64_t id) { return prefetcher.take(TestDatabase::kById, t.id_key(id)); }
  Row* row_of(int64_t id) const {
    NodeVersion node;
    return t.db.index(TestDatabase::kById).index->find(t.id_key(id).words.data(), node);
  }

  TestDatabase t;
  Transaction transaction;
  Transaction other;
};

TEST_P(PrefetcherTest, TellsTheRowsThatItFoundInOrderAndOnce) {
  Prefetcher prefetcher = run({4, 5, 10, 98});
  EXPECT_EQ(take(prefetcher, 4), row_of(4));
  EXPECT_EQ(take(prefetcher, 5), nullptr) << "there is no such row";
  EXPECT_EQ(take(prefetcher, 98), row_of(98)) << "one may be left out";
  EXPECT_EQ(take(prefetcher, 4), nullptr);
  EXPECT_EQ(take(prefetcher, 98), nullptr);
}

TEST_P(PrefetcherTest, TellsNothingOfOtherKeysOrIndexesOrOnceItHasForgotten) {
  Prefetcher prefetcher = run({4, 6});
  EXPECT_EQ(take(prefetcher, 8), nullptr);
  EXPECT_EQ(prefetcher.take(TestDatabase::kByCode, t.id_key(4)), nullptr);
  prefetcher.forget();
  EXPECT_EQ(take(prefetcher, 4), nullptr);
}

TEST_P(PrefetcherTest, TellsWhatRowsHoldAndGoesOnInRounds) {
  Prefetcher prefetcher = run({4, 5});
  const RowLayout& layout = t.db.schema().layout(t.kItem);
  std::vector<std::byte> image(layout.image_bytes());
  ASSERT_TRUE(prefetcher.peek(0, ImageParts::all(), image.data()));
  EXPECT_EQ(layout.get(image.data(), t.kAmount).as_int(), 28);
  EXPECT_EQ(prefetcher.peek(1, ImageParts::all(), image.data()), GetParam()) << "in a tree, the row behind";

  prefetcher.add(t.db, lookups_of({28, 30}));
  EXPECT_EQ(prefetcher.size(), 4u);
  ASSERT_TRUE(prefetcher.peek(3, ImageParts::all(), image.data()));
  EXPECT_EQ(layout.get(image.data(), t.kAmount).as_int(), 210);
  EXPECT_EQ(take(prefetcher, 28), row_of(28));
  EXPECT_EQ(take(prefetcher, 4), row_of(4)) << "each round has an order of its own";
  EXPECT_EQ(take(prefetcher, 30), row_of(30));
}

TEST_P(PrefetcherTest, TakesNoMoreThanThereIsRoomFor) {
  std::vector<RowLookup> many(Prefetcher::kMaxLookups - 1, lookups_of({4})[0]);
  Prefetcher prefetcher;
  prefetcher.start(t.db, many);
  prefetcher.add(t.db, lookups_of({6, 8}));
  EXPECT_EQ(prefetcher.size(), Prefetcher::kMaxLookups);
  EXPECT_EQ(take(prefetcher, 6), row_of(6));
  EXPECT_EQ(take(prefetcher, 8), nullptr);
  for (size_t round = 2; round < Prefetcher::kMaxRounds + 1; ++round) prefetcher.add(t.db, lookups_of({8}));
  EXPECT_EQ(prefetcher.size(), Prefetcher::kMaxLookups);
}

TEST_P(PrefetcherTest, APlaceIsNoRow) {
  Prefetcher prefetcher;
  std::vector<RowLookup> lookups = lookups_of({4, 6});
  if (GetParam()) lookups[0].is_place = true;
  prefetcher.start(t.db, lookups);
  EXPECT_EQ(take(prefetcher, 4), GetParam() ? nullptr : row_of(4));
  EXPECT_EQ(take(prefetcher, 6), row_of(6));
}

// The other transaction deletes one row, changes one and inserts one between the prefetching and the reading.
TEST_P(PrefetcherTest, ATransactionSeesTheChangesSinceThePrefetching) {
  transaction.begin();
  transaction.prefetch(lookups_of({20, 22, 23}));

  other.begin();
  ASSERT_EQ(t.erase(other, 20), AccessStatus::kOk);
  ASSERT_EQ(t.set(other, 22, t.kAmount, -1), AccessStatus::kOk);
  ASSERT_EQ(t.insert(other, 23, 3, 23, -2), AccessStatus::kOk);
  ASSERT_EQ(t.commit(other).status, CommitStatus::kCommitted);

  EXPECT_EQ(t.amount(transaction, 20), std::nullopt);
  EXPECT_EQ(t.amount(transaction, 22), -1);
  EXPECT_EQ(t.amount(transaction, 23), -2);
  EXPECT_EQ(t.commit(transaction).status, CommitStatus::kCommitted);
}

// A read by way of the prefetcher is validated as any other read is.
TEST_P(PrefetcherTest, AChangeAfterTheReadingAborts) {
  transaction.begin();
  transaction.prefetch(lookups_of({30, 32}));
  ASSERT_EQ(t.amount(transaction, 30), 210);
  other.begin();
  ASSERT_EQ(t.set(other, 30, t.kAmount, -1), AccessStatus::kOk);
  ASSERT_EQ(t.commit(other).status, CommitStatus::kCommitted);
  ASSERT_EQ(t.set(transaction, 32, t.kAmount, 1), AccessStatus::kOk);
  EXPECT_EQ(t.commit(transaction).status, CommitStatus::kConflict);
}

// Replay's access, beside an index that must not be read.
TEST(ConstantRowsOfReplay, AreFoundWithoutTheIndex) {
  TestDatabase t;
  {
    UnloggedWriter writer(t.db);
    for (int64_t id = 0; id < 20; id += 2)
      ASSERT_EQ(writer.insert(t.kItem, t.values(id, id % 10, id, 7 * id)), AccessStatus::kOk);
  }
  const std::optional<ConstantRows> rows = ConstantRows::make(t.db.table(t.kItem), t.db.index(t.kById));
  ASSERT_TRUE(rows.has_value());
  const std::unique_ptr<Index> index = t.db.table(t.kItem).exchange(t.kById, make_unread_index(1));
  const std::array<const ConstantRows*, 3> by_index = {&*rows, nullptr, nullptr};
  ReplayAccess access(t.db);
  access.use(by_index);
  std::vector<RowLookup> lookups;
  for (const int64_t id : {4, 5, 6}) lookups.push_back({t.kById, ImageParts::all(), t.id_key(id)});
  access.expect(lookups);
  EXPECT_GE(access.lines_asked_for(), 2u);
  for (const int64_t id : {4, 5, 6, 8}) {
    RowRef row;
    const AccessStatus status = access.find(t.kById, t.id_key(id), row);
    ASSERT_EQ(status, id % 2 == 0 ? AccessStatus::kOk : AccessStatus::kAbsent) << id;
    if (id % 2 == 0) {
      EXPECT_EQ(t.get(row, t.kAmount), 7 * id);
    }
  }
}

class ExpectedRowsTest : public testing::TestWithParam<bool> {
 protected:
  ExpectedRowsTest() : t(1, GetParam()) {
    UnloggedWriter writer(t.db);
    for (int64_t id = 0; id < 100; id += 2)
      CHECK(writer.insert(t.kItem, t.values(id, id % 10, id, 7 * id)) == AccessStatus::kOk);
  }
  void expect(std::initializer_list<int64_t> ids) {
    lookups.clear();
    for (const int64_t id : ids) lookups.push_back({t.kById, ImageParts::all(), t.id_key(id)});
    access.expect(lookups);
  }
  // The amount of the row with this number, or nothing.
  std::optional<int64_t> amount(int64_t id) {
    RowRef row;
    if (access.find(t.kById, t.id_key(id), row) != AccessStatus::kOk) return std::nullopt;
    return t.get(row, t.kAmount);
  }
  void erase(int64_t id) {
    RowRef row;
    ASSERT_EQ(access.find(t.kById, t.id_key(id), row), AccessStatus::kOk);
    ASSERT_EQ(access.erase(t.kItem, row), AccessStatus::kOk);
  }

  TestDatabase t;
  std::vector<RowLookup> lookups;
  ReplayAccess access{t.db};
};

TEST_P(ExpectedRowsTest, AreFoundInTheirOrderWhateverIsLeftOut) {
  expect({4, 5, 10, 12, 98});
  EXPECT_EQ(amount(4), 28);
  EXPECT_EQ(amount(12), 84);
  EXPECT_EQ(amount(5), std::nullopt);
  EXPECT_EQ(amount(98), 686);
  EXPECT_EQ(amount(4), 28);
  access.go_on_at(3);
  EXPECT_EQ(amount(12), 84);
}

// An erased row's place is taken by the next row that comes in.
TEST_P(ExpectedRowsTest, AreNotThoseThatWereErasedSince) {
  expect({4, 6, 4, 8, 6});
  erase(4);
  ASSERT_EQ(access.insert(t.kItem, t.values(101, 1, 101, -1)), AccessStatus::kOk);
  EXPECT_EQ(amount(6), 42);
  EXPECT_EQ(amount(4), std::nullopt);
  EXPECT_EQ(amount(8), 56);
  EXPECT_EQ(amount(6), 42);
  EXPECT_EQ(amount(101), -1);
}

TEST_P(ExpectedRowsTest, AreNotThoseWhoseKeysChangedSince) {
  expect({4, 4, 103});
  RowRef row;
  ASSERT_EQ(access.find(t.kById, t.id_key(4), row), AccessStatus::kOk);
  const ColumnValue changed[] = {{t.kId, Value::of_int(103)}};
  ASSERT_EQ(access.update(t.kItem, row, changed), AccessStatus::kOk);
  EXPECT_EQ(amount(4), std::nullopt);
  EXPECT_EQ(amount(103), 28);
}

INSTANTIATE_TEST_SUITE_P(Indexes, ExpectedRowsTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Tree" : "Hash"; });

INSTANTIATE_TEST_SUITE_P(Indexes, PrefetcherTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Tree" : "Hash"; });

}  // namespace
}  // namespace mneme
