// StepGraph: a replay as one thread ran it, as steps with their costs, and which of them must end before
// which.
//
// Flow        LaneScheduler, one thread -> ScheduleRecorder (kRendezvous) -> step_graph() ->
//             schedule_simulation.h
// Steps       the taking of a batch from the log, and its decoding; the fill of a block's batch, with its
//             lists; in a lane the pieces of a batch up to the next rendezvous; a rendezvous; and joins,
//             which cost nothing: a block's lists of a batch are published, a block has finished a batch, a
//             batch has retired.
// Edges       those of lane_scheduler.h: taking n -> taking n+1; taking n -> decoding n -> fill (b, n); the
//             end of n in each predecessor -> fill (b, n) -> lists (b, n), after lists (b, n-1), -> the first
//             step of n in each lane; where n is placed otherwise than n-1, the ends of all batches before in
//             b -> lists (b, n); lanes' steps in order, a rendezvous being a step of all its lanes; all
//             of n -> retirement n -> taking of n + batches in flight. What must be alone waits for all.
// Invariants  the edges form no cycle. Each step's cost is what was measured, less what measuring it took.
// Memory      some 60 bytes a step: for long logs, millions of steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recovery/calls/schedule_recorder.h"

namespace mneme {

struct BlockTime;

struct StepGraph {
  enum class Kind : uint8_t { kLoad /* or decoding */, kFill, kPieces, kJoin };
  struct Step {
    Kind kind = Kind::kJoin;
    uint32_t block = 0;
    uint32_t predecessors = 0;  // how many
    double cost_ns = 0;
  };

  std::vector<Step> steps;
  std::vector<uint32_t>
      first_successor;  // one more than there are steps: s has successors[first..next first)
  std::vector<uint32_t> successors;
  double task_ns =
      0;  // to take up a task: what passed from the end of one to the beginning of the next, in the mean
  double memory_bytes = 0;  // that the steps draw from memory, at least
  uint32_t blocks = 0;

  std::span<const uint32_t> successors_of(uint32_t step) const {
    return std::span(successors)
        .subspan(first_successor[step], first_successor[step + 1] - first_successor[step]);
  }
  double work_ns() const;
  std::vector<BlockTime> work_of_blocks() const;
};

struct BlockTime {
  double fill_ns = 0;
  double pieces_ns = 0;

  double total_ns() const { return fill_ns + pieces_ns; }
  // Adds a fill's or pieces' cost.
  void add(const StepGraph::Step& step) {
    (step.kind == StepGraph::Kind::kFill ? fill_ns : pieces_ns) += step.cost_ns;
  }
};

// `recorder`: of one run, on one thread. `batches_in_flight`: of the schedule that is to be simulated.
StepGraph step_graph(const ScheduleRecorder& recorder, uint32_t batches_in_flight);

}  // namespace mneme
