// The signed-rank test of Wilcoxon: do differences of pairs lie on one side of zero?
//
// Question    if each difference is as likely to be positive as negative, how often would the ranks of their
//             sizes be dealt to the two signs so unevenly? Answered exactly, by counting all ways to give
//             signs to the ranks.
// Why         two runs beside each other met the same machine, those of another minute perhaps another. A
//             pair's difference is free of what slowed both of its runs, and a rank limits what one stalled
//             run can do.
// Assumes     differences that don't depend on each other.
// Ties        equal sizes share their mean rank. Differences of 0 say nothing, and are left out.
// Limits      beyond kMostExact differences the normal approximation takes the count's place.
// Source      Wilcoxon: Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945).
#pragma once

#include <span>

#include "measurement/statistics/rank_sum.h"

namespace mneme {

// `differences`: first minus second. RankTest::first_larger is the probability of ranks that speak as much
// for positive differences, or more, by chance alone.
RankTest signed_rank_test(std::span<const double> differences);

}  // namespace mneme
