// Goal: what came after a savepoint is taken back whole, and what came before it commits.
// Method: as transaction_test.cc: transactions interleaved by hand on one thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "engine/testing/interleaved_transactions.h"

namespace mneme {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SavepointTest : public InterleavedTransactions {};

TEST_P(SavepointTest, ASavepointTakesBackWhatCameAfterIt) {
  a.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 51), AccessStatus::kOk);
  EXPECT_EQ(t.insert(a, 8, 10, 108, 80), AccessStatus::kOk);
  const Transaction::Savepoint point = a.savepoint();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 52), AccessStatus::kOk);
  EXPECT_EQ(t.set(a, 2, t.kCode, 202), AccessStatus::kOk);
  EXPECT_EQ(t.set(a, 3, t.kGroup, 30), AccessStatus::kOk);
  EXPECT_EQ(t.erase(a, 8), AccessStatus::kOk);
  EXPECT_EQ(t.insert(a, 9, 10, 109, 90), AccessStatus::kOk);
  EXPECT_EQ(t.erase(a, 3), AccessStatus::kOk);
  for (int again = 0; again < 2; ++again) {
    EXPECT_TRUE(a.roll_back_to(point));
    EXPECT_EQ(t.amount(a, 1), 51);
    EXPECT_EQ(t.amount(a, 8), 80);
    EXPECT_EQ(t.amount(a, 9), std::nullopt);
    EXPECT_THAT(t.ids_in_group(a, 10), testing::UnorderedElementsAre(1, 2, 3, 8));
    EXPECT_THAT(t.ids_in_group(a, 30), IsEmpty());
    // What was taken back may be done once more, otherwise.
    EXPECT_EQ(t.insert(a, 9, 20, 202, 91 + again), AccessStatus::kOk);
    EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  }
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(committed_amount(1), 60);
  EXPECT_EQ(committed_amount(2), 50);
  EXPECT_EQ(committed_amount(3), 50);
  EXPECT_EQ(committed_amount(8), 80);
  EXPECT_EQ(committed_amount(9), 92);
  EXPECT_THAT(committed_group(10), testing::UnorderedElementsAre(1, 2, 3, 8));
  EXPECT_THAT(committed_group(20), ElementsAre(9));
  tidy();
  EXPECT_EQ(entries(t.kById), 5u);
  EXPECT_EQ(entries(t.kByGroup), 5u);
  EXPECT_EQ(entries(t.kByCode), 5u);
}

TEST_P(SavepointTest, WhatASavepointTookBackDoesNotCommit) {
  a.begin();
  const Transaction::Savepoint point = a.savepoint();
  EXPECT_EQ(t.insert(a, 9, 10, 109, 90), AccessStatus::kOk);
  EXPECT_EQ(t.erase(a, 2), AccessStatus::kOk);
  EXPECT_TRUE(a.roll_back_to(point));
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(committed_amount(9), std::nullopt);
  EXPECT_EQ(committed_amount(2), 50);
  tidy();
  EXPECT_EQ(entries(t.kById), 3u);
  EXPECT_EQ(entries(t.kByCode), 3u);
}

TEST_P(SavepointTest, ARowThatAnotherChangedBehindASavepointIsAConflict) {
  a.begin();
  b.begin();
  const Transaction::Savepoint point = a.savepoint();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 51), AccessStatus::kOk);
  EXPECT_EQ(t.set(b, 1, t.kAmount, 52), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  if (a.roll_back_to(point)) {
    EXPECT_EQ(commit(a), CommitStatus::kConflict);
  }
}

INSTANTIATE_TEST_SUITE_P(Indexes, SavepointTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "Btree" : "Hash";
                         });

}  // namespace
}  // namespace mneme
