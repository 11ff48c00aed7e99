// Goal: under two-phase locking, no transaction sees or overwrites what a running transaction has written,
// nor, without early lock release, what is not durable yet. Method: transactions interleaved by hand on one
// thread; each that meets a lock is the younger one, and dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/test_database.h"
#include "engine/transaction/digest.h"

namespace mneme {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TransactionLockingTest : public testing::Test {
 protected:
  explicit TransactionLockingTest(bool early_lock_release = true) : t(3) {
    UnloggedWriter writer(t.db);
    for (int64_t id = 1; id <= 3; ++id) {
      CHECK(writer.insert(t.kItem, t.values(id, 10, 100 + id, 50)) == AccessStatus::kOk);
    }
    t.db.set_concurrency({ConcurrencyControl::kTwoPhaseLocking, early_lock_release});
  }
  void TearDown() override {
    for (Transaction* each : {&a, &b, &c}) each->abort();
    const Result<IndexReport> report = verify_indexes(t.db);
    EXPECT_TRUE(report.ok()) << report.error().message;
  }

  // a is the oldest.
  void begin_all() {
    for (Transaction* each : {&a, &b, &c}) each->begin();
  }
  AccessStatus find(Transaction& x, int64_t id, Purpose purpose = Purpose::kRead) const {
    RowRef row;
    return x.find(t.kById, t.id_key(id), row, purpose);
  }
  static CommitStatus commit(Transaction& x) { return TestDatabase::commit(x).status; }

  TestDatabase t;
  Transaction a{t.db, t.db.worker(WorkerId{0})};
  Transaction b{t.db, t.db.worker(WorkerId{1})};
  Transaction c{t.db, t.db.worker(WorkerId{2})};
};

TEST_F(TransactionLockingTest, WhatIsWrittenIsUnreadableUntilTheCommit) {
  begin_all();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  EXPECT_EQ(t.insert(a, 4, 10, 104, 70), AccessStatus::kOk);
  EXPECT_EQ(t.erase(a, 2), AccessStatus::kOk);
  EXPECT_THAT(t.ids_in_group(a, 10), ElementsAre(1, 3, 4));
  for (const int64_t id : {1, 2, 4}) EXPECT_EQ(find(b, id), AccessStatus::kConflict) << id;
  EXPECT_EQ(find(b, 3), AccessStatus::kOk);
  b.abort();
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  b.begin_again();
  EXPECT_EQ(t.amount(b, 1), 60);
  EXPECT_THAT(t.ids_in_group(b, 10), ElementsAre(1, 3, 4));
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
}

TEST_F(TransactionLockingTest, WhatIsReadIsUnwritableUntilTheCommit) {
  begin_all();
  EXPECT_EQ(t.amount(a, 1), 50);
  EXPECT_EQ(t.amount(b, 1), 50);
  EXPECT_EQ(t.set(b, 1, t.kAmount, 60), AccessStatus::kConflict);
  b.abort();
  EXPECT_EQ(t.erase(c, 1), AccessStatus::kConflict);
  c.abort();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 51), AccessStatus::kOk) << "the others are gone";
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  b.begin_again();
  EXPECT_EQ(t.set(b, 1, t.kAmount, 60), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  EXPECT_EQ(t.log.skipped(), 0u);
}

TEST_F(TransactionLockingTest, WhatIsFoundToBeChangedIsUnreadable) {
  begin_all();
  EXPECT_EQ(find(a, 1, Purpose::kChange), AccessStatus::kOk);
  EXPECT_EQ(find(b, 1), AccessStatus::kConflict);
}

