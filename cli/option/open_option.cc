#include "cli/option/open_option.h"

#include "cli/option/option_table.h"

namespace mneme {

void OpenOption::add_option(CLI::App& command) {
  const OptionTaker take(command);
  take("--open", open);
  take("--open-wait", wait_seconds);
}

Result<void> OpenOption::check(const CLI::App& command) const {
  if (!on_demand() && is_given(command, "--open-wait"))
    return invalid_argument("--open-wait is of --open on-demand: say so, too, or leave it out");
  return {};
}

}  // namespace mneme
