// InterleavedTransactions: a test's two transactions on three rows, which the test interleaves by hand on one
// thread.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/testing/test_database.h"
#include "engine/transaction/transaction.h"

namespace mneme {

// Every test runs with ordered and with hash indexes under the unique keys.
class InterleavedTransactions : public testing::TestWithParam<bool> {
 protected:
  InterleavedTransactions()
      : t(3, GetParam()), a(t.db, t.db.worker(WorkerId{0})), b(t.db, t.db.worker(WorkerId{1})) {
    UnloggedWriter writer(t.db);
    for (int64_t id = 1; id <= 3; ++id) {
      CHECK(writer.insert(t.kItem, t.values(id, 10, 100 + id, 50)) == AccessStatus::kOk);
    }
  }
  void TearDown() override {
    a.abort();
    b.abort();
    for (const TableIndex& index : t.db.table(t.kItem).indexes()) index.index->verify();
  }

  static CommitStatus commit(Transaction& x) { return TestDatabase::commit(x).status; }
  std::optional<int64_t> committed_amount(int64_t id) {
    a.begin();
    const std::optional<int64_t> amount = t.amount(a, id);
    EXPECT_EQ(commit(a), CommitStatus::kCommitted);
    return amount;
  }
  std::vector<int64_t> committed_group(int64_t group) {
    a.begin();
    const std::vector<int64_t> ids = t.ids_in_group(a, group);
    EXPECT_EQ(commit(a), CommitStatus::kCommitted);
    return ids;
  }
  // Durable and out of everybody's sight: all that tidying can do is done.
  void tidy() {
    for (int round = 0; round < 3; ++round) {
      for (uint32_t i = 0; i < t.db.worker_count(); ++i) t.db.worker(WorkerId{i}).tidy(t.log, 1000);
    }
  }
  size_t entries(IndexId id) {
    size_t count = 0;
    t.db.index(id).index->for_each([&](const uint64_t*, Row*) { ++count; });
    return count;
  }

  TestDatabase t;
  Transaction a;
  Transaction b;
};

}  // namespace mneme
