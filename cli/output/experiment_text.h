// An experiment's result as text: our table beside the paper's numbers, and whether its orderings hold.
#pragma once

#include <string>
#include <vector>

#include "cli/output/output.h"
#include "experiments/plan.h"

namespace mneme {

// A figure's JSON, as evaluation.h has it.
std::string experiment_text(const Json& figure);

// The figures of the plans, a line each, paper by paper, with about how long they take, and with their
// commands if asked for.
std::string experiment_list(const std::vector<Plan>& plans, bool with_commands);
// 90 -> 2 min; 40 -> 40 s
std::string rough_time(double seconds);

}  // namespace mneme
