// Goal: what a recorder tells of a scheduler's run is what the run did, and the graph that is made of it
// orders the steps as the scheduler does. Method: an executor whose pieces spin for as long as the plan says,
// so that the shares of the time, and the longest path, are known well enough; and replays of small schemas,
// whose end a recorder must not change.
#include "recovery/calls/schedule_recorder.h"

#include <gtest/gtest.h>

#include <map>

#include "recovery/calls/schedule_simulation.h"
#include "recovery/calls/step_graph.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

void spin_us(uint64_t us) {
  const uint64_t end = monotonic_ns() + us * 1000;
  while (monotonic_ns() < end) continue;
}

// One block. Each batch has the same pieces: pieces[i] names the lanes of piece i.
class SpinningExecutor final : public PieceExecutor {
 public:
  struct Plan {
    uint64_t batches = 4;
    uint64_t load_us = 0;
    uint64_t decode_us = 0;
    uint64_t fill_us = 0;
    uint64_t piece_us = 0;
    std::vector<std::vector<uint32_t>> pieces;
    uint64_t alone = 1000;  // this batch asks to be
  };

  explicit SpinningExecutor(Plan plan) : plan_(std::move(plan)) {}

  Load load(uint64_t batch) override {
    if (batch == plan_.batches) return Load::kEnd;
    spin_us(plan_.load_us);
    return batch == plan_.alone && !std::exchange(asked_, true) ? Load::kWhenAlone : Load::kLoaded;
  }
  bool decode(uint64_t, ReplayThreadId) override {
    spin_us(plan_.decode_us);
    return true;
  }
  bool fill(uint32_t, uint64_t, ReplayThreadId, LaneFill& lanes) override {
    spin_us(plan_.fill_us);
    for (uint32_t p = 0; p < plan_.pieces.size(); ++p) lanes.append({p, PiecePart::slice()}, plan_.pieces[p]);
    return true;
  }
  uint32_t prepare(uint32_t, uint64_t, std::span<const Piece> pieces, ReplayThreadId) override {
    return static_cast<uint32_t>(pieces.size());
  }
  bool run(uint32_t, uint64_t, Piece, ReplayThreadId) override {
    spin_us(plan_.piece_us);
    return true;
  }
  void retire(uint64_t) override {}

 private:
  const Plan plan_;
  bool asked_ = false;
};

void run(const SpinningExecutor::Plan& plan, ScheduleRecorder& recorder, uint32_t lanes, uint32_t threads) {
  SpinningExecutor executor(plan);
  const std::vector<ScheduledBlock> blocks = {{{}, lanes}};
  ASSERT_TRUE(LaneScheduler(blocks, {threads, 8, &recorder}, executor).run());
}

TEST(ScheduleRecorder, GivesEachPartItsTime) {
  ScheduleRecorder recorder(ScheduleRecorder::Detail::kTimes);
  const uint64_t begin = monotonic_ns();
  run({.batches = 5, .load_us = 400, .fill_us = 800, .piece_us = 100, .pieces = {{0}, {1}, {0, 1}, {0}}},
      recorder, 2, 1);
  const double passed = static_cast<double>(monotonic_ns() - begin) * 1e-9;
  const std::vector<ThreadTime> times = recorder.thread_times();
  ASSERT_EQ(times.size(), 1u);
  EXPECT_GE(times[0].data_loading_seconds, 0.002);
  EXPECT_GE(times[0].parameter_checking_seconds, 0.004);
  EXPECT_GE(times[0].useful_work_seconds, 0.002);
  EXPECT_LE(times[0].total_seconds(), passed * 1.01);
  EXPECT_TRUE(recorder.steps(0).empty());
}

