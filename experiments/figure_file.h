// Figures that TOML files declare: which commands of this program are to be run, over which axes, and what is
// to be plotted of their JSON. docs/experiments.md explains the format.
//
// Errors   kInvalidArgument, with all that is wrong in the file, a line each: "FILE:LINE:COLUMN: what".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "experiments/figure_check.h"

namespace mneme {

// Whether `name`, an argument of `mneme experiment`, is such a file's.
bool is_figure_file(std::string_view name);

Result<Figure> read_figure_file(const std::string& path, const ExperimentScale& scale,
                                const CommandLineCheck& check);
// `path` names the figure, and is what errors name.
Result<Figure> figure_in(std::string_view text, const std::string& path, const ExperimentScale& scale,
                         const CommandLineCheck& check);
// A figure of the program's own, whose command lines are not checked.
Result<Figure> built_in_figure(std::string_view text, std::string_view name);

}  // namespace mneme
