// Goal: what lane_scheduler.h promises holds for any graph, any lanes and any number of threads. Method:
// random blocks and pieces that check themselves. A piece folds its commit order into a word of each of its
// lanes: the words are plain memory, so ThreadSanitizer sees two pieces in one lane at once, and their final
// values equal a serial run's only if every lane ran its pieces in order. From batch to batch the placement
// changes: a word then stands in another lane, and must still see its pieces in order. A piece also reads,
// without synchronization of its own, what all predecessors' pieces of its transaction wrote. Some loads ask
// to be alone, and then touch every lane's word.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "recovery/calls/lane_scheduler.h"

namespace mneme {
namespace {

// Into how many lanes a batch's words fall, and by which map.
struct Placed {
  uint32_t number = 0;
  uint32_t lanes = 1;
  uint32_t lane_of(uint32_t word) const { return (word + number) % lanes; }
};

struct Plan {
  std::vector<ScheduledBlock> blocks;
  // lanes[block][batch][transaction]: where the piece stands; empty: the transaction has no piece in the
  // block.
  // These are words; lane = (word + placement) % used[block][batch]
  std::vector<std::vector<std::vector<std::vector<uint32_t>>>> lanes;
  std::vector<std::vector<Placed>> placed;  // by block and batch
  uint32_t batches = 0;
  uint32_t transactions = 0;  // in a batch
};

Plan random_plan(std::mt19937& random, uint32_t batches, uint32_t transactions) {
  Plan plan;
  plan.batches = batches;
  plan.transactions = transactions;
  const uint32_t blocks = 1 + random() % 6;
  for (uint32_t b = 0; b < blocks; ++b) {
    ScheduledBlock block;
    block.lane_count = 1 + random() % 12;
    for (uint32_t p = 0; p < b; ++p) {
      if (random() % 3 == 0) block.predecessors.push_back(p);
    }
    plan.blocks.push_back(block);
    auto& placed = plan.placed.emplace_back(batches);
    const uint32_t changes_in = 1 + random() % 20;
    Placed now{0, block.lane_count};
    for (Placed& of_batch : placed) {
      if (random() % changes_in == 0)
        now = {static_cast<uint32_t>(now.number + 1), 1 + static_cast<uint32_t>(random() % block.lane_count)};
      of_batch = now;
    }
    auto& of_block = plan.lanes.emplace_back(batches);
    const uint32_t absent_in = 1 + random() % 5;
    for (auto& of_batch : of_block) {
      of_batch.resize(transactions);
      for (auto& lanes : of_batch) {
        if (random() % absent_in == 1) continue;
        const uint32_t count = random() % 10 == 0 ? block.lane_count : 1 + random() % 3;
        for (uint32_t i = 0; i < count; ++i)
          lanes.push_back(count == block.lane_count ? i : random() % block.lane_count);
      }
    }
  }
  return plan;
}

uint64_t fold(uint64_t word, uint64_t order) {
  return (word ^ order) * 0x9e3779b97f4a7c15u + 1;
}

class CheckingExecutor final : public PieceExecutor {
 public:
  CheckingExecutor(const Plan& plan, uint64_t stop_at = UINT64_MAX)
      : plan_(plan), stop_at_(stop_at), decoded_by_(plan.batches, 0) {
    for (const ScheduledBlock& block : plan.blocks) {
      lane_words_.emplace_back(block.lane_count, 0);
      outputs_.emplace_back(plan.batches * plan.transactions, 0);
    }
  }

