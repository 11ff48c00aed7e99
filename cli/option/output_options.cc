#include "cli/option/output_options.h"

#include "cli/option/option_table.h"

namespace mneme {

void add_output_options(CLI::App& command, Output& output) {
  const OptionTaker take(command);
  take("--json", output.json_path_);
  take("--quiet", output.quiet_);
}

}  // namespace mneme
