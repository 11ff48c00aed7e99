// Schedule simulation: how long a replay would take on other numbers of cores, from the costs of its steps on
// one.
//
// Flow        step_graph.h -> simulate(cores): the schedule's length -> longest_path(): what no number of
//             cores can beat
// Model       greedy list scheduling, as oneTBB does it: each core has a queue. What a step makes ready goes
//             to the back of its core's queue: decoding first, then lanes, then fills, last the next step of
//             its own lane. A core takes from the back of its own queue; one that has nothing takes the
//             oldest of all queues' fronts. A core is never idle while any step is ready. To take up anything
//             but the next step of its own lane costs StepGraph::task_ns, and from another core's queue
//             SimulatedMachine::steal_ns as well. No schedule is shorter than memory takes to give all cores
//             what they draw.
// Left out    the cores share no cache and no lock here, none of them sleeps or is taken away, and a step
//             costs the same on any of them, also behind one that has just run what it depends on. So what
//             is simulated is an upper bound of the speed: a real replay can only take longer.
// Invariants  no schedule is shorter than the longest path or than work / cores; this one, less its tasks'
//             costs, and where memory is fast enough, is no longer than both together (Graham 1969).
// Threads     pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "recovery/calls/step_graph.h"

namespace mneme {

struct SimulatedMachine {
  double steal_ns = 0;
  double memory_bytes_per_ns = 0;  // for all cores together; 0: as many as they want
};

struct SimulatedSchedule {
  uint32_t cores = 1;
  double makespan_ns = 0;
  double memory_ns = 0;  // that memory takes for what the steps draw
  double busy_ns = 0;    // of all cores, tasks' costs included
  uint64_t tasks = 0;
  uint64_t steals = 0;

  double busy_share() const { return makespan_ns > 0 ? busy_ns / (makespan_ns * cores) : 0; }
};

SimulatedSchedule simulate(const StepGraph& graph, uint32_t cores, const SimulatedMachine& machine = {});

// The longest chain of steps that wait for one another, and whose steps these are.
struct LongestPath {
  double total_ns = 0;
  double load_ns = 0;
  std::vector<BlockTime> blocks;

  // The block with the largest part; blocks.size() where decoding has more.
  uint32_t limiting_block() const;
};

LongestPath longest_path(const StepGraph& graph);

}  // namespace mneme
