// --execution: whether procedures run as machine code, and what really became of it.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "cli/output/output.h"
#include "engine/schema/schema.h"
#include "procedures/native/compiled_units.h"

namespace mneme {

struct ExecutionOption {
  std::string name = "native";

  void add_option(CLI::App& command);
  Result<Execution> get() const { return execution(name); }
};

// The program's procedures as machine code, if that is wanted, with a line of progress while they are
// compiled. `told`: as procedure_units() has it.
CompiledUnits load_procedures(const Program& program, std::span<const ToldProcedure> told,
                              const Schema& schema, Execution execution, const NativeFolders& folders,
                              bool quiet);

// "compiling 5 procedures ...".
std::string compiling_text(size_t units);

}  // namespace mneme
