// Goal: transactions are serializable, undo leaves nothing, and what is deleted waits for its durability.
// Method: two or three transactions interleaved by hand on one thread, each anomaly by its textbook schedule.
#include "engine/transaction/transaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>

#include "engine/testing/interleaved_transactions.h"

namespace mneme {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TransactionTest : public InterleavedTransactions {};

TEST_P(TransactionTest, ReadsItsOwnWritesAndOthersSeeThemAfterTheCommit) {
  a.begin();
  EXPECT_EQ(t.insert(a, 4, 10, 104, 70), AccessStatus::kOk);
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  EXPECT_EQ(t.erase(a, 2), AccessStatus::kOk);
  EXPECT_EQ(t.amount(a, 4), 70);
  EXPECT_EQ(t.amount(a, 1), 60);
  EXPECT_EQ(t.amount(a, 2), std::nullopt);
  EXPECT_THAT(t.ids_in_group(a, 10), ElementsAre(1, 3, 4));
  EXPECT_THAT(t.ids_in_group(a, 10, RowAccess::Direction::kBackward), ElementsAre(4, 3, 1));

  b.begin();
  EXPECT_THAT(t.ids_in_group(b, 10), ElementsAre(1, 2, 3));
  EXPECT_EQ(t.amount(b, 1), 50);
  b.abort();

  const CommitOutcome outcome = t.commit(a);
  EXPECT_EQ(outcome.status, CommitStatus::kCommitted);
  EXPECT_TRUE(outcome.wrote);
  EXPECT_EQ(outcome.lsn, kFirstLsn);
  EXPECT_THAT(committed_group(10), ElementsAre(1, 3, 4));
  EXPECT_EQ(committed_amount(4), 70);
}

TEST_P(TransactionTest, LostUpdateIsAConflict) {
  a.begin();
  b.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, *t.amount(a, 1) + 1), AccessStatus::kOk);
  EXPECT_EQ(t.set(b, 1, t.kAmount, *t.amount(b, 1) + 1), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(commit(b), CommitStatus::kConflict);
  EXPECT_EQ(committed_amount(1), 51);
}

