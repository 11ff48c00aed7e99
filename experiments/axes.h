// Axes of a figure: their values on this machine, and texts with the names in braces filled in.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/definition.h"

namespace mneme {

struct ExperimentScale {
  uint32_t cores = 1;
  bool quick = false;  // tiny: to see that all works, not to be believed
};

// Names in braces that are no axes. All but {cores} are filled in as a command is run.
inline constexpr std::string_view kCoresName = "cores";
inline constexpr std::string_view kSeedName = "seed";
inline constexpr std::string_view kDirectoryName = "dir";
inline constexpr std::string_view kServerName = "server";
inline constexpr std::string_view kServersName = "servers";

// What stands for names in braces.
using AxisTexts = std::map<std::string, std::string>;

// "1..cores" and "1..4cores" stand for powers of two up to so many.
bool is_range(std::string_view value);
const FigureAxis* find_axis(const Figure& figure, std::string_view name);
// The values at this scale, "1..cores" spelled out.
std::vector<AxisValue> values_of(const FigureAxis& axis, const ExperimentScale& scale);

// The names in braces in `text`, as they come.
std::vector<std::string> names_in(std::string_view text);
// The axis that a name in braces is of, "threads" of "threads.all" too.
std::string axis_in(std::string_view name);
// `text` with the names of `texts` filled in, and those in the texts filled in as well; others stay.
std::string with_names(std::string_view text, const AxisTexts& texts);

// Adds what the names of an axis stand for at its value number `index`.
void add_texts(AxisTexts& texts, const std::string& axis, const std::vector<AxisValue>& values, size_t index);
// The texts of {cores}, of all axes that have one value at this scale, and of those that `where` chooses
// from.
AxisTexts fixed_texts(const Figure& figure, const std::map<std::string, std::string>& where,
                      const ExperimentScale& scale);

}  // namespace mneme
