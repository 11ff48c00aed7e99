#include "cli/measure/simulation_text.h"

#include <fmt/format.h>

#include "base/cache_line.h"
#include "cli/output/text.h"
#include "recovery/calls/parallel_replayer.h"

namespace mneme {
namespace {

double tps(const SimulatedSchedule& schedule, const RecoveryReport& report) {
  return schedule.makespan_ns > 0
             ? static_cast<double>(report.replay.statistics.transactions) * 1e9 / schedule.makespan_ns
             : 0;
}

double load_ns(const StepGraph& graph) {
  double sum = 0;
  for (const StepGraph::Step& step : graph.steps)
    sum += step.kind == StepGraph::Kind::kLoad ? step.cost_ns : 0;
  return sum;
}

std::string label(const RecoveryReport& report, uint32_t block) {
  return block < report.analysis.blocks.size() ? report.analysis.blocks[block] : "decoding";
}

// A core that takes a task from another one fetches these lines from it: the queue's end, the task, the lane
// or the set of pieces that the task works on, and its list.
constexpr double kLinesOfATask = 4;

std::string memory_text(const MachineCosts& machine) {
  if (machine.memory_bytes_per_ns == 0) return "an unknown rate, taken for endless";
  return fmt::format("{:.1f} GB/s", machine.memory_bytes_per_ns);
}

double speedup(const SimulatedReplay& simulated, const SimulatedSchedule& schedule) {
  return simulated.single_thread.best_seconds() * 1e9 / schedule.makespan_ns;
}

// Where the work fills the cores for longer than the longest path, more cores would help, and else they would
// not.
std::string limit(const SimulatedReplay::OnCores& on, const RecoveryReport& report) {
  if (on.schedule.memory_ns > 0 && on.schedule.makespan_ns <= on.schedule.memory_ns) return "memory";
  if (on.schedule.busy_ns / on.schedule.cores > on.path.total_ns) return "cores";
  return label(report, on.path.limiting_block());
}

std::string ms(double ns) {
  return seconds_text(ns * 1e-9);
}

}  // namespace

SimulatedReplay simulate_replay(const ScheduleRecorder& recorder, const RecoveryReport& report,
                                const std::vector<uint32_t>& cores, const MachineCosts& machine,
                                const SingleThread& single_thread) {
  const auto graph_of = [&](uint32_t in_flight) {
    StepGraph graph = step_graph(recorder, in_flight);
    graph.memory_bytes = static_cast<double>(report.replay.statistics.row_lines * kCacheLineBytes);
    return graph;
  };
  const ReplayLevel level = report.replay.level;
  const SimulatedMachine as_simulated{.steal_ns = kLinesOfATask * machine.handover_ns,
                                      .memory_bytes_per_ns = machine.memory_bytes_per_ns};
  SimulatedReplay simulated{graph_of(batches_in_flight(level, 1)), machine, single_thread, {}};
  for (const uint32_t count : cores) {
    const uint32_t in_flight = batches_in_flight(level, count);
    const StepGraph graph = graph_of(in_flight);
    simulated.on_cores.push_back({in_flight, longest_path(graph), simulate(graph, count, as_simulated)});
  }
  return simulated;
}

std::string simulation_text(const SimulatedReplay& simulated, const RecoveryReport& report) {
  const std::vector<BlockTime> work = simulated.graph.work_of_blocks();
  const SimulatedReplay::OnCores& last = simulated.on_cores.back();
  std::string text = fmt::format(
      "Replay simulated from {} measured steps, {:.0f} ns to take up a task, {:.0f} more to take it from "
      "another core\n"
      "One thread really takes {} with slices and {} with procedures whole; {} from memory, which gives {}\n",
      thousands(simulated.graph.steps.size()), simulated.graph.task_ns,
      kLinesOfATask * simulated.machine.handover_ns, seconds_text(simulated.single_thread.slices_seconds),
      seconds_text(simulated.single_thread.whole_seconds),
      bytes_text(static_cast<uint64_t>(simulated.graph.memory_bytes)), memory_text(simulated.machine));
  std::vector<std::vector<std::string>> rows = {
      {"block", "work", "of it locating", fmt::format("on the longest path, {} cores", last.schedule.cores)}};
  for (uint32_t b = 0; b < work.size(); ++b) {
    if (work[b].total_ns() == 0) continue;
    rows.push_back(
        {label(report, b), ms(work[b].total_ns()), ms(work[b].fill_ns), ms(last.path.blocks[b].total_ns())});
  }
  rows.push_back({"decoding", ms(load_ns(simulated.graph)), "", ms(last.path.load_ns)});
  rows.push_back({"all", ms(simulated.graph.work_ns()), "", ms(last.path.total_ns)});
  text += table_text(rows);

  text +=
      "Upper bounds of the speed: cores that take lines from each other's caches make a real replay slower\n";
  rows = {{"cores", "seconds, lower bound", "times the best one thread, upper bound", "busy",
           "transactions/s, upper bound", "longest path", "limited by"}};
  for (const SimulatedReplay::OnCores& on : simulated.on_cores) {
    rows.push_back({thousands(on.schedule.cores), ms(on.schedule.makespan_ns),
                    fmt::format("{:.2f}", speedup(simulated, on.schedule)),
                    fmt::format("{:.0f}%", 100 * on.schedule.busy_share()),
                    thousands(static_cast<uint64_t>(tps(on.schedule, report))), ms(on.path.total_ns),
                    limit(on, report)});
  }
  return text + table_text(rows);
}

Json simulation_json(const SimulatedReplay& simulated, const RecoveryReport& report) {
  const std::vector<BlockTime> work = simulated.graph.work_of_blocks();
  Json blocks = Json::array();
  for (uint32_t b = 0; b < work.size(); ++b) {
    blocks.push_back({{"block", label(report, b)},
                      {"locate_seconds", work[b].fill_ns * 1e-9},
                      {"pieces_seconds", work[b].pieces_ns * 1e-9}});
  }
  Json schedules = Json::array();
  for (const SimulatedReplay::OnCores& on : simulated.on_cores) {
    Json path = Json::object();
    for (uint32_t b = 0; b < on.path.blocks.size(); ++b)
      path[label(report, b)] = on.path.blocks[b].total_ns() * 1e-9;
    path["decoding"] = on.path.load_ns * 1e-9;
    schedules.push_back({{"cores", on.schedule.cores},
                         {"batches_in_flight", on.batches_in_flight},
                         {"makespan_seconds", on.schedule.makespan_ns * 1e-9},
                         {"speedup", speedup(simulated, on.schedule)},
                         {"busy_share", on.schedule.busy_share()},
                         {"steals", on.schedule.steals},
                         {"memory_seconds", on.schedule.memory_ns * 1e-9},
                         {"replay_tps", tps(on.schedule, report)},
                         {"span_seconds", on.path.total_ns * 1e-9},
                         {"span_by_block_seconds", path},
                         {"limiting_block", label(report, on.path.limiting_block())},
                         {"limited_by", limit(on, report)}});
  }
  return {{"bound", "upper"},
          {"steps", simulated.graph.steps.size()},
          {"task_ns", simulated.graph.task_ns},
          {"steal_ns", kLinesOfATask * simulated.machine.handover_ns},
          {"memory_bytes", simulated.graph.memory_bytes},
          {"memory_gb_per_second", simulated.machine.memory_bytes_per_ns},
          {"memory_cores", simulated.machine.cores},
          {"single_thread",
           {{"slices_seconds", simulated.single_thread.slices_seconds},
            {"whole_seconds", simulated.single_thread.whole_seconds}}},
          {"work_seconds", simulated.graph.work_ns() * 1e-9},
          {"decode_seconds", load_ns(simulated.graph) * 1e-9},
          {"blocks", blocks},
          {"schedules", schedules}};
}

}  // namespace mneme
