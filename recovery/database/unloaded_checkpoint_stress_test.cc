// Goal: threads that want rows of a checkpoint find each, whole and in all indexes, whoever loads its chunk,
// beside threads that insert. Method: several threads look for random keys by a random index, insert, change
// and erase rows of their own, and one loads what is left; each row must be there when it is looked for. In
// the end the database is what it must be.
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "base/testing/test_directory.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/transaction/digest.h"
#include "engine/transaction/unlogged_writer.h"
#include "procedures/binder/program.h"
#include "recovery/database/data_directory.h"
#include "recovery/database/unloaded_checkpoint.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

constexpr int64_t kStressRows = 2'000;
constexpr int64_t kStressThreads = 3;
constexpr int kStressLooks = 2'000;
constexpr int kStressRounds = 5;
constexpr TableId kStressTable{0};

AccessStatus insert_scattered(UnloggedWriter& rows, int64_t a, int64_t b) {
  const std::array values = {Value::of_int(a), Value::of_int(b), Value::of_int(0)};
  return rows.insert(kStressTable, values);
}

// `b`: the other key of a row.
int64_t scattered_of(int64_t a) {
  return a * 7919 % kStressRows;
}

TEST(UnloadedCheckpointStress, EachFindsItsRowsWhoeverLoadsThem) {
  const std::unique_ptr<Program> program = std::move(
      *compile("CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL UNIQUE, c int NOT NULL);", "t.sql"));
  const test::TemporaryDirectory directory;
  Database before(program->catalog, 1, PageSize::kSmall);
  {
    UnloggedWriter rows(before);
    for (int64_t i = 0; i < kStressRows; ++i)
      ASSERT_EQ(insert_scattered(rows, i, scattered_of(i)), AccessStatus::kOk);
  }
  Manifest manifest;
  manifest.checkpoint_file = write_checkpoint(before, directory.path(), CheckpointIdentity{}, 1, 400)->file;
  manifest.checkpoint_lsn = kCheckpointLsn;
  for (int round = 0; round < kStressRounds; ++round) {
    Database database(program->catalog, 1, PageSize::kSmall);
    auto opened = UnloadedCheckpoint::open(database, directory.path(), manifest);
    ASSERT_TRUE(opened.ok());
    UnloadedCheckpoint& checkpoint = **opened;
    database.set_unloaded(&checkpoint);
    const auto key = [&](IndexId index, int64_t value) {
      const Value values[] = {Value::of_int(value)};
      return *database.schema().codec(index).of_whole(values);
    };
    const RowLayout& layout = database.table(kStressTable).layout();
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < kStressThreads; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(static_cast<uint32_t>(round * kStressThreads + t));
        UnloggedWriter rows(database);
        for (int i = 0; i < kStressLooks; ++i) {
          const auto a = static_cast<int64_t>(random() % kStressRows);
          const bool by_other = random() % 2 == 0;
          Row* const row = by_other ? rows.find(IndexId{1}, key(IndexId{1}, scattered_of(a)))
                                    : rows.find(IndexId{0}, key(IndexId{0}, a));
          // Another thread may have given it another key since.
          if (a % kStressThreads != t) continue;
          if (row == nullptr) {
            EXPECT_EQ(rows.find(IndexId{1}, key(IndexId{1}, scattered_of(a))), nullptr);
            continue;
          }
          EXPECT_EQ(layout.get(row->image(), ColumnId{0}).as_int(), a);
          EXPECT_EQ(rows.find(IndexId{0}, key(IndexId{0}, a)), row);
          switch (random() % 8) {
            case 0:
              rows.erase(kStressTable, row);
              EXPECT_EQ(rows.find(IndexId{0}, key(IndexId{0}, a)), nullptr);
              EXPECT_EQ(rows.find(IndexId{1}, key(IndexId{1}, scattered_of(a))), nullptr);
              EXPECT_EQ(insert_scattered(rows, a, scattered_of(a)), AccessStatus::kOk);
              break;
            case 1: {
              const ColumnValue moved{ColumnId{1}, Value::of_int(kStressRows + a)};
              const ColumnValue back{ColumnId{1}, Value::of_int(scattered_of(a))};
              EXPECT_EQ(rows.update(kStressTable, row, {&moved, 1}), AccessStatus::kOk);
              EXPECT_EQ(rows.find(IndexId{1}, key(IndexId{1}, scattered_of(a))), nullptr);
              EXPECT_EQ(rows.update(kStressTable, row, {&back, 1}), AccessStatus::kOk);
              break;
            }
            default: {
              const int64_t count = layout.get(row->image(), ColumnId{2}).as_int();
              const ColumnValue more{ColumnId{2}, Value::of_int(count)};
              EXPECT_EQ(rows.update(kStressTable, row, {&more, 1}), AccessStatus::kOk);
              EXPECT_EQ(insert_scattered(rows, a, 50'000), AccessStatus::kDuplicateKey);
            }
          }
        }
      });
    }
    while (checkpoint.load_next()) std::this_thread::yield();
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(checkpoint.finish());
    database.set_unloaded(nullptr);
    EXPECT_EQ(state_of(database), state_of(before)) << "round " << round;
    for (const TableIndex& index : database.table(kStressTable).indexes()) index.index->verify();
  }
}

}  // namespace
}  // namespace mneme
