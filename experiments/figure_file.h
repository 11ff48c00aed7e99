// A figure that a user declares in a TOML file: which commands of this program are to be run, over which
// axes, and what is to be plotted of their JSON. docs/experiments.md explains the format.
//
// Errors   kInvalidArgument, with all that is wrong in the file, a line each: "FILE:LINE:COLUMN: what".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiments/definition.h"
#include "experiments/plan.h"

namespace mneme {

// Returns what is wrong with a command line of this program, or nothing.
using CommandLineCheck = std::function<std::string(const std::vector<std::string>& words)>;

// Whether `name`, an argument of `mneme experiment`, is such a file's.
bool is_figure_file(std::string_view name);

Result<Figure> read_figure_file(const std::string& path, const ExperimentScale& scale,
                                const CommandLineCheck& check);
// `path` names the figure, and is what errors name.
Result<Figure> figure_in(std::string_view text, const std::string& path, const ExperimentScale& scale,
                         const CommandLineCheck& check);

}  // namespace mneme
