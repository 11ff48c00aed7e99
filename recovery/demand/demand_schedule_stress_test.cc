// Goal: whatever is asked for, by whichever threads, each piece runs once; two that share a lane run in
// commit order, one at a time; a piece runs when the pieces whose outputs it recalls have, and sees what they
// wrote; what stands alone runs alone, at its place; what is called settled is; and a thread
// that gives up, and wishes, leaves nothing that others could not go on from. Method: batches of random
// pieces in random lanes, which leave marks in plain memory: under ThreadSanitizer a missing hand-over is a
// race.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>

#include "base/testing/test_effort.h"
#include "recovery/demand/demand_schedule.h"

namespace mneme {
namespace {

constexpr uint32_t kDemandBlocks = 4;
constexpr uint32_t kDemandProcedures = 3;
constexpr uint32_t kDemandThreads = 4;
constexpr uint32_t kDemandLogs = kIsSanitized ? 100 : 600;

// Number of a piece in commit order, from 1.
uint64_t demand_number(uint32_t batch, uint32_t transaction) {
  return uint64_t{batch} * 1000 + transaction + 1;
}

struct RandomLog {
  explicit RandomLog(uint32_t seed) : random(seed) {
    for (uint32_t b = 0; b < kDemandBlocks; ++b) {
      DemandSchedule::Block& block = shape.emplace_back();
      block.lanes = 1 + random() % 5;
      block.recalls.resize(kDemandProcedures);
      for (uint32_t p = 0; p < kDemandProcedures; ++p) {
        for (uint32_t before = 0; before < b; ++before) {
          if (random() % 3 == 0) block.recalls[p].push_back({before, random() % 2 == 0});
        }
      }
    }
    const uint32_t count = 2 + random() % 6;
    for (uint32_t n = 0; n < count; ++n) add_batch();
  }

  void add_batch() {
    DemandBatch& batch = batches.emplace_back();
    procedures.emplace_back();
    lists.emplace_back();
    if (random() % 5 == 0) return;  // it stands alone
    const uint32_t transactions = 1 + random() % 12;
    for (uint32_t t = 0; t < transactions; ++t)
      procedures.back().push_back(random() % (kDemandProcedures + 1));
    for (uint32_t b = 0; b < kDemandBlocks; ++b) {
      auto made = std::make_unique<BatchPieces>(transactions, shape[b].lanes, true);
      for (uint32_t t = 0; t < transactions; ++t) add_pieces(*made, b, t);
      lists.back().push_back(made.get());
      batch.blocks.push_back(std::move(made));
    }
  }

  bool stands_alone(uint32_t batch) const { return lists[batch].empty(); }

  void add_pieces(BatchPieces& to, uint32_t block, uint32_t transaction) {
    for (uint32_t parts = random() % 3; parts > 0; --parts) {
      const Piece piece{transaction, PiecePart::iteration(parts)};
      const uint32_t kind = random() % 8;
      if (kind == 0) {
        to.append_to_all(piece);
      } else if (kind == 1) {
        to.append_free(piece);
      } else {
        std::vector<uint32_t> lanes;
        for (uint32_t l = 0; l <= random() % 2; ++l) lanes.push_back(random() % shape[block].lanes);
        to.append(piece, lanes);
      }
    }
  }

  std::mt19937 random;
  std::vector<DemandSchedule::Block> shape;
  std::vector<DemandBatch> batches;               // until the schedule has them
  std::vector<std::vector<BatchPieces*>> lists;   // of these, by batch and block; none where it stands alone
  std::vector<std::vector<uint32_t>> procedures;  // by batch and transaction; kDemandProcedures: ad hoc
};

// Plain memory that the schedule's hand-overs must order.
class MarkingExecutor final : public DemandExecutor {
 public:
  explicit MarkingExecutor(const RandomLog& log) : log_(log) {
    for (uint32_t b = 0; b < kDemandBlocks; ++b) {
      last_.emplace_back(log.shape[b].lanes, 0);
      has_run_.emplace_back();
      for (const std::vector<BatchPieces*>& batch : log.lists)
        has_run_.back().emplace_back(batch.empty() ? 0 : batch[b]->size(), 0);
    }
    alone_.resize(log.lists.size(), 0);
    retired_.resize(log.lists.size(), 0);
  }

