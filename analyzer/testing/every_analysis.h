// Every analysis: for tests, the choices of options that make different graphs of most procedures.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/analysis_options.h"

namespace mneme {

// With each grain: one elision, or none or all; slices that are not coalesced; chopping; lanes that follow
// from arguments alone. And whole procedures.
inline std::vector<AnalysisOptions> every_analysis() {
  std::vector<AnalysisOptions> all;
  for (const ConflictGrain grain : {ConflictGrain::kColumn, ConflictGrain::kTable}) {
    for (const Elisions elide :
         {Elisions{true, true, true}, Elisions{false, false, false}, Elisions{true, false, false},
          Elisions{false, true, false}, Elisions{false, false, true}}) {
      all.push_back({grain, elide, Decomposition::kPacman, true});
    }
    all.push_back({grain, {true, true, true}, Decomposition::kPacman, false});
    all.push_back({grain, {true, true, true}, Decomposition::kChopping, true});
    all.push_back({grain, {true, true, true}, Decomposition::kPacman, true, true});
  }
  all.push_back({ConflictGrain::kColumn, {true, true, true}, Decomposition::kWhole, true});
  return all;
}

inline std::string to_string(const AnalysisOptions& options) {
  return fmt::format(
      "by {}, eliding{}{}{}{}{}{}", options.conflicts == ConflictGrain::kColumn ? "column" : "table",
      options.elide.unwritten ? " unwritten" : "", options.elide.insert_only ? " insert-only" : "",
      options.elide.increments ? " increments" : "",
      options.decompose == Decomposition::kChopping ? ", chopping"
      : options.decompose == Decomposition::kWhole  ? ", whole"
                                                    : "",
      options.coalesce ? ", coalesced" : "",
      options.lanes_from_arguments
          ? options.reads_to_locate ? ", lanes from arguments and constants" : ", lanes from arguments"
          : "");
}

}  // namespace mneme