TEST_F(TransactionLockingTest, ATransactionThatSkipsLockedRowsNeitherWaitsNorDies) {
  begin_all();
  EXPECT_EQ(find(a, 1, Purpose::kChange), AccessStatus::kOk);
  const auto lock = [&](Transaction& x, int64_t id, RowLockStrength strength) {
    RowRef row;
    EXPECT_EQ(x.find(t.kById, t.id_key(id), row, Purpose::kPeek), AccessStatus::kOk);
    return x.lock_row(row, strength, RowLockWait::kSkipsLocked);
  };
  EXPECT_EQ(lock(b, 1, RowLockStrength::kExclusive), AccessStatus::kAbsent);
  EXPECT_EQ(lock(b, 1, RowLockStrength::kShared), AccessStatus::kAbsent);
  EXPECT_EQ(lock(b, 2, RowLockStrength::kExclusive), AccessStatus::kOk);
  EXPECT_EQ(lock(c, 2, RowLockStrength::kShared), AccessStatus::kAbsent);
  EXPECT_EQ(find(c, 2, Purpose::kChangeNow), AccessStatus::kLocked);
  EXPECT_EQ(lock(c, 3, RowLockStrength::kShared), AccessStatus::kOk);
  EXPECT_EQ(lock(b, 3, RowLockStrength::kShared), AccessStatus::kOk);
  b.abort();
  EXPECT_EQ(lock(c, 2, RowLockStrength::kExclusive), AccessStatus::kOk);
}

TEST_F(TransactionLockingTest, ARowThatChangedSinceItWasPeekedAtIsSkipped) {
  begin_all();
  RowRef row;
  EXPECT_EQ(b.find(t.kById, t.id_key(1), row, Purpose::kPeek), AccessStatus::kOk);
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk) << "a peek locks nothing";
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(b.lock_row(row, RowLockStrength::kExclusive, RowLockWait::kSkipsLocked), AccessStatus::kAbsent);
}

