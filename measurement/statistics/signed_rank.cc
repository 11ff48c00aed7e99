#include "measurement/statistics/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

namespace mneme {
namespace {

// The differences that are not 0, in the order of their sizes.
struct SignedRanks {
  std::vector<uint32_t> doubled;  // twice each one's rank from 1, so that means of ranks are whole
  size_t positive = 0;            // the sum of those of positive differences
  double ties = 0;                // sum of t^3 - t over groups of t equal sizes
};

SignedRanks signed_ranks(std::span<const double> differences) {
  std::vector<double> sorted;
  std::ranges::copy_if(differences, std::back_inserter(sorted), [](double each) { return each != 0; });
  std::ranges::sort(sorted, {}, [](double each) { return std::abs(each); });
  SignedRanks ranks;
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin + 1;
    while (end < sorted.size() && std::abs(sorted[end]) == std::abs(sorted[begin])) ++end;
    for (size_t i = begin; i < end; ++i) {
      ranks.doubled.push_back(static_cast<uint32_t>(begin + 1 + end));
      if (sorted[i] > 0) ranks.positive += begin + 1 + end;
    }
    const auto group = static_cast<double>(end - begin);
    ranks.ties += group * group * group - group;
    begin = end;
  }
  return ranks;
}

RankTest exact_signed_test(const SignedRanks& ranks) {
  const size_t highest = std::accumulate(ranks.doubled.begin(), ranks.doubled.end(), size_t{0});
  std::vector<double> ways(highest + 1);  // by the sum of those that get a plus
  ways[0] = 1;
  size_t sum_so_far = 0;
  for (const uint32_t rank : ranks.doubled) {
    sum_so_far += rank;
    for (size_t sum = sum_so_far; sum >= rank; --sum) ways[sum] += ways[sum - rank];
  }
  const auto at = ways.begin() + static_cast<ptrdiff_t>(ranks.positive);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  return {std::accumulate(at, ways.end(), 0.0) / all, std::accumulate(ways.begin(), at + 1, 0.0) / all};
}

// With a correction for continuity of half a rank.
RankTest approximate_signed_test(const SignedRanks& ranks) {
  const auto n = static_cast<double>(ranks.doubled.size());
  const double observed = static_cast<double>(ranks.positive) / 2;
  const double expected = n * (n + 1) / 4;
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.ties / 48;
  if (variance <= 0) return {};
  const auto beyond = [&](double distance) { return std::erfc(distance / std::sqrt(2 * variance)) / 2; };
  return {beyond(observed - expected - 0.5), beyond(expected - observed - 0.5)};
}

}  // namespace

RankTest signed_rank_test(std::span<const double> differences) {
  const SignedRanks ranks = signed_ranks(differences);
  return ranks.doubled.size() <= kMostExact ? exact_signed_test(ranks) : approximate_signed_test(ranks);
}

}  // namespace mneme
