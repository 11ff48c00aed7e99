// What a recovery would take on other numbers of cores, as text and as JSON (recovery/schedule_simulation.h).
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"
#include "recovery/recover.h"
#include "recovery/schedule_simulation.h"

namespace mneme {

struct SimulatedReplay {
  StepGraph graph;
  LongestPath path;
  SimulatedSchedule on_one_core;
  std::vector<SimulatedSchedule> schedules;  // in the order of the cores that were asked for
};

// `recorder`: of the recovery that `cores` are simulated for: of one thread, by CLR-P.
SimulatedReplay simulate_replay(const ScheduleRecorder& recorder, const std::vector<uint32_t>& cores);

std::string simulation_text(const SimulatedReplay& simulated, const RecoveryReport& report);
Json simulation_json(const SimulatedReplay& simulated, const RecoveryReport& report);

}  // namespace mneme
