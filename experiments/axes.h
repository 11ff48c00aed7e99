// Axes of a figure that is declared in a file: their values on this machine, and command lines with the names
// in braces filled in.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan.h"

namespace mneme {

// Names in braces that are no axes: {seed} and {dir} are filled in as a command is run.
inline constexpr std::string_view kCoresName = "cores";
inline constexpr std::string_view kSeedName = "seed";
inline constexpr std::string_view kDirectoryName = "dir";

// The values at this scale, "1..cores" spelled out.
std::vector<AxisValue> values_of(const FigureAxis& axis, const ExperimentScale& scale);

// The names in braces in `text`, as they come.
std::vector<std::string> names_in(std::string_view text);
// `text` with the names of `texts` filled in, and those in the texts filled in as well; others stay.
std::string with_names(std::string_view text, const std::map<std::string, std::string>& texts);

PlannedPanel plan_of_axes(const Figure& figure, const FigurePanel& panel, const ExperimentScale& scale);

}  // namespace mneme