  Load load(uint64_t batch) override {
    EXPECT_EQ(batch, loaded_);
    if (batch == plan_.batches) return Load::kEnd;
    if (batch % 5 == 3) {
      if (std::exchange(asked_to_be_alone_, batch) != batch) return Load::kWhenAlone;
      // Nothing runs now: all words may be looked at, and be written.
      EXPECT_EQ(retired_, batch);
      for (auto& words : lane_words_) {
        for (uint64_t& word : words) words_seen_alone_ ^= word++;
        for (uint64_t& word : words) --word;
      }
    }
    ++loaded_;
    return Load::kLoaded;
  }
  bool decode(uint64_t batch, ReplayThreadId thread) override {
    // Other batches are decoded meanwhile; this one is loaded, and nothing has been done to it yet.
    EXPECT_EQ(decoded_by_[batch], 0u);
    decoded_by_[batch] = thread.value + 1;
    return true;
  }
  bool fill(uint32_t block, uint64_t batch, ReplayThreadId, LaneFill& fill) override {
    EXPECT_NE(decoded_by_[batch], 0u);
    // So that later ones overtake it.
    for (int i = 0; batch % 3 == 0 && i < 20; ++i) std::this_thread::yield();
    const Placed& placed = plan_.placed[block][batch];
    fill.place(placed.number, placed.lanes);
    for (uint32_t t = 0; t < plan_.transactions; ++t) {
      // A fill may use what earlier blocks put out.
      EXPECT_TRUE(predecessors_have_run(block, batch, t));
      const auto& lanes = plan_.lanes[block][batch][t];
      if (lanes.empty()) continue;
      if (lanes.size() == plan_.blocks[block].lane_count && lanes.size() > 1)
        fill.append_to_all({t, PiecePart::iteration(7)});
      else
        fill.append({t, PiecePart::iteration(7)}, lanes_of(placed, lanes));
    }
    return true;
  }
  // Sometimes fewer than there are: then the scheduler must ask again before the next.
  uint32_t prepare(uint32_t block, uint64_t batch, std::span<const Piece> pieces,
                   ReplayThreadId thread) override {
    EXPECT_FALSE(pieces.empty());
    // As the pieces would find them: a piece that shares a lane with one of these has run, or comes later.
    for (const Piece& piece : pieces) {
      EXPECT_EQ(piece.part, PiecePart::iteration(7));
      EXPECT_TRUE(predecessors_have_run(block, batch, piece.transaction));
    }
    const auto ready = static_cast<uint32_t>(1 + pieces.front().transaction % pieces.size());
    Prepared& prepared = prepared_[thread.value];
    prepared.orders.clear();
    for (const Piece& piece : pieces.first(ready))
      prepared.orders.push_back(batch * plan_.transactions + piece.transaction);
    prepared.next = 0;
    return ready;
  }
  bool run(uint32_t block, uint64_t batch, Piece piece, ReplayThreadId thread) override {
    const uint64_t order = batch * plan_.transactions + piece.transaction;
    Prepared& prepared = prepared_[thread.value];
    EXPECT_LT(prepared.next, prepared.orders.size());
    EXPECT_EQ(prepared.orders[prepared.next++], order);
    EXPECT_EQ(piece.part, PiecePart::iteration(7));
    EXPECT_TRUE(predecessors_have_run(block, batch, piece.transaction));
    // Not only its own transaction's: those of all batches before, of which this looks at one.
    const uint64_t earlier = batch - std::min<uint64_t>(batch, 1 + order % 3);
    EXPECT_TRUE(predecessors_have_run(block, earlier, piece.transaction));
    apply(block, order, plan_.lanes[block][batch][piece.transaction]);
    outputs_[block][order] = order + 1;
    return order != stop_at_;
  }
  void retire(uint64_t batch) override {
    EXPECT_EQ(batch, retired_);
    ++retired_;
    for (uint32_t b = 0; b < plan_.blocks.size(); ++b) {
      for (uint32_t t = 0; t < plan_.transactions; ++t) EXPECT_TRUE(has_run(b, batch, t));
    }
  }

  // Each lane's word, touched once by a piece even where the piece names the lane twice.
  void apply(uint32_t block, uint64_t order, std::vector<uint32_t> lanes) {
    std::sort(lanes.begin(), lanes.end());
    lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
    for (const uint32_t lane : lanes) lane_words_[block][lane] = fold(lane_words_[block][lane], order);
  }
  const auto& lane_words() const { return lane_words_; }
  uint64_t retired() const { return retired_; }

 private:
  bool has_run(uint32_t block, uint64_t batch, uint32_t transaction) const {
    const uint64_t order = batch * plan_.transactions + transaction;
    return outputs_[block][order] == (plan_.lanes[block][batch][transaction].empty() ? 0 : order + 1);
  }
  bool predecessors_have_run(uint32_t block, uint64_t batch, uint32_t transaction) const {
    for (const uint32_t p : plan_.blocks[block].predecessors) {
      if (!has_run(p, batch, transaction)) return false;
    }
    return true;
  }

  static std::vector<uint32_t> lanes_of(const Placed& placed, const std::vector<uint32_t>& words) {
    std::vector<uint32_t> lanes;
    for (const uint32_t word : words) lanes.push_back(placed.lane_of(word));
    return lanes;
  }

  // The pieces that a thread has made ready, and how many of them have run.
  struct Prepared {
    std::vector<uint64_t> orders;
    size_t next = 0;
  };

