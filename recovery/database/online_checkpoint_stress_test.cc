// Goal: a checkpoint that is taken while transactions run holds exactly what those below its LSN made.
// Method: workers move money between rows, insert, erase and insert again, and note what each committed
// transaction left behind. Meanwhile checkpoints are taken, slowly, so that rows change before, while and
// after they are walked past, and slots are freed and used again. Each checkpoint, loaded into another
// database, must hold what the noted transactions below its LSN make of the first state, applied in the order
// of their LSNs; and each must have met kept images.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/checkpoint/online_checkpointer.h"
#include "engine/testing/test_database.h"
#include "logging/testing/test_log.h"
#include "recovery/database/checkpoint_loader.h"
#include "recovery/rows/index_builder.h"

namespace mneme {
namespace {

constexpr int64_t kRows = 6000;
constexpr uint32_t kWorkers = 3;
constexpr uint32_t kCheckpoints = 5;

struct Setting {
  ConcurrencyControl control;
  bool leaves_holes;
  uint32_t threads;
};

// The amount that a transaction left in each row that it wrote; nullopt: it erased the row.
struct Note {
  Lsn lsn;
  std::vector<std::pair<int64_t, std::optional<int64_t>>> rows;
};
using State = std::map<int64_t, int64_t>;

class OnlineCheckpointStress : public testing::TestWithParam<Setting> {
 protected:
  OnlineCheckpointStress() : bank_(kWorkers) {
    // Some stand between their record and their writes when the checkpoint's LSN is drawn.
    if (GetParam().leaves_holes) {
      bank_.log.leave_holes([](WorkerId, Lsn lsn) {
        if (lsn.value % 64 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      });
    }
    bank_.db.set_concurrency({.control = GetParam().control});
    UnloggedWriter rows(bank_.db);
    for (int64_t id = 0; id < kRows; id += 2) {
      CHECK(rows.insert(TestDatabase::kItem, TestDatabase::values(id, id % 7, id, 100)) == AccessStatus::kOk);
      first_[id] = 100;
    }
    manifest_ = test::must(ManifestFile::create(directory_.path(), test::new_manifest()));
    const auto written = test::must(write_checkpoint(bank_.db, directory_.path(), {0x1234, 0x5678}, 1));
    test::must(manifest_->update([&](Manifest& m) { m.checkpoint_file = written.file; }));
  }

  // One transaction, tried once; what it did, if it committed.
  std::optional<Note> change(Transaction& transaction, std::mt19937_64& random) {
    const auto id = static_cast<int64_t>(random() % kRows);
    const auto other = static_cast<int64_t>(random() % kRows);
    Note note;
    transaction.begin();
    if (!(random() % 3 == 0 ? flip(transaction, id, note) : move(transaction, id, other, note))) {
      transaction.abort();
      return std::nullopt;
    }
    const CommitOutcome outcome = TestDatabase::commit(transaction);
    if (outcome.status != CommitStatus::kCommitted || !outcome.wrote) return std::nullopt;
    note.lsn = outcome.lsn;
    return note;
  }

  // Erases the row, or inserts it.
  bool flip(Transaction& transaction, int64_t id, Note& note) {
    const AccessStatus erased = bank_.erase(transaction, id);
    if (erased == AccessStatus::kOk) {
      note.rows.emplace_back(id, std::nullopt);
      return true;
    }
    if (erased != AccessStatus::kAbsent || bank_.insert(transaction, id, id % 7, id, id) != AccessStatus::kOk)
      return false;
    note.rows.emplace_back(id, id);
    return true;
  }

  bool move(Transaction& transaction, int64_t from, int64_t to, Note& note) {
    if (from == to) return false;
    for (const auto& [id, by] : {std::pair(from, int64_t{-1}), std::pair(to, int64_t{1})}) {
      const auto amount = bank_.amount(transaction, id);
      if (!amount || bank_.set(transaction, id, TestDatabase::kAmount, *amount + by) != AccessStatus::kOk)
        return false;
      note.rows.emplace_back(id, *amount + by);
    }
    return true;
  }

  State state_at(Lsn lsn) const {
    State state = first_;
    for (const Note& note : notes_) {
      if (!(note.lsn < lsn)) break;
      for (const auto& [id, amount] : note.rows) {
        if (amount) {
          state[id] = *amount;
        } else {
          state.erase(id);
        }
      }
    }
    return state;
  }

  // Returns the rows of the current checkpoint.
  State load() const {
    Database loaded(TestDatabase::make_catalog(true), 1);
    const LoadedCheckpoint checkpoint =
        test::must(load_checkpoint(loaded, directory_.path(), manifest_->current(), 2));
    test::must(build_indexes(loaded, 2));
    State state;
    const RowLayout& layout = loaded.schema().layout(TestDatabase::kItem);
    const Table& rows = loaded.table(TestDatabase::kItem).rows();
    rows.for_each_live(0, rows.slot_end(), [&](const Row* row) {
      state[layout.get(row->image(), TestDatabase::kId).as_int()] =
          layout.get(row->image(), TestDatabase::kAmount).as_int();
    });
    EXPECT_EQ(state.size(), checkpoint.rows);
    return state;
  }

  test::TemporaryDirectory directory_;
  TestDatabase bank_;
  State first_;
  std::unique_ptr<ManifestFile> manifest_;
  std::vector<Note> notes_;  // in the order of their LSNs, once the workers have ended
};

TEST_P(OnlineCheckpointStress, HoldsTheStateAtItsLsn) {
  std::atomic<bool> stop{false};
  std::vector<std::vector<Note>> noted(kWorkers);
  std::vector<std::thread> workers;
  for (uint32_t w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      std::mt19937_64 random(w);
      Transaction transaction(bank_.db, bank_.db.worker(WorkerId{w}));
      while (!stop.load(std::memory_order_relaxed)) {
        if (auto note = change(transaction, random)) noted[w].push_back(*std::move(note));
      }
    });
  }

