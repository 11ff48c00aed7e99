// Goal: blocks get lanes by their shares of the work, as the log goes on, and none where one lane will do.
// Method: a table and a procedure for each block, so that the calls in the log alone say what share is whose;
// what a sample of pieces touches is made up.
#include "recovery/calls/lane_planner.h"

#include <gtest/gtest.h>

#include "procedures/binder/program.h"
#include "procedures/interpreter/call_codec.h"

namespace mneme {
namespace {

constexpr const char* kText = R"(
CREATE TABLE first (id INT PRIMARY KEY, v INT NOT NULL);
CREATE TABLE second (id INT PRIMARY KEY, v INT NOT NULL);
CREATE TABLE third (id INT PRIMARY KEY, v INT NOT NULL);
CREATE PROCEDURE change_first(p_id INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE first SET v = 2 * v WHERE id = p_id; END $$;
CREATE PROCEDURE change_second(p_id INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE second SET v = 2 * v WHERE id = p_id; END $$;
CREATE PROCEDURE change_third(p_id INT) LANGUAGE plpgsql AS $$
BEGIN FOR i IN 1..p_id LOOP UPDATE third SET v = 2 * v WHERE id = i; END LOOP; END $$;
)";

ReplayOptions options_of(uint32_t threads, ReplayLevel level = ReplayLevel::kPipelined) {
  ReplayOptions options;
  options.threads = threads;
  options.level = level;
  return options;
}

// Pieces of one lane each, as many in each lane; or all in one.
LaneSample sample_of(float pieces, bool in_one_lane = false) {
  LaneSample sample;
  sample.pieces = pieces;
  if (in_one_lane) {
    sample.in_lane[7] = pieces;
  } else {
    sample.in_lane.fill(pieces / kMostLanes);
  }
  return sample;
}

class LanePlannerTest : public testing::Test {
 protected:
  // Each block has so many maps.
  LanePlanner planner(const ReplayOptions& options, uint32_t maps = 1, bool first_is_safe = true) const {
    const LanePlanner::BlockMaps of_block{maps, false, first_is_safe ? 0 : maps};
    return LanePlanner(graph_, std::vector(graph_.blocks.size() + 1, of_block), options);
  }
  // A batch of so many calls of each procedure.
  std::vector<LanePlacement> plan(LanePlanner& planner, std::vector<uint32_t> calls) const {
    std::vector<ByteBuffer> payloads;
    for (uint32_t p = 0; p < calls.size(); ++p) {
      ByteBuffer payload;
      encode_call(*program_, {ProcedureId{p}, {Argument::of(Value::of_int(3))}}, payload);
      payloads.insert(payloads.end(), calls[p], payload);
    }
    std::vector<RecordView> records;
    for (const ByteBuffer& payload : payloads)
      records.push_back({Lsn{records.size() + 1}, RecordKind::kCommand, payload.span()});
    std::vector<LanePlacement> placements;
    planner.plan(records, placements);
    return placements;
  }
  std::vector<uint32_t> lanes(std::vector<uint32_t> calls, const ReplayOptions& options) const {
    LanePlanner made = planner(options);
    std::vector<uint32_t> lanes;
    for (const LanePlacement& placement : plan(made, std::move(calls))) lanes.push_back(placement.lanes);
    return lanes;
  }
  uint32_t block_of(uint32_t procedure) const {
    return graph_.local(ProcedureId{procedure}).slices[0].block.value;
  }

  const std::unique_ptr<const Program> program_ = *compile(kText, "test.sql");
  const DependencyGraph graph_ = analyze(*program_);
};

TEST_F(LanePlannerTest, OneThreadHasOneLane) {
  EXPECT_EQ(lanes({1, 0, 0}, options_of(1)), (std::vector<uint32_t>{1, 1, 1, 1}));
}

TEST_F(LanePlannerTest, BlocksThatShareTheWorkHaveOneLaneEach) {
  const std::vector<uint32_t> of = lanes({100, 100, 0}, options_of(2));
  EXPECT_EQ(of[block_of(0)], 1u);
  EXPECT_EQ(of[block_of(1)], 1u);
}

TEST_F(LanePlannerTest, LanesGrowWithTheShareAndTheThreads) {
  const auto of = [&](uint32_t threads) { return lanes({300, 100, 0}, options_of(threads)); };
  // Half of the work is decoding, so that the first block has three eighths.
  EXPECT_EQ(of(2)[block_of(0)], 1u);
  EXPECT_EQ(of(4)[block_of(0)], 1u);   // 1.5 threads' work: locating rows would cost what lanes gain
  EXPECT_EQ(of(8)[block_of(0)], 16u);  // 3 threads' work, four lanes for each
  EXPECT_EQ(of(8)[block_of(1)], 1u);
  EXPECT_GE(of(32)[block_of(1)], 8u);
  EXPECT_EQ(of(1000)[block_of(0)], 64u);
}

TEST_F(LanePlannerTest, ALoopCountsAsMoreThanOneTurn) {
  const std::vector<uint32_t> of = lanes({100, 0, 100}, options_of(6));
  EXPECT_EQ(of[block_of(0)], 1u);
  EXPECT_GE(of[block_of(2)], 8u);
}

// Rows of ad-hoc transactions are work of the blocks in which they were located.
TEST_F(LanePlannerTest, LoggedRowsAreWork) {
  LanePlanner rows = planner(options_of(8));
  LaneSample located = sample_of(1000);
  located.rows = 1000;
  rows.observe(block_of(0), {&located, 1});
  ByteBuffer payload;
  payload.put_varint(3);
  for (uint8_t byte = 0; byte < 12; ++byte) payload.put(byte);
  const std::vector<RecordView> records(200, {Lsn{1}, RecordKind::kLogical, payload.span()});
  std::vector<LanePlacement> placements;
  rows.plan(records, placements);
  EXPECT_GE(placements[block_of(0)].lanes, 8u);
  EXPECT_EQ(placements[block_of(1)].lanes, 1u);
}

// Both blocks have as many operations; those of the first take nine times as long.
TEST_F(LanePlannerTest, ABlockWhoseOperationsTakeLongerHasMoreWork) {
  LanePlanner measured = planner(options_of(3));
  EXPECT_EQ(plan(measured, {100, 100, 0})[block_of(0)].lanes, 1u);
  for (int batch = 0; batch < 10; ++batch) {
    measured.observe_time(block_of(0), 100, 900e-6);
    measured.observe_time(block_of(1), 100, 100e-6);
    measured.observe_decoding(200, 100e-6);
  }
  const std::vector<LanePlacement> placements = plan(measured, {100, 100, 0});
  EXPECT_GT(placements[block_of(0)].lanes, 1u);
  EXPECT_EQ(placements[block_of(1)].lanes, 1u);
  // Any thread decodes. Once decoding takes most of the time, the block is less than one thread's share.
  for (int batch = 0; batch < 200; ++batch) measured.observe_decoding(200, 3000e-6);
  EXPECT_EQ(plan(measured, {100, 100, 0})[block_of(0)].lanes, 1u);
}

TEST_F(LanePlannerTest, LanesAreAsAskedFor) {
  ReplayOptions given = options_of(2);
  given.lanes_per_block = 8;
  EXPECT_EQ(lanes({100, 100, 0}, given), (std::vector<uint32_t>{8, 8, 8, 8}));
  // The simulated machine counts, though one thread runs.
  ReplayOptions simulated = options_of(1);
  simulated.planned_threads = 8;
  EXPECT_EQ(lanes({100, 0, 0}, simulated)[block_of(0)], 16u);
}

TEST_F(LanePlannerTest, StaticReplayHasOneLaneAndSynchronousReplayMany) {
  EXPECT_EQ(lanes({1, 0, 0}, options_of(4, ReplayLevel::kStatic)), (std::vector<uint32_t>{1, 1, 1, 1}));
  EXPECT_EQ(lanes({100, 100, 0}, options_of(4, ReplayLevel::kSynchronous))[block_of(0)], 64u);
}

TEST_F(LanePlannerTest, LanesFollowTheLog) {
  LanePlanner follows = planner(options_of(4));
  for (int batch = 0; batch < 30; ++batch) EXPECT_EQ(plan(follows, {100, 0, 0})[block_of(1)].lanes, 1u);
  std::vector<LanePlacement> placements;
  for (int batch = 0; batch < 20; ++batch) placements = plan(follows, {0, 100, 0});
  EXPECT_EQ(placements[block_of(0)].lanes, 1u);
  EXPECT_GT(placements[block_of(1)].lanes, 1u);
}

TEST_F(LanePlannerTest, AMapWithWideAccessesServesOnceItIsObserved) {
  LanePlanner unknown = planner(options_of(4), 1, false);
  const uint32_t block = block_of(0);
  LanePlacement placement = plan(unknown, {100, 0, 0})[block];
  EXPECT_EQ(placement.lanes, 1u);
  EXPECT_TRUE(placement.is_observed);
  const LaneSample narrow = sample_of(100);
  unknown.observe(block, {&narrow, 1});
  placement = plan(unknown, {100, 0, 0})[block];
  EXPECT_EQ(placement.lanes, 8u);
  // And no longer, once most pieces are wide.
  LaneSample wide = sample_of(10);
  wide.pieces += 90;
  wide.wide = 90;
  for (int batch = 0; batch < 20; ++batch) unknown.observe(block, {&wide, 1});
  EXPECT_EQ(plan(unknown, {100, 0, 0})[block].lanes, 1u);
}

TEST_F(LanePlannerTest, TheMapWithFewerMeetingsIsTaken) {
  LanePlanner two = planner(options_of(4), 2);
  const uint32_t block = block_of(0);
  // By the first map all pieces meet in one lane.
  const std::array<LaneSample, 2> samples = {sample_of(100, true), sample_of(100)};
  two.observe(block, samples);
  const LanePlacement placement = plan(two, {100, 0, 0})[block];
  EXPECT_EQ(placement.map, 1u);
  EXPECT_GT(placement.lanes, 1u);
}

TEST_F(LanePlannerTest, ABlockThatOrdersNothingIsSpreadOnceAThreadCannotKeepUp) {
  const auto lanes_of = [&](uint32_t threads) {
    const LanePlanner::BlockMaps free{.maps = 0, .is_free = true, .first = 0};
    LanePlanner made(graph_, std::vector(graph_.blocks.size() + 1, free), options_of(threads));
    return plan(made, {100, 0, 0})[block_of(0)].lanes;
  };
  EXPECT_EQ(lanes_of(2), 1u);
  EXPECT_EQ(lanes_of(4), kMostLanes);
}

TEST_F(LanePlannerTest, OneHotKeyHasOneLane) {
  LanePlanner hot = planner(options_of(2));
  const uint32_t block = block_of(0);
  const LaneSample sample = sample_of(100, true);
  hot.observe(block, {&sample, 1});
  EXPECT_EQ(plan(hot, {100, 0, 0})[block].lanes, 1u);
}

TEST_F(LanePlannerTest, PiecesOfTwoLanesEachNeedMoreThreadsToGain) {
  LaneSample pairs = sample_of(100);
  pairs.extra_lanes = 100;
  const auto lanes_of = [&](uint32_t threads) {
    LanePlanner made = planner(options_of(threads));
    made.observe(block_of(0), {&pairs, 1});
    return plan(made, {100, 0, 0})[block_of(0)].lanes;
  };
  EXPECT_EQ(lanes_of(2), 1u);
  EXPECT_GT(lanes_of(16), 1u);
}

}  // namespace
}  // namespace mneme
