// Goal: a replay that waited for one lane says which statement keeps its rows together, and others say
// nothing. Method: times that are made up, of a block that can't be cut, and of one that can.
#include "recovery/calls/longest_lane.h"

#include <gmock/gmock.h>

#include "procedures/binder/program.h"

namespace mneme {
namespace {

TEST(LongestLane, IsToldWhereItTookNearlyAllOfTheTime) {
  const auto program = *compile(
      "CREATE TABLE one (id INT PRIMARY KEY, v INT NOT NULL);\n"
      "CREATE TABLE two (id INT PRIMARY KEY, v INT NOT NULL);\n"
      "CREATE PROCEDURE p(p_id INT) LANGUAGE plpgsql AS $$ BEGIN\n"
      "UPDATE one SET v = 2 * v WHERE id = p_id; UPDATE one SET v = v - 1 WHERE id > p_id;\n"
      "UPDATE two SET v = 2 * v WHERE id > p_id; END $$;",
      "test.sql");
  const DependencyGraph graph = analyze(*program);
  ASSERT_EQ(graph.blocks.size(), 2u);
  const size_t second = graph.blocks[1].lanes[0].table == TableId{1} ? 1 : 0;
  ASSERT_FALSE(graph.blocks[1 - second].lanes[0].lost.empty());
  const auto notice = [&](double first, double of_second, double replay) {
    std::vector<double> seconds(3, first);
    seconds[second] = of_second;
    seconds[2] = 100;  // rows that no procedure touches
    return longest_lane_notice(graph, program->catalog, seconds, replay).value_or("");
  };
  EXPECT_THAT(notice(0.1, 1.9, 2.0), testing::HasSubstr("two: id: line 5 does not say which"));
  EXPECT_THAT(notice(0.1, 1.9, 2.0), testing::HasSubstr("1.9 s of the replay's 2.0 s"));
  EXPECT_EQ(notice(0.1, 1.0, 2.0), "") << "it was half of the time";
  EXPECT_EQ(notice(1.95, 0.1, 2.0), "") << "by one of its statements' keys the longest can be cut";
  EXPECT_EQ(notice(0.01, 0.1, 0.1), "") << "the replay is short";
  EXPECT_EQ(longest_lane_notice(graph, program->catalog, {}, 2.0), std::nullopt);

  // A block that did not run in one lane is not told.
  std::vector<double> seconds(3, 0);
  seconds[second] = 0.5;
  const std::vector<SerialTable> tables = serial_tables(graph, program->catalog, seconds);
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].block, graph.blocks[second].name);
  EXPECT_EQ(tables[0].table, "two");
  EXPECT_EQ(tables[0].lost.column, "id");
  EXPECT_EQ(tables[0].lost.line, 5u);
  EXPECT_EQ(tables[0].lost.statement, "UPDATE two SET v = 2 * v WHERE id > p_id");
  EXPECT_EQ(tables[0].lane_seconds, 0.5);
  EXPECT_TRUE(serial_tables(graph, program->catalog, std::vector<double>{0, 0, 0.5}).empty());
  // One that ran in one lane for want of a better way is, though some of its statements would let it be cut.
  EXPECT_EQ(serial_tables(graph, program->catalog, std::vector<double>{0.5, 0.5, 0.5}).size(), 2u);

  ReplayStatistics statistics;
  statistics.lane_seconds = {0, 0, 0.25};
  statistics.lane_pieces = {0, 0, 9};
  EXPECT_TRUE(kernel_times(graph, statistics).empty());
  statistics.lane_seconds[second] = 0.5;
  statistics.lane_pieces[second] = 7;
  const std::vector<KernelTime> kernels = kernel_times(graph, statistics);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].block, graph.blocks[second].name);
  EXPECT_EQ(kernels[0].pieces, 7u);
  EXPECT_EQ(kernels[0].seconds, 0.5);
}

}  // namespace
}  // namespace mneme
