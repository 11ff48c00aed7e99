#include "measurement/comparison/compare.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "measurement/statistics/median.h"
#include "measurement/statistics/rank_sum.h"
#include "measurement/statistics/signed_rank.h"

namespace mneme {
namespace {

using ComparisonJson = nlohmann::ordered_json;
using Side = std::vector<ResultFields>;

std::string values_of(const Side& side, const std::string& path) {
  std::set<std::string> values;
  for (const ResultFields& result : side) {
    const auto found = result.settings.find(path);
    values.insert(found == result.settings.end() || found->second == "null" ? "-" : found->second);
  }
  return fmt::format("{}", fmt::join(values, ", "));
}

std::vector<SettingDifference> setting_differences(const Side& first, const Side& second) {
  std::set<std::string> paths;
  for (const Side* side : {&first, &second}) {
    for (const ResultFields& result : *side) {
      for (const auto& [path, value] : result.settings) paths.insert(path);
    }
  }
  std::vector<SettingDifference> differences;
  for (const std::string& path : paths) {
    SettingDifference difference{path, values_of(first, path), values_of(second, path)};
    if (difference.first != difference.second) differences.push_back(std::move(difference));
  }
  return differences;
}

// Empty where a result has no such field.
std::vector<double> measured_by(const Side& side, const std::string& path) {
  std::vector<double> values;
  for (const ResultFields& result : side) {
    const auto found = result.measured.find(path);
    if (found == result.measured.end()) return {};
    values.push_back(found->second);
  }
  return values;
}

// The side's results in the order in which they began.
Side by_start(Side side) {
  std::ranges::stable_sort(side, {}, &ResultFields::started);
  return side;
}

// Whether each result of one side began beside one of the other: before any of the next such pair. Both are
// in the order in which they began.
bool took_turns(const Side& first, const Side& second) {
  if (first.size() != second.size() || first.size() < kFewestPairs) return false;
  if (first.front().started.empty() || second.front().started.empty()) return false;
  for (size_t i = 0; i + 1 < first.size(); ++i) {
    if (std::max(first[i].started, second[i].started) > std::min(first[i + 1].started, second[i + 1].started))
      return false;
  }
  return true;
}

// By what part of itself each first value changes to become the second beside it. Empty where one has none.
std::vector<double> pair_changes(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> changes;
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] <= 0 || second[i] <= 0) return {};
    changes.push_back(second[i] / first[i] - 1);
  }
  return changes;
}

// Their signed ranks are the same whichever side is the first; those of changes are not.
std::vector<double> logarithms_of_ratios(const std::vector<double>& first,
                                         const std::vector<double>& second) {
  std::vector<double> logarithms;
  for (size_t i = 0; i < first.size(); ++i) logarithms.push_back(std::log(first[i] / second[i]));
  return logarithms;
}

MetricDifference metric_difference(const std::string& path, std::optional<MetricKind> kind, bool in_pairs,
                                   std::vector<double> first, std::vector<double> second) {
  MetricDifference difference;
  difference.path = path;
  difference.kind = kind;
  std::vector<double> changes = in_pairs ? pair_changes(first, second) : std::vector<double>();
  RankTest test;
  if (changes.empty()) {
    difference.change = median_change(first, second);
    if (difference.change) difference.interval = median_change_interval(first, second);
    test = rank_test(first, second);
  } else {
    if (const auto interval = median_interval(changes)) difference.interval = {interval->low, interval->high};
    difference.change = median_of(changes);
    test = signed_rank_test(logarithms_of_ratios(first, second));
  }
  difference.probability = test.two_sided();
  if (kind) {
    // For now, the direction; judge() takes it back where chance explains it.
    const bool first_is_better = (test.first_larger < test.second_larger) == kind->is_higher_better;
    difference.finding = first_is_better ? Finding::kWorse : Finding::kBetter;
  }
  difference.first_median = median_of(first);
  difference.second_median = median_of(second);
  return difference;
}