  const Plan& plan_;
  const uint64_t stop_at_;
  std::vector<uint32_t> decoded_by_;   // by batch: 1 + the thread
  std::array<Prepared, 16> prepared_;  // by thread
  uint64_t loaded_ = 0;
  uint64_t asked_to_be_alone_ = 0;
  uint64_t words_seen_alone_ = 0;
  uint64_t retired_ = 0;
  std::vector<std::vector<uint64_t>> lane_words_;  // [block][lane]
  std::vector<std::vector<uint64_t>> outputs_;     // [block][order]: order + 1 once the piece has run
};

class LaneSchedulerStress : public testing::TestWithParam<uint32_t> {};

TEST_P(LaneSchedulerStress, EveryLaneRunsItsPiecesInCommitOrder) {
  const uint32_t threads = GetParam();
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed * 8 + threads);
    const uint32_t transactions = std::array{1, 7, 60}[random() % 3];
    const Plan plan = random_plan(random, 600 / (transactions + 9), transactions);

    CheckingExecutor expected(plan);
    for (uint32_t b = 0; b < plan.blocks.size(); ++b) {
      for (uint64_t order = 0; order < uint64_t{plan.batches} * plan.transactions; ++order) {
        expected.apply(b, order, plan.lanes[b][order / plan.transactions][order % plan.transactions]);
      }
    }
    CheckingExecutor executor(plan);
    LaneScheduler scheduler(plan.blocks, {threads, 1 + static_cast<uint32_t>(random() % 5)}, executor);
    ASSERT_TRUE(scheduler.run());
    EXPECT_EQ(executor.retired(), plan.batches);
    EXPECT_EQ(executor.lane_words(), expected.lane_words());
  }
}

TEST_P(LaneSchedulerStress, AFailingPieceStopsTheRun) {
  const uint32_t threads = GetParam();
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Plan plan = random_plan(random, 30, 10);
    plan.lanes[0][12][3] = {0};
    CheckingExecutor executor(plan, 12 * 10 + 3);
    LaneScheduler scheduler(plan.blocks, {threads, 3}, executor);
    EXPECT_FALSE(scheduler.run());
    EXPECT_LE(executor.retired(), 12u);
  }
}

// The fill of batch 0 ends a while after that of batch 1; the one lane runs 0's pieces first all the same.
class OverlappingFills final : public PieceExecutor {
 public:
  Load load(uint64_t batch) override { return batch == 2 ? Load::kEnd : Load::kLoaded; }
  bool decode(uint64_t, ReplayThreadId) override { return true; }
  bool fill(uint32_t, uint64_t batch, ReplayThreadId, LaneFill& fill) override {
    const uint32_t lane = 0;
    fill.append({static_cast<uint32_t>(batch), PiecePart::slice()}, {&lane, 1});
    if (batch == 1) {
      later_has_ended_.store(true);
      return true;
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!later_has_ended_.load() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_TRUE(later_has_ended_.load());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return true;
  }
  uint32_t prepare(uint32_t, uint64_t, std::span<const Piece> pieces, ReplayThreadId) override {
    return static_cast<uint32_t>(pieces.size());
  }
  bool run(uint32_t, uint64_t batch, Piece, ReplayThreadId) override {
    ran_.push_back(batch);
    return true;
  }
  void retire(uint64_t) override {}

  const std::vector<uint64_t>& ran() const { return ran_; }

 private:
  std::atomic<bool> later_has_ended_ = false;
  std::vector<uint64_t> ran_;  // plain memory: the lane's
};

TEST(LaneScheduler, FillsOfABlockRunSideBySideAndItsListsInOrder) {
  OverlappingFills executor;
  const std::vector<ScheduledBlock> blocks = {{{}, 1}};
  ASSERT_TRUE(LaneScheduler(blocks, {2, 4}, executor).run());
  EXPECT_EQ(executor.ran(), (std::vector<uint64_t>{0, 1}));
}

TEST(LaneScheduler, RunsWithoutBlocksAndWithoutBatches) {
  Plan plan;
  plan.batches = 5;
  CheckingExecutor no_blocks(plan);
  EXPECT_TRUE(LaneScheduler({}, {2, 3}, no_blocks).run());
  EXPECT_EQ(no_blocks.retired(), 5u);

  std::mt19937 random(1);
  const Plan empty = random_plan(random, 0, 4);
  CheckingExecutor no_batches(empty);
  EXPECT_TRUE(LaneScheduler(empty.blocks, {2, 3}, no_batches).run());
  EXPECT_EQ(no_batches.retired(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Threads, LaneSchedulerStress, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace mneme
