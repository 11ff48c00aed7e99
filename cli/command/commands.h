// The program's commands. Each adds itself and rows of the option table to the command line. The command that
// the user chose leaves its action in `chosen`, to be run once everything is parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "base/result.h"

namespace mneme {

using Action = std::function<Result<void>()>;

// Adds all of the following, in the order of the help.
void add_commands(CLI::App& program, Action& chosen);

void add_demo_command(CLI::App& program, Action& chosen);
void add_run_command(CLI::App& program, Action& chosen);
void add_crash_command(CLI::App& program, Action& chosen);
void add_recover_command(CLI::App& program, Action& chosen);
void add_verify_command(CLI::App& program, Action& chosen);
void add_inspect_command(CLI::App& program, Action& chosen);
void add_slice_command(CLI::App& program, Action& chosen);
void add_native_command(CLI::App& program, Action& chosen);
void add_logbench_command(CLI::App& program, Action& chosen);
void add_sql_command(CLI::App& program, Action& chosen);
void add_serve_command(CLI::App& program, Action& chosen);
void add_crash_target_command(CLI::App& program, Action& chosen);
void add_logd_command(CLI::App& program, Action& chosen);
void add_follow_command(CLI::App& program, Action& chosen);
void add_bench_command(CLI::App& program, Action& chosen);
void add_acid_command(CLI::App& program, Action& chosen);
void add_completion_command(CLI::App& program, Action& chosen);
void add_manual_command(CLI::App& program, Action& chosen);
void add_experiment_command(CLI::App& program, Action& chosen);
void add_compare_command(CLI::App& program, Action& chosen);
void add_lab_command(CLI::App& program, Action& chosen);
void add_lab_answer_command(CLI::App& program, Action& chosen);

}  // namespace mneme
