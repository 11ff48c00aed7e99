// --json and --quiet: where a command's result goes.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/output/output.h"

namespace mneme {

void add_output_options(CLI::App& command, Output& output);

}  // namespace mneme