void judge(std::vector<MetricDifference*> metrics) {
  std::vector<double> probabilities;
  for (const MetricDifference* metric : metrics) probabilities.push_back(metric->probability);
  const std::vector<double> adjusted = holm_adjusted(probabilities);
  for (size_t i = 0; i < metrics.size(); ++i) {
    metrics[i]->adjusted = adjusted[i];
    if (adjusted[i] >= kSignificant) metrics[i]->finding = Finding::kNoDifference;
  }
}

bool is_headline(const MetricDifference& metric) {
  return metric.kind && metric.kind->is_headline;
}

const char* name_of(Finding finding) {
  switch (finding) {
    case Finding::kNoDifference:
      return "no difference";
    case Finding::kBetter:
      return "better";
    case Finding::kWorse:
      return "worse";
  }
  return "";
}

}  // namespace

std::vector<std::string> ResultComparison::losses() const {
  std::vector<std::string> paths;
  for (const MetricDifference& metric : metrics) {
    if (is_headline(metric) && metric.finding == Finding::kWorse) paths.push_back(metric.path);
  }
  return paths;
}

Result<ResultComparison> compare_results(const Side& one, const Side& other) {
  const Side first = by_start(one);
  const Side second = by_start(other);
  if (first.front().command != second.front().command) {
    return invalid_argument("{} is a result of {}, and {} of {}: compare those of one command",
                            first.front().path, first.front().command, second.front().path,
                            second.front().command);
  }
  ResultComparison comparison;
  comparison.command = first.front().command;
  comparison.first_count = first.size();
  comparison.second_count = second.size();
  comparison.in_pairs = took_turns(first, second);
  comparison.settings = setting_differences(first, second);
  for (const auto& [path, value] : first.front().measured) {
    std::vector<double> before = measured_by(first, path);
    std::vector<double> after = measured_by(second, path);
    if (before.empty() || after.empty()) continue;
    comparison.metrics.push_back(metric_difference(path, metric_kind(first.front(), path),
                                                   comparison.in_pairs, std::move(before), std::move(after)));
  }
  std::ranges::stable_partition(comparison.metrics, is_headline);
  std::vector<MetricDifference*> headlines;
  std::vector<MetricDifference*> others;
  for (MetricDifference& metric : comparison.metrics) {
    if (metric.kind) (is_headline(metric) ? headlines : others).push_back(&metric);
  }
  if (headlines.empty()) {
    return invalid_argument(
        "{} and {} have no metric in common by which results of {} are judged: compare runs of one kind",
        first.front().path, second.front().path, comparison.command);
  }
  const auto count = static_cast<double>(headlines.size());
  comparison.can_judge = least_two_sided(first.size(), second.size()) * count < kSignificant;
  judge(headlines);
  judge(others);
  return comparison;
}

ComparisonJson json_of(const ResultComparison& comparison) {
  ComparisonJson settings = ComparisonJson::object();
  for (const SettingDifference& each : comparison.settings)
    settings[each.path] = {{"first", each.first}, {"second", each.second}};
  ComparisonJson metrics = ComparisonJson::object();
  for (const MetricDifference& each : comparison.metrics) {
    ComparisonJson& metric = metrics[each.path];
    metric = {{"better", each.kind ? ComparisonJson(each.kind->is_higher_better ? "higher" : "lower")
                                   : ComparisonJson()},
              {"headline", is_headline(each)},
              {"first_median", each.first_median},
              {"second_median", each.second_median}};
    metric["change_percent"] = each.change ? ComparisonJson(100 * *each.change) : ComparisonJson();
    metric["interval_percent"] = each.interval
                                     ? ComparisonJson{100 * each.interval->low, 100 * each.interval->high}
                                     : ComparisonJson();
    metric["probability"] = each.probability;
    metric["adjusted_probability"] = each.kind ? ComparisonJson(each.adjusted) : ComparisonJson();
    metric["verdict"] = each.kind ? ComparisonJson(name_of(each.finding)) : ComparisonJson();
  }
  return {{"command", "compare"},
          {"compared", comparison.command},
          {"first_results", comparison.first_count},
          {"second_results", comparison.second_count},
          {"in_pairs", comparison.in_pairs},
          {"settings", settings},
          {"can_judge", comparison.can_judge},
          {"worse", comparison.losses()},
          {"metrics", metrics}};
}

}  // namespace mneme