// One lane: whatever thread runs it, the others can only wait.
TEST(ScheduleRecorder, TellsWhoWaited) {
  ScheduleRecorder recorder(ScheduleRecorder::Detail::kTimes);
  run({.batches = 20, .piece_us = 500, .pieces = {{0}, {0}}}, recorder, 1, 3);
  ThreadTime sum;
  for (const ThreadTime& time : recorder.thread_times()) sum.add(time);
  EXPECT_GE(sum.useful_work_seconds, 0.02);
  EXPECT_GE(sum.waiting_seconds, 0.02);
  // All parts of all threads are the run's length, three times.
  for (const ThreadTime& time : recorder.thread_times())
    EXPECT_NEAR(time.total_seconds(), sum.total_seconds() / 3, sum.total_seconds() * 0.01);
}

TEST(ScheduleRecorder, KeepsNoMoreStepsThanItMay) {
  ScheduleRecorder recorder(ScheduleRecorder::Detail::kVisits, 10);
  run({.batches = 20, .pieces = {{0}, {1}}}, recorder, 2, 1);
  EXPECT_EQ(recorder.steps(0).size(), 10u);
  EXPECT_GT(recorder.dropped_steps(), 40u);
}

StepGraph graph_of(const SpinningExecutor::Plan& plan, uint32_t lanes) {
  ScheduleRecorder recorder(ScheduleRecorder::Detail::kRendezvous);
  run(plan, recorder, lanes, 1);
  return step_graph(recorder, 8);
}

TEST(StepGraph, OfOneLaneIsAChain) {
  const StepGraph graph = graph_of({.batches = 4, .piece_us = 100, .pieces = {{0}, {0}, {0}}}, 1);
  const double pieces = graph.work_of_blocks()[0].pieces_ns;
  EXPECT_GE(pieces, 4 * 300e3);
  EXPECT_NEAR(longest_path(graph).blocks[0].pieces_ns, pieces, 1);
}

// The steps' order is the run's, their costs the plan's, of which a step holds one item at most: an
// interrupted step tells of the machine.
StepGraph planned_graph(const SpinningExecutor::Plan& plan, uint32_t lanes) {
  StepGraph graph = graph_of(plan, lanes);
  const auto most_us = [&](StepGraph::Kind kind) {
    switch (kind) {
      case StepGraph::Kind::kLoad:
        return std::max(plan.load_us, plan.decode_us);
      case StepGraph::Kind::kFill:
        return plan.fill_us;
      case StepGraph::Kind::kPieces:
        return plan.piece_us;
      case StepGraph::Kind::kJoin:
        break;
    }
    return uint64_t{0};
  };
  for (StepGraph::Step& step : graph.steps)
    step.cost_ns = std::min(step.cost_ns, static_cast<double>(most_us(step.kind)) * 1e3);
  graph.task_ns = 0;
  return graph;
}

// A lane runs a piece of each batch: four lanes side by side take a quarter.
TEST(StepGraph, OfManyLanesIsWide) {
  const StepGraph graph = planned_graph({.batches = 8, .piece_us = 200, .pieces = {{0}, {1}, {2}, {3}}}, 4);
  const double pieces = graph.work_of_blocks()[0].pieces_ns;
  EXPECT_NEAR(longest_path(graph).blocks[0].pieces_ns, pieces / 4, pieces * 0.01);
  EXPECT_NEAR(simulate(graph, 4).makespan_ns, simulate(graph, 1).makespan_ns / 4,
              simulate(graph, 1).makespan_ns * 0.01);
}

TEST(StepGraph, DecodesBatchesBesideEachOther) {
  const StepGraph graph = planned_graph({.batches = 8, .decode_us = 200, .pieces = {{0}}}, 1);
  EXPECT_LT(simulate(graph, 4).makespan_ns, simulate(graph, 1).makespan_ns / 2);
}

