#include "cli/option/execution_option.h"

#include <fmt/format.h>

#include "cli/output/progress.h"
#include "cli/output/text.h"

namespace mneme {

void ExecutionOption::add_option(CLI::App& command) {
  command
      .add_option("--execution", name,
                  "native: procedures are compiled to machine code, or interpreted where there is no "
                  "compiler; interpreted")
      ->capture_default_str();
}

CompiledUnits load_procedures(const Program& program, const Schema& schema, Execution execution,
                              const NativeFolders& folders, bool quiet) {
  if (execution == Execution::kInterpreted) return {};
  Progress progress(quiet);
  return CompiledUnits::load(program, schema, procedure_units(program), folders,
                             [&](size_t units) { progress.say(compiling_text(units)); });
}

std::string compiling_text(size_t units) {
  return fmt::format("compiling {} ...", counted(units, "procedure"));
}

}  // namespace mneme
