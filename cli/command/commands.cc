#include "cli/command/commands.h"

namespace mneme {

void add_commands(CLI::App& program, Action& chosen) {
  add_demo_command(program, chosen);
  add_run_command(program, chosen);
  add_crash_command(program, chosen);
  add_recover_command(program, chosen);
  add_verify_command(program, chosen);
  add_inspect_command(program, chosen);
  add_slice_command(program, chosen);
  add_native_command(program, chosen);
  add_logbench_command(program, chosen);
  add_sql_command(program, chosen);
  add_serve_command(program, chosen);
  add_crash_target_command(program, chosen);
  add_logd_command(program, chosen);
  add_follow_command(program, chosen);
  add_bench_command(program, chosen);
  add_acid_command(program, chosen);
  add_experiment_command(program, chosen);
  add_compare_command(program, chosen);
  add_lab_command(program, chosen);
  add_lab_answer_command(program, chosen);
  add_completion_command(program, chosen);
  add_manual_command(program, chosen);
  // Those that the build and other commands use are not shown.
  for (const char* const inner : {"native", "crash-target", "lab-answer"})
    program.get_subcommand(inner)->group("");
}

}  // namespace mneme
