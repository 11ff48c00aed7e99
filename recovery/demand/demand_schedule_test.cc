// Goal: a thread is not held up by what takes too much, and what is wished for comes first. Method: one
// thread, and logs small enough to say which pieces must have run.
#include "recovery/demand/demand_schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

namespace mneme {
namespace {

constexpr ReplayThreadId kAsker{0};
constexpr ReplayThreadId kOther{1};

class CountingExecutor final : public DemandExecutor {
 public:
  uint32_t prepare(uint32_t, std::span<const BatchPiece> pieces, ReplayThreadId) override {
    return static_cast<uint32_t>(pieces.size());
  }
  bool run(uint32_t block, const BatchPiece&, ReplayThreadId) override {
    ++runs_[block];
    return true;
  }
  std::optional<uint32_t> procedure_of(uint32_t, uint32_t) const override { return 0; }
  bool run_alone(uint32_t) override { return true; }
  void retire(uint32_t) override {}

  uint32_t runs(uint32_t block) const {
    const auto found = runs_.find(block);
    return found == runs_.end() ? 0 : found->second;
  }

 private:
  std::map<uint32_t, uint32_t> runs_;
};

DemandSchedule::Block block_of(uint32_t lanes, std::vector<DemandSchedule::Recalled> recalls) {
  DemandSchedule::Block block;
  block.lanes = lanes;
  block.recalls.push_back(std::move(recalls));
  return block;
}

// Each transaction has a piece in each block, in lane 0. In the block `last_only`, where one is given, the
// last transaction alone has one.
std::vector<DemandBatch> batches_of(uint32_t blocks, uint32_t batches, uint32_t transactions,
                                    std::optional<uint32_t> last_only = {}) {
  std::vector<DemandBatch> made;
  for (uint32_t n = 0; n < batches; ++n) {
    DemandBatch& batch = made.emplace_back();
    for (uint32_t b = 0; b < blocks; ++b) {
      auto pieces = std::make_unique<BatchPieces>(transactions, 1, true);
      const bool is_last_only = last_only == b;
      for (uint32_t t = 0; t < transactions; ++t) {
        if (is_last_only && (n + 1 < batches || t + 1 < transactions)) continue;
        pieces->append({t, PiecePart::iteration(0)}, std::vector<uint32_t>{0});
      }
      batch.blocks.push_back(std::move(pieces));
    }
  }
  return made;
}

TEST(DemandSchedule, TooMuchIsNotBegun) {
  CountingExecutor executor;
  DemandSchedule schedule({block_of(1, {})}, batches_of(1, 5, 20), 2, 1, executor);
  EXPECT_EQ(schedule.try_settle({0, 0}, kAsker, 99), Settling::kTooMuch);
  EXPECT_EQ(executor.runs(0), 0U);
  EXPECT_EQ(schedule.try_settle({0, 0}, kAsker, 100), Settling::kSettled) << "that is all there is";
  EXPECT_EQ(executor.runs(0), 100U);
  EXPECT_EQ(schedule.try_settle({0, 0}, kAsker, 0), Settling::kSettled);
}

TEST(DemandSchedule, ABlockWithManyLanesIsNotBegun) {
  CountingExecutor executor;
  std::vector<DemandBatch> batches(1);
  batches[0].blocks.push_back(std::make_unique<BatchPieces>(10, 10, true));
  for (uint32_t t = 0; t < 10; ++t)
    batches[0].blocks[0]->append({t, PiecePart::iteration(0)}, std::vector<uint32_t>{t});
  DemandSchedule schedule({block_of(10, {})}, std::move(batches), 2, 1, executor);
  EXPECT_EQ(schedule.try_settle_block(0, kAsker, 9), Settling::kTooMuch);
  EXPECT_EQ(executor.runs(0), 0U);
  EXPECT_EQ(schedule.try_settle_block(0, kAsker, 10), Settling::kSettled);
  EXPECT_TRUE(schedule.is_settled_block(0));
}

// The lane that is asked for has one piece. What that recalls has a thousand before it.
TEST(DemandSchedule, WhatIsGivenUpOthersGoOnWith) {
  CountingExecutor executor;
  DemandSchedule schedule({block_of(1, {}), block_of(1, {{0, false}})}, batches_of(2, 10, 100, 1), 2, 1,
                          executor);
  EXPECT_EQ(schedule.try_settle({1, 0}, kAsker, 100), Settling::kTooMuch);
  EXPECT_EQ(executor.runs(1), 0U);
  EXPECT_GT(executor.runs(0), 0U) << "what it has done stays done";
  EXPECT_LT(executor.runs(0), 200U);
  EXPECT_FALSE(schedule.is_settled({1, 0}));
  EXPECT_EQ(schedule.try_settle({1, 0}, kOther, DemandSchedule::kNoLimit), Settling::kSettled);
  EXPECT_EQ(executor.runs(0), 1000U);
  EXPECT_EQ(executor.runs(1), 1U);
  while (schedule.go_on(kAsker)) {
  }
  EXPECT_TRUE(schedule.is_settled());
}

TEST(DemandSchedule, AWishedBlockComesFirstWithWhatItRecalls) {
  constexpr uint32_t kBatches = 8;
  constexpr uint32_t kTransactions = 4;
  CountingExecutor executor;
  DemandSchedule schedule({block_of(1, {}), block_of(1, {}), block_of(1, {{1, false}}), block_of(1, {})},
                          batches_of(4, kBatches, kTransactions), 2, 1, executor);
  ASSERT_TRUE(schedule.go_on(kAsker));
  ASSERT_EQ(executor.runs(0), kTransactions) << "the first batch of the first block";
  schedule.wish(2);
  ASSERT_TRUE(schedule.go_on(kAsker));
  EXPECT_EQ(executor.runs(1), kTransactions);
  EXPECT_EQ(executor.runs(2), 0U) << "in bulk, what it recalls comes before it";
  for (uint32_t steps = 1; steps < 2 * kBatches; ++steps) ASSERT_TRUE(schedule.go_on(kAsker));
  EXPECT_TRUE(schedule.is_settled_block(2));
  EXPECT_EQ(executor.runs(0), kTransactions);
  EXPECT_EQ(executor.runs(3), 0U);
  while (schedule.go_on(kAsker)) {
  }
  for (uint32_t block = 0; block < 4; ++block) EXPECT_EQ(executor.runs(block), kBatches * kTransactions);
  EXPECT_TRUE(schedule.is_settled());
}

// The second wish takes a block with what it recalls, the first a block alone.
TEST(DemandSchedule, TheWishThatTakesLeastComesFirst) {
  constexpr uint32_t kBatches = 4;
  constexpr uint32_t kTransactions = 4;
  CountingExecutor executor;
  DemandSchedule schedule({block_of(1, {}), block_of(1, {{0, false}}), block_of(1, {})},
                          batches_of(3, kBatches, kTransactions), 2, 1, executor);
  schedule.wish(1);
  schedule.wish(2);
  for (uint32_t steps = 0; steps < kBatches; ++steps) ASSERT_TRUE(schedule.go_on(kAsker));
  EXPECT_TRUE(schedule.is_settled_block(2));
  EXPECT_EQ(executor.runs(0), 0U);
  for (uint32_t steps = 0; steps < 2 * kBatches; ++steps) ASSERT_TRUE(schedule.go_on(kAsker));
  EXPECT_TRUE(schedule.is_settled_block(1));
}

}  // namespace
}  // namespace mneme
