#include "workloads/shared/zipf.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace mneme {
namespace {

double sum_of_powers(uint64_t count, double theta) {
  double sum = 0;
  for (uint64_t rank = 1; rank <= count; ++rank) sum += std::pow(static_cast<double>(rank), -theta);
  return sum;
}

}  // namespace

Result<void> Zipf::check(double theta) {
  if (theta >= 0 && theta < 1) return {};
  return invalid_argument("a skew is from 0, which is uniform, to below 1; {} is not", theta);
}

Zipf::Zipf(uint64_t count, double theta) : count_(count) {
  CHECK(count > 0);
  CHECK(check(theta).ok());
  zeta_ = sum_of_powers(count, theta);
  zeta_of_two_ = sum_of_powers(2, theta);
  exponent_ = 1 / (1 - theta);
  // With two ranks or one draw() needs only the sums, and this would be 0 / 0.
  slope_ =
      count <= 2 ? 0 : (1 - std::pow(2 / static_cast<double>(count), 1 - theta)) / (1 - zeta_of_two_ / zeta_);
}

uint64_t Zipf::draw(Random& random) const {
  // The 53 bits that a double holds: uniform over [0, 1).
  const double uniform = static_cast<double>(random.next() >> 11) * 0x1p-53;
  const double part = uniform * zeta_;
  if (part < 1 || count_ == 1) return 0;
  if (part < zeta_of_two_ || count_ == 2) return 1;
  const double rank = static_cast<double>(count_) * std::pow(slope_ * uniform - slope_ + 1, exponent_);
  return std::min(static_cast<uint64_t>(rank), count_ - 1);
}

}  // namespace mneme
