#include "measurement/statistics/trend.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "measurement/statistics/median.h"

namespace mneme {
namespace {

// Returns the variance of the number of rising pairs less the falling ones, if the order is by chance.
double variance_of_difference(std::span<const double> values) {
  const auto term = [](double n) { return n * (n - 1) * (2 * n + 5); };
  std::map<double, size_t> equal;
  for (const double value : values) ++equal[value];
  double variance = term(static_cast<double>(values.size()));
  for (const auto& [value, count] : equal) variance -= term(static_cast<double>(count));
  return variance / 18;
}

}  // namespace

Trend trend_of(std::span<const double> values) {
  if (values.size() < 2) return {};
  Trend trend;
  std::vector<double> slopes;
  double difference = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
      difference += (values[j] > values[i] ? 1 : 0) - (values[j] < values[i] ? 1 : 0);
    }
  }
  trend.slope = median_of(slopes);
  std::vector<double> sorted(values.begin(), values.end());
  if (const double median = median_of(sorted); median != 0)
    trend.change = trend.slope * static_cast<double>(values.size() - 1) / std::abs(median);
  const double variance = variance_of_difference(values);
  if (variance > 0 && difference != 0)
    trend.probability = std::erfc((std::abs(difference) - 1) / std::sqrt(2 * variance));
  return trend;
}

}  // namespace mneme
