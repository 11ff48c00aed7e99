#include "cli/simulation_text.h"

#include <fmt/format.h>

#include "cli/text.h"

namespace mneme {
namespace {

double tps(const SimulatedSchedule& schedule, const RecoveryReport& report) {
  return schedule.makespan_ns > 0 ? static_cast<double>(report.replay.transactions) * 1e9 / schedule.makespan_ns : 0;
}

double load_ns(const StepGraph& graph) {
  double sum = 0;
  for (const StepGraph::Step& step : graph.steps) sum += step.kind == StepGraph::Kind::kLoad ? step.cost_ns : 0;
  return sum;
}

std::string label(const RecoveryReport& report, uint32_t block) {
  return block < report.blocks.size() ? report.blocks[block] : "decoding";
}

// Where the work fills the cores for longer than the longest path, more cores would help, and else they would not.
std::string limit(const SimulatedReplay& simulated, const SimulatedSchedule& schedule, const RecoveryReport& report) {
  if (schedule.busy_ns / schedule.cores > simulated.path.total_ns) return "cores";
  return label(report, simulated.path.limiting_block());
}

std::string ms(double ns) { return seconds_text(ns * 1e-9); }

}  // namespace

SimulatedReplay simulate_replay(const ScheduleRecorder& recorder, const std::vector<uint32_t>& cores) {
  SimulatedReplay simulated;
  simulated.graph = step_graph(recorder);
  simulated.path = longest_path(simulated.graph);
  simulated.on_one_core = simulate(simulated.graph, 1);
  for (const uint32_t count : cores) simulated.schedules.push_back(simulate(simulated.graph, count));
  return simulated;
}

std::string simulation_text(const SimulatedReplay& simulated, const RecoveryReport& report) {
  const double work_ns = simulated.graph.work_ns();
  const std::vector<BlockTime> work = simulated.graph.work_of_blocks();
  std::string text = fmt::format("Replay simulated from {} measured steps, {:.0f} ns to take up a task\n",
                                 thousands(simulated.graph.steps.size()), simulated.graph.task_ns);
  std::vector<std::vector<std::string>> rows = {{"block", "work", "of it locating", "on the longest path"}};
  for (uint32_t b = 0; b < work.size(); ++b) {
    if (work[b].total_ns() == 0) continue;
    rows.push_back({label(report, b), ms(work[b].total_ns()), ms(work[b].fill_ns), ms(simulated.path.blocks[b].total_ns())});
  }
  rows.push_back({"decoding", ms(load_ns(simulated.graph)), "", ms(simulated.path.load_ns)});
  rows.push_back({"all", ms(work_ns), "", ms(simulated.path.total_ns)});
  text += table_text(rows);

  rows = {{"cores", "seconds", "times faster than one", "busy", "transactions/s", "limited by"}};
  for (const SimulatedSchedule& schedule : simulated.schedules) {
    rows.push_back({thousands(schedule.cores), ms(schedule.makespan_ns),
                    fmt::format("{:.2f}", simulated.on_one_core.makespan_ns / schedule.makespan_ns),
                    fmt::format("{:.0f}%", 100 * schedule.busy_share()),
                    thousands(static_cast<uint64_t>(tps(schedule, report))), limit(simulated, schedule, report)});
  }
  return text + table_text(rows);
}

Json simulation_json(const SimulatedReplay& simulated, const RecoveryReport& report) {
  const double work_ns = simulated.graph.work_ns();
  const std::vector<BlockTime> work = simulated.graph.work_of_blocks();
  Json blocks = Json::array();
  for (uint32_t b = 0; b < work.size(); ++b) {
    blocks.push_back({{"block", label(report, b)},
                      {"locate_seconds", work[b].fill_ns * 1e-9},
                      {"pieces_seconds", work[b].pieces_ns * 1e-9},
                      {"longest_path_seconds", simulated.path.blocks[b].total_ns() * 1e-9}});
  }
  Json schedules = Json::array();
  for (const SimulatedSchedule& schedule : simulated.schedules) {
    schedules.push_back({{"cores", schedule.cores},
                         {"makespan_seconds", schedule.makespan_ns * 1e-9},
                         {"speedup", simulated.on_one_core.makespan_ns / schedule.makespan_ns},
                         {"busy_share", schedule.busy_share()},
                         {"replay_tps", tps(schedule, report)},
                         {"limited_by", limit(simulated, schedule, report)}});
  }
  return {{"steps", simulated.graph.steps.size()},
          {"task_ns", simulated.graph.task_ns},
          {"work_seconds", work_ns * 1e-9},
          {"span_seconds", simulated.path.total_ns * 1e-9},
          {"decode_seconds", load_ns(simulated.graph) * 1e-9},
          {"limiting_block", label(report, simulated.path.limiting_block())},
          {"blocks", blocks},
          {"schedules", schedules}};
}

}  // namespace mneme
