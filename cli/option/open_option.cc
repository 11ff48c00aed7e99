#include "cli/option/open_option.h"

#include "cli/option/option_table.h"

namespace mneme {

void OpenOption::add_option(CLI::App& command) {
  const OptionTaker take(command);
  take("--open", open);
}

Result<bool> OpenOption::on_demand() const {
  if (open != "recovered" && open != "on-demand")
    return invalid_argument("--open {}: there are recovered and on-demand", open);
  return open == "on-demand";
}

}  // namespace mneme
