#include "measurement/statistics/median.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {

double median_of(std::span<double> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace mneme