TEST_F(TransactionLockingTest, KeysOfRunningInsertsAreTaken) {
  begin_all();
  EXPECT_EQ(t.insert(a, 4, 10, 104, 70), AccessStatus::kOk);
  EXPECT_EQ(t.insert(b, 4, 11, 105, 71), AccessStatus::kConflict);
  b.abort();
  EXPECT_EQ(t.insert(c, 5, 11, 104, 71), AccessStatus::kConflict) << "the same code";
  c.abort();
  a.abort();
  b.begin_again();
  EXPECT_EQ(t.insert(b, 4, 11, 104, 71), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
}

TEST_F(TransactionLockingTest, KeysOfCommittedRowsStayDuplicates) {
  begin_all();
  EXPECT_EQ(t.insert(a, 1, 10, 104, 70), AccessStatus::kDuplicateKey);
  EXPECT_EQ(t.erase(b, 1), AccessStatus::kConflict) << "a may tell its user of the duplicate";
  b.abort();
  const CommitOutcome outcome = a.roll_back();
  EXPECT_EQ(outcome.status, CommitStatus::kCommitted);
}

TEST_F(TransactionLockingTest, NoPhantomAppearsInWhatWasSearched) {
  begin_all();
  EXPECT_THAT(t.ids_in_group(a, 99), IsEmpty());
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  EXPECT_EQ(t.insert(b, 4, 99, 104, 70), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  EXPECT_EQ(commit(a), CommitStatus::kConflict);
  EXPECT_EQ(t.log.skipped(), 1u);
  a.begin_again();
  EXPECT_EQ(t.amount(a, 1), 50);
  EXPECT_THAT(t.ids_in_group(a, 99), ElementsAre(4));
}

TEST_F(TransactionLockingTest, AnAbsentKeyStaysAbsent) {
  begin_all();
  EXPECT_EQ(find(a, 7), AccessStatus::kAbsent);
  EXPECT_EQ(t.insert(b, 7, 99, 107, 70), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  EXPECT_EQ(commit(a), CommitStatus::kConflict);
}

TEST_F(TransactionLockingTest, ADeletedRowStaysDeletedWhileItsAbsenceIsRead) {
  t.log.hold_back(true);
  a.begin();
  EXPECT_EQ(t.erase(a, 1), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  begin_all();
  EXPECT_EQ(find(a, 1), AccessStatus::kAbsent);
  EXPECT_EQ(t.insert(b, 1, 10, 101, 70), AccessStatus::kConflict);
  b.abort();
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  b.begin_again();
  EXPECT_EQ(t.insert(b, 1, 10, 101, 70), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
}

TEST_F(TransactionLockingTest, AnAttemptIsAsOldAsTheFirst) {
  begin_all();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  EXPECT_EQ(find(b, 1), AccessStatus::kConflict);
  b.abort();
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  b.begin_again();
  EXPECT_EQ(t.set(b, 1, t.kAmount, 70), AccessStatus::kOk);
  EXPECT_EQ(find(c, 1), AccessStatus::kConflict) << "c began after b's first attempt, and before its second";
}

TEST_F(TransactionLockingTest, DeathsAreCounted) {
  begin_all();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  EXPECT_EQ(t.set(b, 1, t.kAmount, 60), AccessStatus::kConflict);
  EXPECT_THAT(t.db.worker(WorkerId{1}).conflicts(), ElementsAre(0, 0, 0, 0, 0, 1));
}

// A transaction that wrote nothing depends on the youngest version that it read, whatever its own place.
TEST_F(TransactionLockingTest, ReadersWaitForTheDurabilityOfWhatTheyRead) {
  t.log.hold_back(true);
  a.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  const CommitOutcome wrote = TestDatabase::commit(a);
  b.begin();
  EXPECT_EQ(t.amount(b, 1), 60) << "its lock is released early";
  EXPECT_EQ(t.amount(b, 2), 50);
  const CommitOutcome read = TestDatabase::commit(b);
  EXPECT_EQ(read.status, CommitStatus::kCommitted);
  EXPECT_FALSE(read.wrote);
  EXPECT_EQ(read.lsn, wrote.lsn);
  EXPECT_LE(t.log.durable(), wrote.lsn);
}

class LateReleaseTest : public TransactionLockingTest {
 protected:
  LateReleaseTest() : TransactionLockingTest(/*early_lock_release=*/false) {
    t.log.hold_back(true, /*on_demand=*/true);
  }

  // Nothing is durable but what somebody waited for.
  bool somebody_waited_for(Lsn lsn) const { return lsn < t.log.durable(); }
};

TEST_F(LateReleaseTest, WhatIsWrittenStaysLockedUntilItIsDurable) {
  a.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  const CommitOutcome wrote = TestDatabase::commit(a);
  // The worker has left its locks behind.
  a.begin();
  EXPECT_EQ(t.amount(a, 2), 50);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_FALSE(somebody_waited_for(wrote.lsn)) << "row 2 is nobody's";
  b.begin();
  EXPECT_EQ(t.amount(b, 1), 60);
  EXPECT_TRUE(somebody_waited_for(wrote.lsn));
}

TEST_F(LateReleaseTest, SoDoesWhatIsInsertedOrErased) {
  a.begin();
  EXPECT_EQ(t.insert(a, 4, 99, 104, 70), AccessStatus::kOk);
  const CommitOutcome inserted = TestDatabase::commit(a);
  b.begin();
  EXPECT_THAT(t.ids_in_group(b, 99), ElementsAre(4));
  EXPECT_TRUE(somebody_waited_for(inserted.lsn));
  EXPECT_EQ(t.erase(b, 1), AccessStatus::kOk);
  const CommitOutcome erased = TestDatabase::commit(b);
  EXPECT_FALSE(somebody_waited_for(erased.lsn));
  c.begin();
  EXPECT_EQ(t.insert(c, 1, 10, 101, 70), AccessStatus::kOk);
  EXPECT_TRUE(somebody_waited_for(erased.lsn));
}

// Nothing will ever be durable: rather than wait, the transaction goes on, and its commit says so.
TEST_F(LateReleaseTest, AFailedLogEndsTheWait) {
  a.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  t.log.hold_back(true, /*on_demand=*/false);
  t.log.fail();
  b.begin();
  EXPECT_EQ(t.set(b, 1, t.kAmount, 70), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kLogFailed);
}

}  // namespace
}  // namespace mneme
