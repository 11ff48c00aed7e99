// Goal: a checkpoint holds what was there at its LSN, whatever is written at any step of it; it is made
// current only once the log below it is durable; and it begins only once no reader can tell the one before it
// of a row any more. Method: one row, or a log, is changed at a step that the checkpointer tells of; what the
// checkpoint holds is loaded.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "base/testing/test_refusal.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/checkpoint/online_checkpointer.h"
#include "engine/testing/test_database.h"
#include "logging/reading/log_truncation.h"
#include "logging/testing/test_log.h"
#include "recovery/database/checkpoint_loader.h"

namespace mneme {
namespace {

class OnlineCheckpointSteps : public testing::Test {
 protected:
  OnlineCheckpointSteps()
      : manifest_(test::must(ManifestFile::create(directory_.path(), test::new_manifest()))) {
    UnloggedWriter rows(bank_.db);
    CHECK(rows.insert(TestDatabase::kItem, TestDatabase::values(1, 10, 101, 50)) == AccessStatus::kOk);
    const auto written = test::must(write_checkpoint(bank_.db, directory_.path(), {0x1234, 0x5678}, 1));
    test::must(manifest_->update([&](Manifest& m) { m.checkpoint_file = written.file; }));
  }

  void set_amount(int64_t amount) {
    writer_.begin();
    EXPECT_EQ(bank_.set(writer_, 1, TestDatabase::kAmount, amount), AccessStatus::kOk);
    EXPECT_EQ(TestDatabase::commit(writer_).status, CommitStatus::kCommitted);
  }

  Result<TakenCheckpoint> take(std::function<void(CheckpointStep)> observe) {
    OnlineCheckpointOptions options;
    options.observe = std::move(observe);
    return OnlineCheckpointer(bank_.db, bank_.log, *manifest_, WorkerId{2}, options).take();
  }

  // For each row of the current checkpoint.
  std::vector<int64_t> checkpointed_amounts() const {
    Database loaded(TestDatabase::make_catalog(true), 1);
    test::must(load_checkpoint(loaded, directory_.path(), manifest_->current(), 1));
    std::vector<int64_t> amounts;
    const RowLayout& layout = loaded.schema().layout(TestDatabase::kItem);
    const Table& rows = loaded.table(TestDatabase::kItem).rows();
    rows.for_each_live(0, rows.restored_end(), [&](const Row* row) {
      amounts.push_back(layout.get(row->image(), TestDatabase::kAmount).as_int());
    });
    return amounts;
  }

  test::TemporaryDirectory directory_;
  TestDatabase bank_;
  Transaction writer_{bank_.db, bank_.db.worker(WorkerId{0})};
  std::unique_ptr<ManifestFile> manifest_;
};

// The image that is overwritten first is kept, and belongs to no checkpoint: the LSN is drawn after it.
TEST_F(OnlineCheckpointSteps, OfSeveralKeptImagesTheOneAtItsLsnIsWritten) {
  const TakenCheckpoint taken = test::must(take([&](CheckpointStep step) {
    if (step == CheckpointStep::kKeeping) set_amount(60);
    if (step != CheckpointStep::kReserved) return;
    set_amount(70);
    set_amount(80);
  }));
  EXPECT_EQ(taken.kept_images, 3u);
  EXPECT_EQ(checkpointed_amounts(), std::vector<int64_t>{60});
}

TEST_F(OnlineCheckpointSteps, WhatIsInsertedOrErasedAboveItsLsnIsAsItWas) {
  test::must(take([&](CheckpointStep step) {
    if (step != CheckpointStep::kReserved) return;
    writer_.begin();
    EXPECT_EQ(bank_.erase(writer_, 1), AccessStatus::kOk);
    EXPECT_EQ(bank_.insert(writer_, 2, 10, 102, 90), AccessStatus::kOk);
    EXPECT_EQ(TestDatabase::commit(writer_).status, CommitStatus::kCommitted);
  }));
  EXPECT_EQ(checkpointed_amounts(), std::vector<int64_t>{50});
}

TEST_F(OnlineCheckpointSteps, TheLogBelowItIsDurableBeforeItIsCurrent) {
  bank_.log.hold_back(true, true);
  Lsn durable;
  const TakenCheckpoint taken = test::must(take([&](CheckpointStep step) {
    if (step == CheckpointStep::kWritten) {
      EXPECT_EQ(bank_.log.durable(), kFirstLsn) << "nobody has waited so far";
    }
    if (step == CheckpointStep::kDurable) durable = bank_.log.durable();
  }));
  EXPECT_GT(durable, taken.lsn);
}

TEST_F(OnlineCheckpointSteps, OneWhoseLogFailsIsGivenUp) {
  const Manifest before = manifest_->current();
  bank_.log.hold_back(true);
  const Result<TakenCheckpoint> taken = take([&](CheckpointStep step) {
    if (step == CheckpointStep::kWritten) bank_.log.fail();
  });
  EXPECT_FALSE(taken.ok());
  EXPECT_EQ(manifest_->current().checkpoint_file, before.checkpoint_file);
  EXPECT_EQ(manifest_->current().checkpoint_lsn, before.checkpoint_lsn);
  EXPECT_TRUE(test::must(unlisted_files(directory_.path(), before)).empty());
}

TEST_F(OnlineCheckpointSteps, OneThatIsGivenUpLeavesTheOneBefore) {
  const Manifest before = manifest_->current();
  OnlineCheckpointer* at_work = nullptr;
  OnlineCheckpointOptions options;
  options.observe = [&](CheckpointStep step) {
    if (step == CheckpointStep::kReserved) at_work->give_up();
  };
  OnlineCheckpointer checkpointer(bank_.db, bank_.log, *manifest_, WorkerId{2}, options);
  at_work = &checkpointer;
  test::expect_refused(checkpointer.take(), ErrorKind::kFailed,
                       "the checkpoint was given up; the one before stays current");
  EXPECT_EQ(manifest_->current().checkpoint_file, before.checkpoint_file);
  EXPECT_TRUE(test::must(unlisted_files(directory_.path(), before)).empty());
}

// As one whose client thinks, and forgets: then the program's end would wait for it.
TEST_F(OnlineCheckpointSteps, OneThatWaitsForAnOpenTransactionCanBeGivenUp) {
  writer_.begin();
  OnlineCheckpointer checkpointer(bank_.db, bank_.log, *manifest_, WorkerId{2}, {});
  checkpointer.give_up();
  test::expect_refused(checkpointer.take(), ErrorKind::kFailed,
                       "the checkpoint was given up; the one before stays current");
  writer_.abort();
}

// A transaction that runs still may have been told of the checkpoint before.
TEST_F(OnlineCheckpointSteps, BeginsOnceAllThatRanBeforeHaveEnded) {
  std::atomic<bool> ended{false};
  writer_.begin();
  std::thread taker([&] {
    test::must(take([&](CheckpointStep step) {
      if (step != CheckpointStep::kKeeping) return;
      EXPECT_TRUE(ended.load(std::memory_order_acquire));
    }));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ended.store(true, std::memory_order_release);
  writer_.abort();
  taker.join();
}

}  // namespace
}  // namespace mneme
