// An experiment's result as text: our table beside the paper's numbers, and whether its orderings hold.
#pragma once

#include <string>
#include <vector>

#include "cli/output/output.h"
#include "experiments/plan.h"

namespace mneme {

// A figure's JSON, as evaluation.h has it.
std::string experiment_text(const Json& figure);

// All figures, a line each, with about how long they take, by paper.
std::string experiment_list(const ExperimentScale& scale, uint32_t runs);
// 90 -> 2 min; 40 -> 40 s
std::string rough_time(double seconds);

}  // namespace mneme