  uint32_t prepare(uint32_t, std::span<const BatchPiece> pieces, ReplayThreadId) override {
    return static_cast<uint32_t>(1 + pieces.size() / 2);
  }
  bool run(uint32_t block, const BatchPiece& piece, ReplayThreadId) override {
    BatchPieces& lists = *log_.lists[piece.batch][block];
    EXPECT_EQ(retired_[piece.batch], 0);
    const uint32_t transaction = piece.piece.transaction;
    const auto [first, end] = lists.entries_of(transaction);
    for (uint32_t e = first; e < end; ++e) {
      if (!(lists.piece(e) == piece.piece)) continue;
      EXPECT_EQ(has_run_[block][piece.batch][e]++, 0);
      for (const uint32_t lane : lists.lanes(e)) {
        EXPECT_LE(last_[block][lane], demand_number(piece.batch, transaction));
        last_[block][lane] = demand_number(piece.batch, transaction);
      }
      break;
    }
    const uint32_t procedure = log_.procedures[piece.batch][transaction];
    if (procedure < kDemandProcedures) {
      for (const DemandSchedule::Recalled& recalled : log_.shape[block].recalls[procedure])
        expect_recalled(recalled, piece);
    }
    for (uint32_t before = 0; before < piece.batch; ++before) {
      if (!log_.stands_alone(before)) continue;
      EXPECT_EQ(alone_[before], 1) << "a piece overtook it";
    }
    return true;
  }
  bool run_alone(uint32_t batch) override {
    EXPECT_EQ(alone_[batch]++, 0);
    for (uint32_t before = 0; before < batch; ++before) expect_all_run(before);
    return true;
  }
  void retire(uint32_t batch) override {
    EXPECT_FALSE(log_.stands_alone(batch));
    EXPECT_EQ(retired_[batch]++, 0);
    expect_all_run(batch);
  }
  std::optional<uint32_t> procedure_of(uint32_t batch, uint32_t transaction) const override {
    const uint32_t procedure = log_.procedures[batch][transaction];
    return procedure < kDemandProcedures ? std::optional(procedure) : std::nullopt;
  }

  void expect_all_run(uint32_t batch) const {
    if (log_.stands_alone(batch)) {
      EXPECT_EQ(alone_[batch], 1);
      return;
    }
    for (uint32_t b = 0; b < kDemandBlocks; ++b) {
      for (const int runs : has_run_[b][batch]) EXPECT_EQ(runs, 1);
    }
  }
  // What the pieces of the lane, or of all lanes, did is there.
  void expect_settled(uint32_t block, std::optional<uint32_t> lane) const {
    for (uint32_t n = 0; n < log_.lists.size(); ++n) {
      if (log_.stands_alone(n)) continue;
      const BatchPieces& pieces = *log_.lists[n][block];
      for (uint32_t e = 0; e < pieces.size(); ++e) {
        if (lane && std::ranges::count(pieces.lanes(e), *lane) == 0) continue;
        EXPECT_EQ(has_run_[block][n][e], 1);
      }
    }
  }

 private:
  // All pieces of the transaction, or those of the same iteration.
  void expect_recalled(const DemandSchedule::Recalled& recalled, const BatchPiece& by) const {
    const BatchPieces& pieces = *log_.lists[by.batch][recalled.block];
    const auto [first, end] = pieces.entries_of(by.piece.transaction);
    for (uint32_t e = first; e < end; ++e) {
      if (recalled.by_iteration && !(pieces.piece(e).part == by.piece.part)) continue;
      EXPECT_EQ(has_run_[recalled.block][by.batch][e], 1);
    }
  }

  const RandomLog& log_;
  std::vector<std::vector<uint64_t>> last_;             // by block and lane: the last piece that ran
  std::vector<std::vector<std::vector<int>>> has_run_;  // by block, batch and entry
  std::vector<int> alone_;                              // by batch
  std::vector<int> retired_;                            // by batch
};

// At least one thread does nothing but go on.
void settle_by_little(DemandSchedule& schedule, BlockLane lane, ReplayThreadId thread, uint64_t pieces) {
  Settling settling;
  while ((settling = schedule.try_settle(lane, thread, pieces)) == Settling::kTooMuch) {
    schedule.wish(lane.block);
    std::this_thread::yield();
  }
  EXPECT_EQ(settling, Settling::kSettled);
}

void run_random_log(uint32_t seed) {
  SCOPED_TRACE(seed);
  RandomLog log(seed);
  MarkingExecutor executor(log);
  DemandSchedule schedule(log.shape, std::move(log.batches), kDemandThreads, 1 + seed % 3, executor);
  const uint32_t askers = seed % kDemandThreads;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kDemandThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(seed * 7 + t);
      const ReplayThreadId thread{t};
      for (uint32_t i = 0; t < askers && i < 6; ++i) {
        const auto block = static_cast<uint32_t>(random() % kDemandBlocks);
        if (random() % 4 == 0) {
          EXPECT_TRUE(schedule.settle_block(block, thread));
          EXPECT_TRUE(schedule.is_settled_block(block));
          executor.expect_settled(block, std::nullopt);
          continue;
        }
        const BlockLane lane{block, static_cast<uint32_t>(random() % log.shape[block].lanes)};
        if (random() % 2 == 0) {
          settle_by_little(schedule, lane, thread, random() % 8);
        } else {
          EXPECT_TRUE(schedule.settle(lane, thread));
        }
        EXPECT_TRUE(schedule.is_settled(lane));
        executor.expect_settled(block, lane.lane);
      }
      while (schedule.go_on(thread)) {
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(schedule.is_settled());
  EXPECT_EQ(schedule.pieces_run(), schedule.piece_count());
  for (uint32_t n = 0; n < log.lists.size(); ++n) executor.expect_all_run(n);
}

TEST(DemandScheduleStress, PiecesRunInOrderWhateverIsAskedFor) {
  for (uint32_t seed = 1; seed <= kDemandLogs && !testing::Test::HasFailure(); ++seed) run_random_log(seed);
}

}  // namespace
}  // namespace mneme
