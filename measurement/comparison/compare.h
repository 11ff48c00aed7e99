// Two sides' results compared: what differs in their settings, and what differs in what was measured, beyond
// chance.
//
// Pairs       where the sides' runs took turns, as their times of start tell, each run is compared with the
//             one beside it: what slows the machine for longer than two runs then slows both of a pair. The
//             test is of signed ranks (measurement/statistics/signed_rank.h), the change the median of the
//             pairs' ratios. Else, or with fewer than kFewestPairs, all of one side are compared with all of
//             the other.
// Verdict     a metric is worse or better where the probability of such a difference by chance, by the rank
//             test for either direction (measurement/statistics/rank_sum.h) and after Holm's correction, is
//             below 5%. The correction is for the headline metrics among themselves, and for the others among
//             themselves. So of equal sides at most 5 comparisons of 100 find a headline metric better or
//             worse, however many metrics there are; half of them, worse.
// Judgement   the headline metrics alone decide whether the second side has lost (result_files.h).
// Power       with 20 results a side and normal noise of 2% standard deviation, a loss of 3% is found in 99
//             of 100 cases, of 2.5% noise in 95, of 3% noise in 85; in pairs also where the machine's speed
//             drifts by a tenth meanwhile (compare_test.cc simulates them).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measurement/comparison/result_files.h"
#include "measurement/statistics/bootstrap.h"

namespace mneme {

struct SettingDifference {
  std::string path;
  std::string first;  // the values on this side, with commas between; "-": it has none
  std::string second;
};

enum class Finding : uint8_t { kNoDifference, kBetter, kWorse };

struct MetricDifference {
  std::string path;
  std::optional<MetricKind> kind;  // nothing: neither more nor less of it is better, and there is no verdict
  double first_median = 0;
  double second_median = 0;
  // From the first to the second: 0.03 is 3% more. Of the medians, or the median of the pairs' changes.
  std::optional<double> change;
  std::optional<ChangeInterval> interval;  // of the change, 95%
  double probability = 1;                  // of such ranks by chance, in either direction
  double adjusted = 1;                     // after Holm's correction
  Finding finding = Finding::kNoDifference;
};

struct ResultComparison {
  std::string command;
  size_t first_count = 0;
  size_t second_count = 0;
  bool in_pairs = false;  // the sides took turns
  std::vector<SettingDifference> settings;
  // Measured by every result of both sides; those of the headline first.
  std::vector<MetricDifference> metrics;
  // Whether there are enough results for any difference of a headline metric to be beyond chance.
  bool can_judge = false;

  // The headline metrics that are worse.
  std::vector<std::string> losses() const;
};

constexpr double kSignificant = 0.05;
constexpr size_t kFewestPairs = 10;

// Fails if the sides are of different commands, or have no headline metric in common. Each has a result.
Result<ResultComparison> compare_results(const std::vector<ResultFields>& first,
                                         const std::vector<ResultFields>& second);

nlohmann::ordered_json json_of(const ResultComparison& comparison);

}  // namespace mneme
