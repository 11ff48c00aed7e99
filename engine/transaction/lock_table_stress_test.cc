// Goal: transactions that lock rows in any order all end, and locks exclude. Method: threads lock random rows
// of a few, shared, exclusive, or one after the other, and work on plain numbers beside them, which
// ThreadSanitizer watches as well. A deadlock would hang; starvation shows as a transaction that died
// absurdly often.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <thread>
#include <vector>

#include "engine/testing/test_database.h"
#include "engine/transaction/row_locks.h"

namespace mneme {
namespace {

constexpr uint32_t kLockers = 4;
constexpr size_t kLockedRows = 6;
constexpr int kTransactionsEach = 4'000;

struct Shelf {
  std::array<Row, kLockedRows> rows;
  std::array<int64_t, kLockedRows> numbers{};  // each guarded by the lock of its row
};

struct Step {
  size_t row;
  LockMode mode;
};

std::vector<Step> random_steps(std::mt19937_64& random) {
  std::vector<Step> steps(2 + random() % 4);
  for (Step& step : steps)
    step = {random() % kLockedRows, random() % 3 == 0 ? LockMode::kShared : LockMode::kExclusive};
  return steps;
}

// False: it died. What a step does to a number depends on what it reads, so that writers that overlap lose
// something.
bool attempt(const std::vector<Step>& steps, RowLocks& locks, CommitLog& log, Shelf& shelf,
             std::mt19937_64& random) {
  for (const Step& step : steps) {
    if (!locks.lock(shelf.rows[step.row], LockMode::kShared, log)) return false;
    const int64_t before = shelf.numbers[step.row];
    if (random() % 4 == 0) std::this_thread::yield();
    if (step.mode == LockMode::kExclusive && !locks.lock(shelf.rows[step.row], LockMode::kExclusive, log))
      return false;
    EXPECT_EQ(shelf.numbers[step.row], before) << "somebody wrote what we had locked";
  }
  for (const Step& step : steps) {
    if (step.mode == LockMode::kExclusive) ++shelf.numbers[step.row];
  }
  return true;
}

TEST(LockTableStress, AllTransactionsEnd) {
  LockTable table;
  CountingLog log;
  Shelf shelf;
  std::array<int64_t, kLockers> added{};
  std::array<uint64_t, kLockers> died{};
  {
    std::vector<std::jthread> threads;
    for (uint32_t thread = 0; thread < kLockers; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937_64 random(thread + 1);
        RowLocks locks(table, WorkerId{thread}, /*early_release=*/true);
        for (int i = 0; i < kTransactionsEach; ++i) {
          const std::vector<Step> steps = random_steps(random);
          locks.begin();
          while (!attempt(steps, locks, log, shelf, random)) {
            locks.release_all();
            ++died[thread];
            std::this_thread::yield();
          }
          locks.release_all();
          for (const Step& step : steps) added[thread] += step.mode == LockMode::kExclusive ? 1 : 0;
        }
      });
    }
  }
  int64_t sum = 0, expected = 0;
  uint64_t deaths = 0;
  for (const int64_t number : shelf.numbers) sum += number;
  for (uint32_t thread = 0; thread < kLockers; ++thread) {
    expected += added[thread];
    deaths += died[thread];
  }
  EXPECT_EQ(sum, expected);
  EXPECT_GT(deaths, 0u) << "threads that never meet test nothing";
}

}  // namespace
}  // namespace mneme
