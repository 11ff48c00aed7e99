// Prints how long a recovery would take on other numbers of cores, as text and as JSON
// (recovery/calls/schedule_simulation.h): upper bounds of its speed, beside what real replays on one
// thread take.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/machine_costs.h"
#include "cli/output/output.h"
#include "recovery/calls/schedule_simulation.h"
#include "recovery/database/recover.h"

namespace mneme {

// Real replays of the same log on one thread.
struct SingleThread {
  double slices_seconds = 0;  // by CLR-P, planned for one thread
  double whole_seconds = 0;   // the same with nothing taken apart: serial replay at its best

  double best_seconds() const { return std::min(slices_seconds, whole_seconds); }
};

struct SimulatedReplay {
  StepGraph graph;  // as of one core
  MachineCosts machine;
  SingleThread single_thread;
  struct OnCores {
    uint32_t batches_in_flight;
    LongestPath path;
    SimulatedSchedule schedule;
  };
  std::vector<OnCores> on_cores;  // in the order in which they were asked for
};

// `recorder`: of the recovery that `cores` are simulated for: of one thread, by CLR-P at this level. As many
// batches are in flight as a replay on so many threads would have.
SimulatedReplay simulate_replay(const ScheduleRecorder& recorder, const RecoveryReport& report,
                                const std::vector<uint32_t>& cores, const MachineCosts& machine,
                                const SingleThread& single_thread);

std::string simulation_text(const SimulatedReplay& simulated, const RecoveryReport& report);
Json simulation_json(const SimulatedReplay& simulated, const RecoveryReport& report);

}  // namespace mneme