  OnlineCheckpointOptions options;
  options.threads = GetParam().threads;
  options.share = 0.2;
  options.observe = [](CheckpointStep step) {
    if (step == CheckpointStep::kKeeping || step == CheckpointStep::kCapturing)
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
  };
  OnlineCheckpointer checkpointer(bank_.db, bank_.log, *manifest_, WorkerId{kWorkers}, options);
  std::vector<std::pair<Lsn, State>> checkpoints;
  uint64_t kept_images = 0;
  for (uint32_t i = 0; i < kCheckpoints; ++i) {
    const TakenCheckpoint taken = test::must(checkpointer.take());
    kept_images += taken.kept_images;
    EXPECT_EQ(manifest_->current().checkpoint_lsn, taken.lsn);
    checkpoints.emplace_back(taken.lsn, load());
    EXPECT_EQ(checkpoints.back().second.size(), taken.rows);
  }
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& worker : workers) worker.join();

  for (std::vector<Note>& each : noted) notes_.insert(notes_.end(), each.begin(), each.end());
  std::ranges::sort(notes_, {}, &Note::lsn);
  for (const auto& [lsn, state] : checkpoints) EXPECT_EQ(state, state_at(lsn)) << "at LSN " << lsn.value;
  EXPECT_GT(kept_images, 0u);
}

INSTANTIATE_TEST_SUITE_P(Settings, OnlineCheckpointStress,
                         testing::Values(Setting{ConcurrencyControl::kOptimistic, false, 1},
                                         Setting{ConcurrencyControl::kOptimistic, false, 2},
                                         Setting{ConcurrencyControl::kOptimistic, true, 1},
                                         Setting{ConcurrencyControl::kTwoPhaseLocking, false, 1}));

}  // namespace
}  // namespace mneme
