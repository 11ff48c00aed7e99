#include "measurement/statistics/bootstrap.h"

#include <algorithm>
#include <random>
#include <vector>

#include "measurement/statistics/median.h"

namespace mneme {
namespace {

constexpr uint64_t kBootstrapSeed = 20'110'305;

double median_of_copy(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return median_of(copy);
}

// std::uniform_int_distribution draws differently with each library. `scratch` has the size of `values`.
double resampled_median(std::span<const double> values, std::vector<double>& scratch,
                        std::mt19937_64& random) {
  for (double& each : scratch) each = values[(random() >> 11) % values.size()];
  return median_of(scratch);
}

constexpr size_t kOutside = kResamples / 40;  // 2.5% on either side

}  // namespace

std::optional<MedianInterval> median_interval(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  std::mt19937_64 random(kBootstrapSeed);
  std::vector<double> drawn(values.size());
  std::vector<double> medians(kResamples);
  for (double& median : medians) median = resampled_median(values, drawn, random);
  std::ranges::sort(medians);
  return MedianInterval{medians[kOutside], medians[kResamples - 1 - kOutside]};
}

std::optional<double> median_change(std::span<const double> first, std::span<const double> second) {
  const double before = median_of_copy(first);
  if (before == 0) return std::nullopt;
  return (median_of_copy(second) - before) / before;
}

std::optional<ChangeInterval> median_change_interval(std::span<const double> first,
                                                     std::span<const double> second) {
  std::mt19937_64 random(kBootstrapSeed);
  std::vector<double> drawn_first(first.size());
  std::vector<double> drawn_second(second.size());
  std::vector<double> changes(kResamples);
  for (double& change : changes) {
    const double before = resampled_median(first, drawn_first, random);
    if (before == 0) return std::nullopt;
    change = (resampled_median(second, drawn_second, random) - before) / before;
  }
  std::ranges::sort(changes);
  return ChangeInterval{changes[kOutside], changes[kResamples - 1 - kOutside]};
}

}  // namespace mneme
