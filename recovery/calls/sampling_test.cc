// Goal: a sample of pieces says what lanes would cost them. Method: single calls are sampled, of one whose
// loop falls apart into a piece an iteration, of one whose piece meets several lanes, and of one that goes to
// all lanes.
#include <gtest/gtest.h>

#include "recovery/calls/piece_dispatch.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

constexpr const char* kStock = R"(
CREATE TABLE stock (id INT PRIMARY KEY, n INT NOT NULL);
CREATE PROCEDURE take(p_ids INT[]) LANGUAGE plpgsql AS $$
BEGIN FOR i IN 1..cardinality(p_ids) LOOP UPDATE stock SET n = 2 * n WHERE id = p_ids[i]; END LOOP; END $$;
CREATE PROCEDURE move(p_from INT, p_to INT) LANGUAGE plpgsql AS $$
DECLARE v INT;
BEGIN
  SELECT n INTO v FROM stock WHERE id = p_from;
  UPDATE stock SET n = n + v WHERE id = p_to;
END $$;
CREATE PROCEDURE take_all() LANGUAGE plpgsql AS $$ BEGIN UPDATE stock SET n = n + n / 2; END $$;
)";

class Sampling : public testing::Test {
 protected:
  // Samples one call, and returns what was found by the block's first lane map.
  LaneSample sample(std::string_view procedure, std::vector<Argument> arguments) {
    const Call call{fixture_.program().find_procedure(procedure)->id, std::move(arguments)};
    ReplayOptions options;
    options.threads = 2;
    const PieceDispatch dispatch(fixture_.graph(), schema_, options);
    const uint32_t block = 0;
    PieceLocator locator(schema_, dispatch, nullptr);
    const RecordedOperations operations(fixture_.graph());
    BatchRecording recording(operations, 1);
    recording.add(call.procedure);
    locator.begin(block, {.map = 0, .lanes = 1, .is_observed = true});
    locator.sample(*dispatch.find(block, call.procedure), call, 0, recording, ReplayThreadId{0});
    EXPECT_EQ(locator.samples().size(), 1u);
    return locator.samples()[0];
  }

  ReplayFixture fixture_{kStock};
  const Schema schema_{fixture_.program().catalog};
};

TEST_F(Sampling, EachIterationIsAPieceOfOneLane) {
  std::vector<Value> ids;
  for (int id = 0; id < 40; ++id) ids.push_back(Value::of_int(id));
  const LaneSample iterations = sample("take", {Argument::of_array(ids)});
  EXPECT_EQ(iterations.pieces, 40);
  EXPECT_EQ(iterations.extra_lanes, 0);
  EXPECT_EQ(iterations.wide, 0);
}

TEST_F(Sampling, APieceOfTwoKeysMeetsTwoLanes) {
  double extra_lanes = 0;
  for (int id = 1; id <= 20; ++id) {
    const LaneSample pair = sample("move", {Argument::of(Value::of_int(0)), Argument::of(Value::of_int(id))});
    EXPECT_EQ(pair.pieces, 1);
    extra_lanes += pair.extra_lanes;
  }
  EXPECT_GT(extra_lanes, 10);  // some keys share a lane
}

TEST_F(Sampling, APieceOfAllRowsIsWide) {
  const LaneSample all = sample("take_all", {});
  EXPECT_EQ(all.pieces, 1);
  EXPECT_EQ(all.wide, 1);
}

}  // namespace
}  // namespace mneme
