// Reads the claims of a figure that is declared in a file.
#pragma once

#include "experiments/definition.h"
#include "experiments/plan.h"
#include "measurement/toml/toml_reader.h"

namespace mneme {

// Adds the [[claims]] of the file to `figure`, whose axes and plots have been read. What is wrong with them
// becomes problems of `in`; after earlier problems only what the claims say by themselves is looked at.
void read_claims(TomlReader& in, const TomlValue& root, const ExperimentScale& scale, Figure& figure);

}  // namespace mneme
