// Goal: blocks get lanes by their shares of the work, and none where one lane will do.
// Method: a table and a procedure for each block, so that the calls in the log alone say what share is whose.
#include "recovery/calls/lane_count.h"

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

class LaneCounts : public testing::Test {
 protected:
  // So many calls of each procedure.
  std::vector<uint32_t> counts(std::vector<uint32_t> calls, const ReplayOptions& options) {
    std::vector<ByteBuffer> payloads;
    for (uint32_t p = 0; p < calls.size(); ++p) {
      ByteBuffer payload;
      encode_call(*program_, {ProcedureId{p}, {Argument::of(Value::of_int(3))}}, payload);
      payloads.insert(payloads.end(), calls[p], payload);
    }
    std::vector<RecordView> records;
    for (const ByteBuffer& payload : payloads)
      records.push_back({Lsn{records.size() + 1}, RecordKind::kCommand, payload.span()});
    return lane_counts(graph_, records, options);
  }
  size_t block_of(uint32_t procedure) const {
    return graph_.local(ProcedureId{procedure}).slices[0].block.value;
  }

  const std::unique_ptr<const Program> program_ = *compile(kText, "test.sql");
  const DependencyGraph graph_ = analyze(*program_);
};

TEST_F(LaneCounts, AreOneForOneThread) {
  EXPECT_EQ(counts({1, 0, 0}, options_of(1)), (std::vector<uint32_t>{1, 1, 1, 1}));
}

TEST_F(LaneCounts, AreOneWhereBlocksShareTheWork) {
  const std::vector<uint32_t> lanes = counts({100, 100, 0}, options_of(2));
  EXPECT_EQ(lanes[block_of(0)], 1u);
  EXPECT_EQ(lanes[block_of(1)], 1u);
}

TEST_F(LaneCounts, GrowWithTheShareAndTheThreads) {
  const auto of_two = [&](uint32_t threads) { return counts({300, 100, 0}, options_of(threads)); };
  EXPECT_EQ(of_two(2)[block_of(0)], 8u);  // 1.5 threads' work, four lanes for each
  EXPECT_EQ(of_two(2)[block_of(1)], 1u);
  EXPECT_EQ(of_two(8)[block_of(0)], 32u);
  EXPECT_EQ(of_two(8)[block_of(1)], 8u);
  EXPECT_EQ(of_two(1000)[block_of(0)], 64u);
}

TEST_F(LaneCounts, CountLoopsAsMoreThanOneTurn) {
  const std::vector<uint32_t> lanes = counts({100, 0, 100}, options_of(2));
  EXPECT_EQ(lanes[block_of(0)], 1u);
  EXPECT_EQ(lanes[block_of(2)], 8u);
}

TEST_F(LaneCounts, AreOfOneProcedureAsOfTheNextWhereTheLogHasNoCalls) {
  const std::vector<uint32_t> lanes = lane_counts(graph_, {}, options_of(2));
  EXPECT_GT(lanes[block_of(2)], 1u);
  EXPECT_EQ(lanes[block_of(0)], 1u);
}

TEST_F(LaneCounts, AreAsAskedFor) {
  ReplayOptions given = options_of(2);
  given.lanes_per_block = 8;
  EXPECT_EQ(counts({100, 100, 0}, given), (std::vector<uint32_t>{8, 8, 8, 8}));
  // The threads of the simulated machine count, on one thread.
  ReplayOptions simulated = options_of(1);
  simulated.lanes_for_threads = 8;
  EXPECT_EQ(counts({100, 100, 0}, simulated)[block_of(0)], 16u);
}

TEST_F(LaneCounts, AreOneInStaticReplayAndManyWhereBatchesDoNotOverlap) {
  EXPECT_EQ(counts({1, 0, 0}, options_of(4, ReplayLevel::kStatic)), (std::vector<uint32_t>{1, 1, 1, 1}));
  EXPECT_EQ(counts({100, 100, 0}, options_of(4, ReplayLevel::kSynchronous))[block_of(0)], 64u);
}

}  // namespace
}  // namespace mneme