// Each batch ends with a piece of all lanes, which nothing passes.
TEST(StepGraph, HoldsLanesTogetherAtARendezvous) {
  const SpinningExecutor::Plan plan{.batches = 5, .piece_us = 100, .pieces = {{0}, {1}, {0, 1, 2}, {2}}};
  const StepGraph graph = planned_graph(plan, 3);
  const auto of_pieces = [](const StepGraph::Step& s) { return s.kind == StepGraph::Kind::kPieces; };
  EXPECT_EQ(std::ranges::count_if(graph.steps, of_pieces), 5 * 4);
  // A lane's first piece, the rendezvous, and where lane 2 is next, its piece: of every batch.
  EXPECT_GE(longest_path(graph).blocks[0].pieces_ns, graph.work_of_blocks()[0].pieces_ns * 2 / 4 * 0.9);
}

TEST(StepGraph, LetsABatchThatStandsAloneWait) {
  SpinningExecutor::Plan plan{.batches = 6, .load_us = 10, .piece_us = 300, .pieces = {{0}, {1}, {2}}};
  const StepGraph together = graph_of(plan, 3);
  plan.alone = 3;
  const StepGraph apart = graph_of(plan, 3);
  EXPECT_EQ(together.steps.size() + 1, apart.steps.size());
  EXPECT_GE(longest_path(apart).total_ns, 6 * 300e3);
}

TEST(StepGraph, KeepsNoMoreBatchesInFlightThanThereMayBe) {
  ScheduleRecorder recorder(ScheduleRecorder::Detail::kRendezvous);
  SpinningExecutor executor({.batches = 6, .load_us = 300, .fill_us = 300, .piece_us = 300, .pieces = {{0}}});
  const std::vector<ScheduledBlock> blocks = {{{}, 1}};
  ASSERT_TRUE(LaneScheduler(blocks, {1, 1, &recorder}, executor).run());
  const StepGraph graph = step_graph(recorder, 1);
  EXPECT_NEAR(simulate(graph, 4).makespan_ns, simulate(graph, 1).makespan_ns,
              simulate(graph, 1).makespan_ns * 0.05);
}

class RecordedReplay : public testing::TestWithParam<std::string_view> {};

TEST_P(RecordedReplay, EndsAsOneThatNobodyRecords) {
  ReplayFixture fixture(GetParam());
  const Digest forward = fixture.run_forward(2000, 3);
  for (const auto detail : {ScheduleRecorder::Detail::kTimes, ScheduleRecorder::Detail::kVisits,
                            ScheduleRecorder::Detail::kRendezvous}) {
    for (const uint32_t threads : {1, 4}) {
      ScheduleRecorder recorder(detail);
      ReplayOptions options;
      options.threads = threads;
      options.batch_transactions = 100;
      options.recorder = &recorder;
      EXPECT_EQ(fixture.replay_in_parallel(options), forward);
      EXPECT_EQ(recorder.thread_times().size(), threads);
    }
  }
}

TEST_P(RecordedReplay, GivesAGraphWhoseSchedulesKeepTheBounds) {
  ReplayFixture fixture(GetParam());
  fixture.run_forward(3000, 4);
  ScheduleRecorder recorder(ScheduleRecorder::Detail::kRendezvous);
  ReplayOptions options;
  options.batch_transactions = 50;
  options.recorder = &recorder;
  fixture.replay_in_parallel(options);
  const StepGraph graph = step_graph(recorder, 8);
  const double work = graph.work_ns();
  const double path = longest_path(graph).total_ns;
  EXPECT_GT(path, 0);
  double last = simulate(graph, 1).makespan_ns;
  EXPECT_NEAR(last, work + static_cast<double>(simulate(graph, 1).tasks) * graph.task_ns, work * 1e-9);
  for (const uint32_t cores : {2, 8, 40}) {
    const SimulatedSchedule schedule = simulate(graph, cores);
    EXPECT_GE(schedule.makespan_ns, std::max(path, work / cores));
    EXPECT_LE(schedule.makespan_ns - static_cast<double>(schedule.tasks) * graph.task_ns,
              path + work / cores);
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, RecordedReplay, testing::Values(kBankSql, kOrdersSql),
                         [](const auto& info) { return info.param == kBankSql ? "bank" : "orders"; });

}  // namespace
}  // namespace mneme
