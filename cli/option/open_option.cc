#include "cli/option/open_option.h"

#include "cli/option/option_table.h"

namespace mneme {

void OpenOption::add_option(CLI::App& command) {
  const OptionTaker take(command);
  take("--open", open);
}

}  // namespace mneme
