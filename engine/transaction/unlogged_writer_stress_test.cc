// Goal: threads may load and replay into one table at once, each with its own writer. Method: each inserts,
// changes and erases rows of its own; the outcome is known, and all indexes agree with it.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/testing/test_database.h"
#include "engine/transaction/digest.h"

namespace mneme {
namespace {

class UnloggedWriterStressTest : public testing::TestWithParam<bool> {};

void load(TestDatabase& t, int64_t first, int64_t step, int64_t end) {
  UnloggedWriter writer(t.db);
  for (int64_t id = first; id < end; id += step) {
    ASSERT_EQ(writer.insert(t.kItem, t.values(id, id % 7, id, 1)), AccessStatus::kOk);
    if (id % 2 == 0) continue;
    Row* row = writer.find(t.kById, t.id_key(id));
    ASSERT_NE(row, nullptr);
    const ColumnValue changes[] = {{t.kGroup, Value::of_int(id % 5)}, {t.kAmount, Value::of_int(id)}};
    ASSERT_EQ(writer.update(t.kItem, row, changes), AccessStatus::kOk);
    // Erased slots go to the next insert at once.
    if (id % 3 == 0) writer.erase(t.kItem, row);
  }
}

TEST_P(UnloggedWriterStressTest, ManyThreadsWriteIntoOneTable) {
  constexpr int64_t kEnd = 12000;
  TestDatabase together(1, GetParam()), alone(1, GetParam());
  load(alone, 0, 1, kEnd);
  {
    std::vector<std::jthread> threads;
    for (int64_t i = 0; i < 3; ++i) threads.emplace_back([&, i] { load(together, i, 3, kEnd); });
  }
  EXPECT_EQ(digest_of(together.db, 2), digest_of(alone.db, 1));
  const Result<IndexReport> report = verify_indexes(together.db);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->rows, static_cast<uint64_t>(kEnd - kEnd / 6));
  EXPECT_EQ(report->waiting, 0u);
}

INSTANTIATE_TEST_SUITE_P(Indexes, UnloggedWriterStressTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "Btree" : "Hash";
                         });

}  // namespace
}  // namespace mneme
