#include "cli/option/execution_option.h"

#include <fmt/format.h>

#include "cli/option/option_table.h"
#include "cli/output/progress.h"
#include "cli/output/text.h"

namespace mneme {

void ExecutionOption::add_option(CLI::App& command) {
  OptionTaker{command}("--execution", name);
}

CompiledUnits load_procedures(const Program& program, std::span<const ToldProcedure> told,
                              const Schema& schema, Execution execution, const NativeFolders& folders,
                              bool quiet) {
  if (execution == Execution::kInterpreted) return {};
  Progress progress(quiet);
  return CompiledUnits::load(program, schema, procedure_units(program, told), folders,
                             [&](size_t units) { progress.say(compiling_text(units)); });
}

std::string compiling_text(size_t units) {
  return fmt::format("compiling {} ...", counted(units, "procedure"));
}

}  // namespace mneme
