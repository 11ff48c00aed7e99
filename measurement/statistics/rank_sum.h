// The rank test of Mann, Whitney and Wilcoxon: are one sample's values larger than another's?
//
// Question    if both samples come from one distribution, whatever its shape, how often would their ranks
//             differ this much? Answered exactly, by counting all ways to deal the ranks to the two samples.
// Why         runs on a machine with neighbours have outliers, all on the slow side, and no shape that is
//             known. A test of means takes one stalled run for a difference, or loses a real one behind it. A
//             rank limits what one run can do, and where the noise is normal, the test needs only 5% more
//             runs than the t-test.
// Assumes     runs that don't depend on each other, and whose conditions are alike: alternate the two sides'
//             runs (scripts/regress), or what changes on the machine meanwhile is taken for a difference.
// Ties        equal values share their mean rank; the count of ways takes that into account.
// Limits      beyond kMostExact values in all the normal approximation takes the count's place.
// Source      Mann, Whitney: On a test of whether one of two random variables is stochastically larger than
//             the other, Annals of Mathematical Statistics 18 (1947).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mneme {

struct RankTest {
  double first_larger = 1;   // the probability of ranks that speak as much for it, or more, by chance alone
  double second_larger = 1;  // the same for the other direction

  // For either direction.
  double two_sided() const;
};

constexpr size_t kMostExact = 60;

// Each sample has at least one value.
RankTest rank_test(std::span<const double> first, std::span<const double> second);

// The smallest two_sided() that samples of these sizes can have, without ties.
double least_two_sided(size_t first, size_t second);

// Holm's correction: each probability as if it were the only one that was looked at. Of several metrics that
// don't differ, the chance that any adjusted one is below 5% is at most 5%.
std::vector<double> holm_adjusted(std::span<const double> probabilities);

}  // namespace mneme
