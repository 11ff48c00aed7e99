// The bootstrap: an interval for a median, and for the relative difference of two.
//
// Method      the samples are drawn anew from themselves, with replacement, kResamples times; the interval
//             holds the middle 95% of the medians or differences that come out. It needs no shape of the
//             noise. With fewer than about ten values a side it is too narrow, since it knows no values but
//             those.
// Seed        fixed: the same samples have the same interval, always and everywhere.
// Source      Efron, Tibshirani: An Introduction to the Bootstrap (1993), 13.
#pragma once

#include <optional>
#include <span>

namespace mneme {

struct MedianInterval {
  double low;
  double high;
};
// The 95% interval of the values' median. Nothing for fewer than two values, which tell nothing of noise.
std::optional<MedianInterval> median_interval(std::span<const double> values);

struct ChangeInterval {
  double low;
  double high;
};

constexpr int kResamples = 2000;

// By what part of itself the first sample's median changes to become the second's: 0.03 is 3% more. Nothing
// where the first's median is 0, which has no part.
std::optional<double> median_change(std::span<const double> first, std::span<const double> second);
// The 95% interval of median_change(). Nothing where a resample of the first has the median 0.
std::optional<ChangeInterval> median_change_interval(std::span<const double> first,
                                                     std::span<const double> second);

}  // namespace mneme
