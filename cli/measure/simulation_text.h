// Prints how long a recovery would take on other numbers of cores, as text and as JSON
// (recovery/calls/schedule_simulation.h).
#pragma once

#include <string>
#include <vector>

#include "cli/output/output.h"
#include "recovery/calls/schedule_simulation.h"
#include "recovery/database/recover.h"

namespace mneme {

struct SimulatedReplay {
  StepGraph graph;  // as of one core
  SimulatedSchedule on_one_core;
  struct OnCores {
    uint32_t batches_in_flight;
    LongestPath path;
    SimulatedSchedule schedule;
  };
  std::vector<OnCores> on_cores;  // in the order in which they were asked for
};

// `recorder`: of the recovery that `cores` are simulated for: of one thread, by CLR-P at this level. As many
// batches are in flight as a replay on so many threads would have.
SimulatedReplay simulate_replay(const ScheduleRecorder& recorder, ReplayLevel level,
                                const std::vector<uint32_t>& cores);

std::string simulation_text(const SimulatedReplay& simulated, const RecoveryReport& report);
Json simulation_json(const SimulatedReplay& simulated, const RecoveryReport& report);

}  // namespace mneme
