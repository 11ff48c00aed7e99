#include "cli/measure/adaptive_text.h"

#include <fmt/format.h>

#include "cli/output/text.h"

namespace mneme {

std::string adaptive_text(const Program& program, const AdaptiveReport& report) {
  std::string text = fmt::format("  adaptive log: {} of calls judged", counted(report.windows, "sample"));
  if (report.by_rows.empty()) return text + "; every procedure's calls were logged as calls\n";
  text += "\n";
  for (const AdaptiveReport::OfProcedure& each : report.by_rows) {
    text += fmt::format(
        "    {}: {} logged by rows, {:.0f} bytes in place of {:.0f}; replay's longest path {:.1f} hundredths "
        "of the work, before {:.1f}{}\n",
        program.procedure(each.reason.procedure).name, counted(each.calls, "call"), each.reason.row_bytes,
        each.reason.call_bytes, 100 * each.reason.path_after, 100 * each.reason.path_before,
        each.is_chosen ? "" : "; logged as calls again in the end");
  }
  return text;
}

Json adaptive_json(const Program& program, const AdaptiveReport& report) {
  Json by_rows = Json::array();
  for (const AdaptiveReport::OfProcedure& each : report.by_rows) {
    by_rows.push_back({{"procedure", program.procedure(each.reason.procedure).name},
                       {"path_before", each.reason.path_before},
                       {"path_after", each.reason.path_after},
                       {"call_bytes", each.reason.call_bytes},
                       {"row_bytes", each.reason.row_bytes},
                       {"calls", each.calls},
                       {"at_the_end", each.is_chosen}});
  }
  return {{"windows", report.windows}, {"by_rows", by_rows}};
}

}  // namespace mneme
