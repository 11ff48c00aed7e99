// Checks of a figure as a whole, after its file has been read: whether plots settle all axes, each axis and
// database is used, and the program would take each command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/axes.h"
#include "measurement/toml/toml_reader.h"

namespace mneme {

// Returns what is wrong with a command line of this program, or nothing.
using CommandLineCheck = std::function<std::string(const std::vector<std::string>& words)>;

// The names in braces that stand for no axis.
std::vector<std::string> own_names();

// Adds a problem for each axis that nothing uses, and each that a plot leaves open.
void check_uses(TomlReader& in, const Figure& figure);
// Adds a problem for each command line that `check` finds wrong, with and without --quick, for each database
// that no command recovers, and for each of the paper's numbers whose series there isn't. The figure has no
// other mistakes.
void check_plans(TomlReader& in, const Figure& figure, const ExperimentScale& scale,
                 const CommandLineCheck& check);

}  // namespace mneme
