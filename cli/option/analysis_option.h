// AnalysisOption: --conflicts, --elide, --decompose and --coalesce: how finely procedures are taken apart for
// parallel replay.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "analyzer/analysis_options.h"
#include "base/result.h"
#include "cli/output/output.h"

namespace mneme {

struct AnalysisOption {
  std::string conflicts = "column";
  std::string elide = "default";
  std::string decompose = "pacman";
  std::string coalesce = "default";

  void add_options(CLI::App& command);
  Result<AnalysisOptions> get() const;
};

// By name, as fields "conflicts", "elide", "decompose" and "coalesce".
void add_analysis(Json& object, const AnalysisOptions& options);

}  // namespace mneme
