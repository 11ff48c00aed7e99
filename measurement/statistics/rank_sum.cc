#include "measurement/statistics/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/check.h"

namespace mneme {
namespace {

struct Ranked {
  std::vector<uint32_t> doubled;  // twice each value's rank from 1, so that means of ranks are whole; first
                                  // sample's, then the second's
  double ties = 0;                // sum of t^3 - t over groups of t equal values
};

Ranked ranked(std::span<const double> first, std::span<const double> second) {
  std::vector<double> values(first.begin(), first.end());
  values.insert(values.end(), second.begin(), second.end());
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  Ranked result;
  result.doubled.resize(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) result.doubled[order[i]] = static_cast<uint32_t>(begin + 1 + end);
    const auto group = static_cast<double>(end - begin);
    result.ties += group * group * group - group;
    begin = end;
  }
  return result;
}

// ways[s]: in how many ways `chosen` of the ranks have the sum s.
std::vector<double> ways_by_sum(const std::vector<uint32_t>& ranks, size_t chosen) {
  const size_t highest = std::accumulate(ranks.begin(), ranks.end(), size_t{0});
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(highest + 1));
  ways[0][0] = 1;
  size_t dealt = 0;
  size_t sum_so_far = 0;
  for (const uint32_t rank : ranks) {
    ++dealt;
    sum_so_far += rank;
    for (size_t count = std::min(dealt, chosen); count > 0; --count) {
      for (size_t sum = rank; sum <= sum_so_far; ++sum) ways[count][sum] += ways[count - 1][sum - rank];
    }
  }
  return ways[chosen];
}

RankTest exact_test(const std::vector<uint32_t>& ranks, size_t first) {
  const auto middle = ranks.begin() + static_cast<ptrdiff_t>(first);
  const size_t observed = std::accumulate(ranks.begin(), middle, size_t{0});
  const std::vector<double> ways = ways_by_sum(ranks, first);
  const auto at = ways.begin() + static_cast<ptrdiff_t>(observed);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  return {std::accumulate(at, ways.end(), 0.0) / all, std::accumulate(ways.begin(), at + 1, 0.0) / all};
}

// With a correction for continuity of half a rank.
RankTest approximate_test(const Ranked& ranks, size_t first, size_t second) {
  const auto m = static_cast<double>(first);
  const auto n = static_cast<double>(second);
  const auto middle = ranks.doubled.begin() + static_cast<ptrdiff_t>(first);
  const double observed =
      static_cast<double>(std::accumulate(ranks.doubled.begin(), middle, uint64_t{0})) / 2;
  const double expected = m * (m + n + 1) / 2;
  const double variance = m * n / 12 * (m + n + 1 - ranks.ties / ((m + n) * (m + n - 1)));
  if (variance <= 0) return {};
  const auto beyond = [&](double distance) { return std::erfc(distance / std::sqrt(2 * variance)) / 2; };
  return {beyond(observed - expected - 0.5), beyond(expected - observed - 0.5)};
}

}  // namespace

double RankTest::two_sided() const {
  return std::min(1.0, 2 * std::min(first_larger, second_larger));
}

RankTest rank_test(std::span<const double> first, std::span<const double> second) {
  CHECK(!first.empty() && !second.empty());
  const Ranked ranks = ranked(first, second);
  if (ranks.doubled.size() <= kMostExact) return exact_test(ranks.doubled, first.size());
  return approximate_test(ranks, first.size(), second.size());
}

double least_two_sided(size_t first, size_t second) {
  double ways = 1;
  for (size_t i = 1; i <= first; ++i) ways = ways * static_cast<double>(second + i) / static_cast<double>(i);
  return std::min(1.0, 2 / ways);
}

std::vector<double> holm_adjusted(std::span<const double> probabilities) {
  std::vector<size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return probabilities[i]; });
  std::vector<double> adjusted(probabilities.size());
  double highest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    highest = std::max(highest, probabilities[order[i]] * static_cast<double>(order.size() - i));
    adjusted[order[i]] = std::min(1.0, highest);
  }
  return adjusted;
}

}  // namespace mneme
