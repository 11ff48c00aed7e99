#include "cli/option/concurrency_option.h"

#include "cli/option/option_table.h"

namespace mneme {

void ConcurrencyOption::add_options(CLI::App& command) {
  const OptionTaker take(command);
  take("--cc", cc);
  take("--elr", elr);
}

Result<Concurrency> ConcurrencyOption::get() const {
  if (cc == "occ" && elr == "off") {
    return invalid_argument(
        "--elr off keeps locks until the log is durable, and --cc occ has rows locked only while it "
        "writes them: choose --cc 2pl, or leave it out");
  }
  return Concurrency{cc == "2pl" ? ConcurrencyControl::kTwoPhaseLocking : ConcurrencyControl::kOptimistic,
                     elr == "on"};
}

Result<void> ConcurrencyOption::check_device(const CLI::App& command, const DurableLogOptions& log) const {
  if (command.count("--elr") == 0 || elr == elr_on(log)) return {};
  return invalid_argument(
      "--elr on shows what was written before it is durable, and of persistent memory a crash can take that "
      "alone: leave it out");
}

std::string ConcurrencyOption::elr_on(const DurableLogOptions& log) const {
  return hardens_by_worker(log) ? "off" : elr;
}

}  // namespace mneme
