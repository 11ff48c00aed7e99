#include "cli/output/comparison_text.h"

#include <fmt/format.h>

#include <vector>

#include "cli/output/text.h"

namespace mneme {
namespace {

std::string percent_text(double part) {
  return fmt::format("{:+.1f}%", 100 * part);
}

// Four digits, or all of those before the point.
std::string measured_text(double value) {
  return value >= 1000 ? thousands(static_cast<uint64_t>(value + 0.5)) : fmt::format("{:.4g}", value);
}

// A procedure's metrics are many, and some measure what these runs don't have, such as a log's flushes: those
// that don't differ are left to the JSON.
bool is_shown(const MetricDifference& metric) {
  if (!metric.kind) return false;
  if (metric.kind->is_headline) return true;
  if (metric.first_median == 0 && metric.second_median == 0) return metric.finding != Finding::kNoDifference;
  return !metric.path.starts_with("by_procedure.") || metric.finding != Finding::kNoDifference;
}

std::string finding_text(const MetricDifference& metric) {
  switch (metric.finding) {
    case Finding::kNoDifference:
      return "";
    case Finding::kBetter:
      return "better";
    case Finding::kWorse:
      return "WORSE";
  }
  return "";
}

}  // namespace

std::string comparison_text(const ResultComparison& comparison) {
  std::string text =
      fmt::format("{}: A is {}, B is {}\n", comparison.command, counted(comparison.first_count, "result"),
                  counted(comparison.second_count, "result"));
  if (comparison.in_pairs)
    text +=
        "  the runs took turns: each is compared with the one beside it, and a change is the pairs' median\n";
  if (comparison.settings.empty()) text += "  all settings are alike\n";
  for (const SettingDifference& each : comparison.settings)
    text += fmt::format("  differs: {}: {} | {}\n", each.path, each.first, each.second);

  std::vector<std::vector<std::string>> rows = {
      {"metric", "better", "A", "B", "change", "95% interval", "chance", ""}};
  for (const MetricDifference& metric : comparison.metrics) {
    if (!is_shown(metric)) continue;
    rows.push_back({(metric.kind->is_headline ? "* " : "  ") + metric.path,
                    metric.kind->is_higher_better ? "higher" : "lower", measured_text(metric.first_median),
                    measured_text(metric.second_median), metric.change ? percent_text(*metric.change) : "",
                    metric.interval ? fmt::format("{} to {}", percent_text(metric.interval->low),
                                                  percent_text(metric.interval->high))
                                    : "",
                    fmt::format("{:.2g}", metric.adjusted), finding_text(metric)});
  }
  text += table_text(rows);
  text += "  *: decides. A, B: medians. chance: the probability of such a difference by chance, corrected\n";
  return text;
}

}  // namespace mneme