TEST_P(TransactionTest, WriteSkewIsAConflictAndFillsItsPlaceWithASkipRecord) {
  a.begin();
  b.begin();
  EXPECT_EQ(t.amount(a, 1), 50);
  EXPECT_EQ(t.set(a, 2, t.kAmount, 0), AccessStatus::kOk);
  EXPECT_EQ(t.amount(b, 2), 50);
  EXPECT_EQ(t.set(b, 1, t.kAmount, 0), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(commit(b), CommitStatus::kConflict);
  EXPECT_EQ(t.log.filled(), 1u);
  EXPECT_EQ(t.log.skipped(), 1u);
  EXPECT_EQ(committed_amount(1), 50);
}

TEST_P(TransactionTest, PhantomInARangeIsAConflict) {
  for (const int64_t inserted : {1, 7}) {
    a.begin();
    b.begin();
    const std::vector<int64_t> seen = t.ids_in_group(a, 20);
    EXPECT_EQ(t.set(a, 1, t.kAmount, static_cast<int64_t>(seen.size())), AccessStatus::kOk);
    EXPECT_EQ(t.insert(b, inserted + 100, 20, inserted + 200, 1), AccessStatus::kOk);
    EXPECT_EQ(commit(b), CommitStatus::kCommitted);
    EXPECT_EQ(commit(a), CommitStatus::kConflict);
  }
}

TEST_P(TransactionTest, AnInsertThatIsNotYetCommittedIsNoticedToo) {
  b.begin();
  EXPECT_EQ(t.insert(b, 9, 20, 109, 1), AccessStatus::kOk);
  a.begin();
  EXPECT_THAT(t.ids_in_group(a, 20), IsEmpty());
  EXPECT_EQ(t.set(a, 1, t.kAmount, 0), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  EXPECT_EQ(commit(a), CommitStatus::kConflict);
}

TEST_P(TransactionTest, ReadOfAbsenceIsValidated) {
  a.begin();
  EXPECT_EQ(t.amount(a, 8), std::nullopt);
  RowRef row;
  EXPECT_EQ(a.find(t.kByCode, t.code_key(108), row), AccessStatus::kAbsent);
  EXPECT_EQ(t.set(a, 1, t.kAmount, 0), AccessStatus::kOk);
  b.begin();
  EXPECT_EQ(t.insert(b, 8, 10, 108, 1), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  EXPECT_EQ(commit(a), CommitStatus::kConflict);
}

TEST_P(TransactionTest, OwnInsertsIntoAWatchedRangeAreNoPhantoms) {
  a.begin();
  EXPECT_EQ(t.amount(a, 1000), std::nullopt);
  EXPECT_THAT(t.ids_in_group(a, 30), IsEmpty());
  // Enough to split leaves and buckets that are watched.
  for (int64_t id = 1000; id < 1300; ++id) ASSERT_EQ(t.insert(a, id, 30, id, 1), AccessStatus::kOk);
  EXPECT_EQ(t.ids_in_group(a, 30).size(), 300u);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(committed_group(30).size(), 300u);
}

TEST_P(TransactionTest, AnothersInsertIntoARangeThatWeSplitIsStillAPhantom) {
  a.begin();
  EXPECT_THAT(t.ids_in_group(a, 30), IsEmpty());
  for (int64_t id = 1000; id < 1300; ++id) ASSERT_EQ(t.insert(a, id, 30, id, 1), AccessStatus::kOk);
  b.begin();
  EXPECT_EQ(t.insert(b, 5000, 30, 5000, 1), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  EXPECT_EQ(commit(a), CommitStatus::kConflict);
  EXPECT_THAT(committed_group(30), ElementsAre(5000));
}

// Wherever in it: leaves that were split off hold all but its first part. Its code is far from ours, so that
// the index of codes, where we have looked whether ours are free, does not tell of it.
TEST_P(TransactionTest, AnInsertIntoWhatWeSplitOffIsAPhantom) {
  UnloggedWriter writer(t.db);
  for (int64_t id = 4; id <= 300; ++id)
    ASSERT_EQ(writer.insert(t.kItem, t.values(id, 10, 100 + id, 50)), AccessStatus::kOk);
  for (const int64_t inserted : {2001, 2301, 2599, 2700}) {
    a.begin();
    EXPECT_EQ(a.scan(t.kById, t.id_range(2000, 3000), RowAccess::Direction::kForward,
                     [](const RowRef&) { return true; }),
              AccessStatus::kOk);
    for (int64_t id = 2000; id < 2600; id += 2) ASSERT_EQ(t.insert(a, id, 30, id, 1), AccessStatus::kOk);
    b.begin();
    EXPECT_EQ(t.insert(b, inserted, 40, 50, 1), AccessStatus::kOk);
    EXPECT_EQ(commit(b), CommitStatus::kCommitted);
    EXPECT_EQ(commit(a), CommitStatus::kConflict) << inserted;
    b.begin();
    EXPECT_EQ(t.erase(b, inserted), AccessStatus::kOk);
    EXPECT_EQ(commit(b), CommitStatus::kCommitted);
    tidy();
  }
}

TEST_P(TransactionTest, DuplicateKeysAreRefused) {
  a.begin();
  EXPECT_EQ(t.insert(a, 1, 10, 999, 0), AccessStatus::kDuplicateKey);
  a.abort();
  a.begin();
  EXPECT_EQ(t.insert(a, 9, 10, 101, 0), AccessStatus::kDuplicateKey) << "code 101 is row 1's";
  a.abort();
  a.begin();
  EXPECT_EQ(t.set(a, 2, t.kCode, 101), AccessStatus::kDuplicateKey);
  a.abort();
  a.begin();
  EXPECT_EQ(t.insert(a, 9, 10, 109, 0), AccessStatus::kOk);
  EXPECT_EQ(t.insert(a, 9, 10, 110, 0), AccessStatus::kDuplicateKey) << "its own row";
  a.abort();
  EXPECT_EQ(entries(t.kById), 3u);
  EXPECT_EQ(entries(t.kByGroup), 3u);
  EXPECT_EQ(entries(t.kByCode), 3u);
}

TEST_P(TransactionTest, TwoInsertsOfOneKeyConflict) {
  a.begin();
  b.begin();
  EXPECT_EQ(t.insert(a, 9, 10, 109, 1), AccessStatus::kOk);
  EXPECT_EQ(t.insert(b, 9, 10, 110, 2), AccessStatus::kConflict);
  b.abort();
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(committed_amount(9), 1);
}

TEST_P(TransactionTest, TwoRowsCannotTakeOneUniqueKeyAtOnce) {
  a.begin();
  b.begin();
  EXPECT_EQ(t.insert(a, 8, 10, 500, 1), AccessStatus::kOk);
  const AccessStatus second = t.insert(b, 9, 10, 500, 2);
  const bool first_committed = commit(a) == CommitStatus::kCommitted;
  const bool second_committed = second == AccessStatus::kOk && commit(b) == CommitStatus::kCommitted;
  EXPECT_FALSE(first_committed && second_committed);
  // Whichever way that went, one row has the code after a retry, and no other can get it.
  b.begin();
  const AccessStatus retried = t.insert(b, 9, 10, 500, 2);
  EXPECT_EQ(retried == AccessStatus::kOk, !first_committed && !second_committed);
  if (retried == AccessStatus::kOk) {
    EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  }
  a.begin();
  EXPECT_EQ(t.insert(a, 7, 10, 500, 3), AccessStatus::kDuplicateKey);
}

TEST_P(TransactionTest, AnAbortLeavesNothing) {
  a.begin();
  EXPECT_EQ(t.insert(a, 9, 10, 109, 1), AccessStatus::kOk);
  EXPECT_EQ(t.set(a, 1, t.kGroup, 77), AccessStatus::kOk);
  EXPECT_EQ(t.set(a, 2, t.kAmount, 1), AccessStatus::kOk);
  EXPECT_EQ(t.erase(a, 3), AccessStatus::kOk);
  a.abort();
  EXPECT_THAT(committed_group(10), ElementsAre(1, 2, 3));
  EXPECT_THAT(committed_group(77), IsEmpty());
  EXPECT_EQ(committed_amount(2), 50);
  EXPECT_EQ(entries(t.kByGroup), 3u);
  EXPECT_EQ(t.log.filled() + t.log.skipped(), 0u) << "nothing was reserved";
  b.begin();
  EXPECT_EQ(t.insert(b, 9, 10, 109, 2), AccessStatus::kOk) << "the key is free again";
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
}

TEST_P(TransactionTest, ADeletedRowIsUnlinkedOnceDurableAndItsSlotUsedAgain) {
  t.log.hold_back(true);
  a.begin();
  EXPECT_EQ(t.erase(a, 2), AccessStatus::kOk);
  const CommitOutcome deleted = t.commit(a);
  ASSERT_EQ(deleted.status, CommitStatus::kCommitted);

  tidy();
  EXPECT_EQ(entries(t.kById), 3u) << "the tombstone stays until its LSN is durable";
  b.begin();
  EXPECT_EQ(t.amount(b, 2), std::nullopt);
  const CommitOutcome reader = t.commit(b);
  EXPECT_EQ(reader.status, CommitStatus::kCommitted);
  EXPECT_FALSE(reader.wrote);
  EXPECT_EQ(reader.lsn, deleted.lsn) << "who found nothing waits for the deletion";

  t.log.hold_back(false);
  tidy();
  EXPECT_EQ(entries(t.kById), 2u);
  EXPECT_EQ(entries(t.kByGroup), 2u);
  EXPECT_EQ(entries(t.kByCode), 2u);

  // So many that a batch of retired slots is full and comes back.
  for (int round = 0; round < 300; ++round) {
    a.begin();
    ASSERT_EQ(t.insert(a, 1000, 10, 1000, round), AccessStatus::kOk);
    ASSERT_EQ(commit(a), CommitStatus::kCommitted);
    a.begin();
    ASSERT_EQ(t.erase(a, 1000), AccessStatus::kOk);
    ASSERT_EQ(commit(a), CommitStatus::kCommitted);
  }
  EXPECT_LE(t.db.table(t.kItem).rows().slot_end(), 256u) << "slots are used again";
}

TEST_P(TransactionTest, AnInsertOverATombstone) {
  t.log.hold_back(true);
  a.begin();
  EXPECT_EQ(t.erase(a, 2), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  a.begin();
  EXPECT_EQ(t.insert(a, 2, 11, 999, 5), AccessStatus::kOk);
  a.abort();
  a.begin();
  EXPECT_EQ(t.insert(a, 2, 12, 998, 6), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(committed_amount(2), 6);
  EXPECT_THAT(committed_group(10), ElementsAre(1, 3));
  EXPECT_THAT(committed_group(11), IsEmpty());
  EXPECT_THAT(committed_group(12), ElementsAre(2));
  b.begin();
  EXPECT_EQ(t.insert(b, 20, 10, 102, 7), AccessStatus::kOk) << "the unique code of the deleted row is free";
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);

  t.log.hold_back(false);
  tidy();
  EXPECT_EQ(committed_amount(2), 6) << "tidying leaves the row that took the tombstone's place";
  EXPECT_EQ(entries(t.kById), 4u);
  EXPECT_EQ(entries(t.kByGroup), 4u);
  EXPECT_EQ(entries(t.kByCode), 4u);
}

TEST_P(TransactionTest, DeleteAndInsertInOneTransaction) {
  a.begin();
  EXPECT_EQ(t.erase(a, 2), AccessStatus::kOk);
  EXPECT_EQ(t.insert(a, 2, 15, 102, 8), AccessStatus::kOk) << "its own code";
  EXPECT_EQ(t.erase(a, 3), AccessStatus::kOk);
  EXPECT_EQ(t.insert(a, 4, 15, 103, 9), AccessStatus::kOk) << "the code of the row it deleted";
  EXPECT_EQ(t.insert(a, 5, 15, 105, 9), AccessStatus::kOk);
  EXPECT_EQ(t.erase(a, 5), AccessStatus::kOk);
  EXPECT_THAT(t.ids_in_group(a, 15), ElementsAre(2, 4));
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_THAT(committed_group(15), ElementsAre(2, 4));
  EXPECT_THAT(committed_group(10), ElementsAre(1));
  tidy();
  EXPECT_EQ(entries(t.kById), 3u);
  EXPECT_EQ(entries(t.kByGroup), 3u);
  EXPECT_EQ(entries(t.kByCode), 3u);
}

TEST_P(TransactionTest, AChangedKeyMovesTheRowInItsIndex) {
  a.begin();
  EXPECT_EQ(t.set(a, 2, t.kGroup, 40), AccessStatus::kOk);
  EXPECT_THAT(t.ids_in_group(a, 40), ElementsAre(2));
  EXPECT_EQ(t.set(a, 2, t.kGroup, 41), AccessStatus::kOk);
  EXPECT_THAT(t.ids_in_group(a, 40), IsEmpty());
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_THAT(committed_group(10), ElementsAre(1, 3));
  EXPECT_THAT(committed_group(40), IsEmpty());
  EXPECT_THAT(committed_group(41), ElementsAre(2));
  // Back, before and after the old entry is gone.
  a.begin();
  EXPECT_EQ(t.set(a, 2, t.kGroup, 10), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  tidy();
  EXPECT_EQ(entries(t.kByGroup), 3u);
  EXPECT_THAT(committed_group(10), ElementsAre(1, 2, 3));
}

TEST_P(TransactionTest, MovingARowIntoAWatchedRangeIsAPhantom) {
  a.begin();
  EXPECT_THAT(t.ids_in_group(a, 40), IsEmpty());
  EXPECT_EQ(t.set(a, 1, t.kAmount, 0), AccessStatus::kOk);
  b.begin();
  EXPECT_EQ(t.set(b, 2, t.kGroup, 40), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  EXPECT_EQ(commit(a), CommitStatus::kConflict);

  // And back over the stale entry in 10, which no index change announces.
  a.begin();
  EXPECT_THAT(t.ids_in_group(a, 10), ElementsAre(1, 3));
  EXPECT_EQ(t.set(a, 1, t.kAmount, 0), AccessStatus::kOk);
  b.begin();
  EXPECT_EQ(t.set(b, 2, t.kGroup, 10), AccessStatus::kOk);
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  EXPECT_EQ(commit(a), CommitStatus::kConflict);
}

TEST_P(TransactionTest, APrimaryKeyMayChange) {
  a.begin();
  EXPECT_EQ(t.set(a, 2, t.kId, 20), AccessStatus::kOk);
  EXPECT_EQ(t.amount(a, 2), std::nullopt);
  EXPECT_EQ(t.amount(a, 20), 50);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_THAT(committed_group(10), ElementsAre(1, 3, 20));
  tidy();
  EXPECT_EQ(entries(t.kById), 3u);
  EXPECT_EQ(entries(t.kByCode), 3u);
}

TEST_P(TransactionTest, AUsersRollbackIsValidatedAndLeavesNothing) {
  a.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  const CommitOutcome written = t.commit(a);

  b.begin();
  EXPECT_EQ(t.amount(b, 1), 60);
  EXPECT_EQ(t.insert(b, 9, 10, 109, 1), AccessStatus::kOk);
  EXPECT_EQ(b.highest_read(), written.lsn);
  const CommitOutcome rolled_back = b.roll_back();
  EXPECT_EQ(rolled_back.status, CommitStatus::kCommitted);
  EXPECT_EQ(rolled_back.lsn, written.lsn);
  EXPECT_FALSE(rolled_back.wrote);
  EXPECT_EQ(committed_amount(9), std::nullopt);

  b.begin();
  EXPECT_EQ(t.amount(b, 1), 60);
  a.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 70), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(b.roll_back().status, CommitStatus::kConflict) << "what it read was no longer so";
}

TEST_P(TransactionTest, ReadOnlyTransactionsAreValidated) {
  b.begin();
  EXPECT_EQ(t.amount(b, 1), 50);
  a.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 0), AccessStatus::kOk);
  EXPECT_EQ(t.set(a, 2, t.kAmount, 100), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(t.amount(b, 2), 100);
  EXPECT_EQ(commit(b), CommitStatus::kConflict) << "the sum it saw never was";
}

TEST_P(TransactionTest, WhatIsLockedIsNoLongerValid) {
  // Row 2 as in another's commit, between its reservation and its installation.
  UnloggedWriter writer(t.db);
  Row* row = writer.find(t.kById, t.id_key(2));
  const RowWord word = row->word();
  for (const bool writes : {false, true}) {
    b.begin();
    EXPECT_EQ(t.amount(b, 2), 50);
    if (writes) {
      EXPECT_EQ(t.set(b, 1, t.kAmount, 0), AccessStatus::kOk);
    }
    ASSERT_TRUE(row->try_change(word, word.locked()));
    EXPECT_EQ(commit(b), CommitStatus::kConflict);
    row->set_word(word);
  }
  b.begin();
  EXPECT_EQ(t.set(b, 2, t.kAmount, 0), AccessStatus::kOk);
  ASSERT_TRUE(row->try_change(word, word.locked()));
  EXPECT_EQ(b.roll_back().status, CommitStatus::kConflict)
      << "a row in the write set too, where we hold no lock";
  b.begin();
  EXPECT_EQ(t.set(b, 2, t.kAmount, 0), AccessStatus::kConflict) << "a reader does not wait for ever";
  b.abort();
  row->set_word(word);
  EXPECT_EQ(committed_amount(2), 50);
}

// Runs code just before a transaction draws its LSN.
class InterruptedLog final : public CommitLog {
 public:
  bool await_space(WorkerId worker, uint32_t bytes) override { return log_.await_space(worker, bytes); }
  Lsn reserve(WorkerId worker, uint32_t bytes) override {
    if (interruption) std::exchange(interruption, nullptr)();
    return log_.reserve(worker, bytes);
  }
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) override {
    log_.fill(worker, lsn, kind, payload);
  }
  Lsn durable() const override { return log_.durable(); }
  bool wait_durable(Lsn lsn) override { return log_.wait_durable(lsn); }
  std::optional<Error> failure() const override { return log_.failure(); }

  std::function<void()> interruption;

 private:
  CountingLog log_;
};

// Else the log would have the reader behind what it has not seen, and replay show it.
TEST_P(TransactionTest, WhatIsReadIsValidOnceThePlaceInTheLogIsDrawn) {
  InterruptedLog log;
  t.db.attach_log(log);
  a.begin();
  EXPECT_EQ(t.set(a, 2, t.kAmount, *t.amount(a, 1)), AccessStatus::kOk);
  log.interruption = [&] {
    b.begin();
    EXPECT_EQ(t.set(b, 1, t.kAmount, 60), AccessStatus::kOk);
    EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  };
  EXPECT_EQ(commit(a), CommitStatus::kConflict);
}

TEST_P(TransactionTest, AFailedLogRefusesWritersAndLetsReadersGo) {
  t.log.fail();
  a.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 0), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kLogFailed);
  EXPECT_EQ(committed_amount(1), 50);
}

TEST_P(TransactionTest, OfALogThatLeavesHolesNothingIsSeenBeforeItsRecordIsFilled) {
  int fills = 0;
  t.log.leave_holes([&](WorkerId worker, Lsn) {
    ASSERT_EQ(worker, WorkerId{0});
    ++fills;
    b.begin();
    EXPECT_EQ(t.amount(b, 1), std::nullopt);  // changed
    b.abort();
    b.begin();
    EXPECT_EQ(t.erase(b, 2), AccessStatus::kConflict);  // deleted
    b.abort();
    b.begin();
    EXPECT_EQ(t.insert(b, 9, 10, 209, 1), AccessStatus::kConflict);  // inserted
    b.abort();
  });
  a.begin();
  EXPECT_EQ(t.set(a, 1, t.kAmount, 60), AccessStatus::kOk);
  EXPECT_EQ(t.erase(a, 2), AccessStatus::kOk);
  EXPECT_EQ(t.insert(a, 9, 10, 109, 70), AccessStatus::kOk);
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  EXPECT_EQ(fills, 1);
  EXPECT_EQ(committed_amount(1), 60);
  EXPECT_EQ(committed_amount(2), std::nullopt);
  EXPECT_EQ(committed_amount(9), 70);
}

TEST_P(TransactionTest, StringsMaySwapPlaces) {
  a.begin();
  RowRef row;
  ASSERT_EQ(a.find(t.kById, t.id_key(1), row), AccessStatus::kOk);
  const RowLayout& layout = t.db.schema().layout(t.kItem);
  const ColumnValue changes[] = {
      {t.kNote, Value::of_text(layout.get(row.image, t.kNote).as_text().substr(1))},
      {t.kAmount, Value::of_int(1)}};
  ASSERT_EQ(a.update(t.kItem, row, changes), AccessStatus::kOk);
  EXPECT_EQ(layout.get(row.image, t.kNote).as_text(), "ote");
  const ColumnValue null{t.kNote, Value::null()};
  EXPECT_EQ(commit(a), CommitStatus::kCommitted);
  a.begin();
  ASSERT_EQ(a.find(t.kById, t.id_key(1), row), AccessStatus::kOk);
  EXPECT_EQ(layout.get(row.image, t.kNote).as_text(), "ote");
  ASSERT_EQ(a.update(t.kItem, row, {&null, 1}), AccessStatus::kOk);
  EXPECT_TRUE(layout.get(row.image, t.kNote).is_null());
}

TEST_P(TransactionTest, CountsEachConflictByItsCause) {
  const auto conflicts = [&] { return t.db.worker(WorkerId{0}).conflicts(); };
  // `first` runs in a, `second` in b, which commits, and is in a's way.
  const auto interleave = [&](auto first, auto second) {
    a.begin();
    first();
    b.begin();
    second();
    EXPECT_EQ(commit(b), CommitStatus::kCommitted);
    EXPECT_EQ(commit(a), CommitStatus::kConflict);
  };
  const auto set = [&](Transaction& x, int64_t id) {
    EXPECT_EQ(t.set(x, id, t.kAmount, 1), AccessStatus::kOk);
  };

  interleave(
      [&] {
        t.amount(a, 1);
        set(a, 2);
      },
      [&] { set(b, 1); });
  EXPECT_THAT(conflicts(), ElementsAre(0, 0, 0, 1, 0, 0));
  interleave(
      [&] {
        t.ids_in_group(a, 99);
        set(a, 2);
      },
      [&] { EXPECT_EQ(t.insert(b, 7, 99, 107, 1), AccessStatus::kOk); });
  EXPECT_THAT(conflicts(), ElementsAre(0, 0, 0, 1, 1, 0));
  interleave([&] { set(a, 1); }, [&] { set(b, 1); });
  EXPECT_THAT(conflicts(), ElementsAre(0, 0, 1, 1, 1, 0));

  b.begin();
  EXPECT_EQ(t.insert(b, 8, 10, 108, 1), AccessStatus::kOk);
  a.begin();
  EXPECT_EQ(t.insert(a, 8, 10, 109, 1), AccessStatus::kConflict);
  a.abort();
  EXPECT_THAT(conflicts(), ElementsAre(0, 1, 1, 1, 1, 0));
  EXPECT_EQ(commit(b), CommitStatus::kCommitted);
  EXPECT_THAT(t.db.worker(WorkerId{1}).conflicts(), testing::Each(0));
}

INSTANTIATE_TEST_SUITE_P(Indexes, TransactionTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "Btree" : "Hash";
                         });

}  // namespace
}  // namespace mneme
