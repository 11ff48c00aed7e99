// Goal: a simulated schedule keeps the order of the graph and is as long as greedy scheduling makes it.
// Method: small graphs whose schedules are known, and random ones, held to the bounds that every greedy
// schedule keeps: no shorter than the longest path or than work by cores, no longer than both together
// (Graham 1969).
#include "recovery/calls/schedule_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace mneme {
namespace {

using Kind = StepGraph::Kind;

struct Graph {
  StepGraph graph;
  std::vector<std::vector<uint32_t>> after;

  uint32_t add(Kind kind, double cost_ns, const std::vector<uint32_t>& before = {}, uint32_t block = 0) {
    const auto step = static_cast<uint32_t>(graph.steps.size());
    graph.steps.push_back({kind, block, static_cast<uint32_t>(before.size()), cost_ns});
    graph.blocks = std::max(graph.blocks, block + 1);
    after.emplace_back();
    for (const uint32_t b : before) after[b].push_back(step);
    return step;
  }
  const StepGraph& done() {
    graph.first_successor = {0};
    graph.successors.clear();
    for (const auto& of : after) {
      graph.successors.insert(graph.successors.end(), of.begin(), of.end());
      graph.first_successor.push_back(static_cast<uint32_t>(graph.successors.size()));
    }
    return graph;
  }
};

TEST(ScheduleSimulation, RunsAChainAsLongAsItIs) {
  Graph graph;
  uint32_t last = graph.add(Kind::kLoad, 5);
  for (int i = 0; i < 9; ++i) last = graph.add(Kind::kPieces, 10, {last});
  for (const uint32_t cores : {1, 2, 8}) EXPECT_EQ(simulate(graph.done(), cores).makespan_ns, 95);
}

TEST(ScheduleSimulation, SpreadsWhatIsReady) {
  Graph graph;
  const uint32_t fill = graph.add(Kind::kFill, 10);
  std::vector<uint32_t> lanes;
  for (int i = 0; i < 8; ++i) lanes.push_back(graph.add(Kind::kPieces, 100, {fill}));
  graph.add(Kind::kFill, 10, {graph.add(Kind::kJoin, 0, lanes)});
  EXPECT_EQ(simulate(graph.done(), 1).makespan_ns, 820);
  EXPECT_EQ(simulate(graph.done(), 2).makespan_ns, 420);
  EXPECT_EQ(simulate(graph.done(), 8).makespan_ns, 120);
  EXPECT_EQ(simulate(graph.done(), 100).makespan_ns, 120);
  EXPECT_EQ(simulate(graph.done(), 8).busy_share(), 820.0 / (120 * 8));
}

// Three lanes of two steps each on two cores: the core that began a lane goes on with it.
TEST(ScheduleSimulation, GoesOnWithALane) {
  Graph graph;
  const uint32_t fill = graph.add(Kind::kFill, 1);
  for (int i = 0; i < 3; ++i) graph.add(Kind::kPieces, 10, {graph.add(Kind::kPieces, 10, {fill})});
  graph.graph.task_ns = 1;
  const SimulatedSchedule schedule = simulate(graph.done(), 2);
  EXPECT_EQ(schedule.tasks, 4u);
  EXPECT_EQ(schedule.makespan_ns, 2 + 21 + 21);
}

// One core holds all that becomes ready: the other takes its first step from it, and pays.
TEST(ScheduleSimulation, ChargesWhatIsTakenFromAnotherCore) {
  Graph graph;
  const uint32_t fill = graph.add(Kind::kFill, 10);
  for (int i = 0; i < 2; ++i) graph.add(Kind::kPieces, 100, {fill});
  graph.graph.task_ns = 1;
  const SimulatedSchedule schedule = simulate(graph.done(), 2, {.steal_ns = 30});
  EXPECT_EQ(schedule.tasks, 3u);
  EXPECT_GE(schedule.steals, 1u);
  EXPECT_EQ(schedule.busy_ns, 210 + 3 + 30.0 * static_cast<double>(schedule.steals));
  EXPECT_EQ(simulate(graph.graph, 1, {.steal_ns = 30}).makespan_ns, 213);
}

TEST(ScheduleSimulation, IsNoFasterThanMemory) {
  Graph graph;
  for (int i = 0; i < 8; ++i) graph.add(Kind::kPieces, 100);
  graph.done();
  graph.graph.memory_bytes = 6000;
  EXPECT_EQ(simulate(graph.graph, 8, {.memory_bytes_per_ns = 20}).makespan_ns, 300);
  EXPECT_EQ(simulate(graph.graph, 8, {.memory_bytes_per_ns = 100}).makespan_ns, 100);
  EXPECT_EQ(simulate(graph.graph, 8).makespan_ns, 100);
}

TEST(ScheduleSimulation, NamesWhatLimits) {
  Graph graph;
  const uint32_t load = graph.add(Kind::kLoad, 10);
  const uint32_t first = graph.add(Kind::kFill, 20, {load}, 0);
  const uint32_t second = graph.add(Kind::kFill, 1, {load}, 1);
  const uint32_t lane = graph.add(Kind::kPieces, 40, {second}, 1);
  graph.add(Kind::kPieces, 30, {first}, 0);
  graph.add(Kind::kPieces, 5, {lane, first}, 1);
  const LongestPath path = longest_path(graph.done());
  EXPECT_EQ(path.total_ns, 60);
  EXPECT_EQ(path.load_ns, 10);
  EXPECT_EQ(path.blocks[0].total_ns(), 50);
  EXPECT_EQ(path.blocks[1].total_ns(), 0);
  EXPECT_EQ(path.limiting_block(), 0u);

  Graph slow_to_load;
  slow_to_load.add(Kind::kPieces, 1, {slow_to_load.add(Kind::kLoad, 10)});
  EXPECT_EQ(longest_path(slow_to_load.done()).limiting_block(), 1u);
}

TEST(ScheduleSimulation, KeepsTheBoundsOfGreedySchedules) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    const uint32_t steps = 1 + random() % 300;
    for (uint32_t s = 0; s < steps; ++s) {
      std::vector<uint32_t> before;
      for (uint32_t n = random() % 4; s > 0 && n > 0; --n)
        before.push_back(s - 1 - random() % std::min(s, 40u));
      std::ranges::sort(before);
      before.erase(std::ranges::unique(before).begin(), before.end());
      const auto kind = static_cast<Kind>(random() % 4);
      graph.add(kind, kind == Kind::kJoin ? 0 : 1 + random() % 1000, before, random() % 5);
    }
    const double work = graph.done().work_ns();
    const double path = longest_path(graph.graph).total_ns;
    EXPECT_EQ(simulate(graph.graph, 1).makespan_ns, work);
    for (const uint32_t cores : {2, 3, 7, 64}) {
      const SimulatedSchedule schedule = simulate(graph.graph, cores);
      EXPECT_GE(schedule.makespan_ns, path) << "seed " << seed;
      EXPECT_GE(schedule.makespan_ns * cores, work) << "seed " << seed;
      EXPECT_LE(schedule.makespan_ns, path + work / cores) << "seed " << seed;
      EXPECT_EQ(schedule.busy_ns, work);
    }
  }
}

}  // namespace
}  // namespace mneme
