// The trend of a series: does it rise or fall, and how fast?
//
// Slope       Theil and Sen: the median of the slopes between all pairs of values.
// Test        Mann and Kendall: of all pairs, how many more rise than fall? If the order of the values were
//             by chance, how often would the difference be as large, or larger, in either direction? By the
//             normal approximation, corrected for continuity and for equal values, which is good from ten
//             values on.
// Why         a run has single seconds that a neighbour of the machine slows down. They move a line of least
//             squares, and neither a median of slopes nor a count of signs by more than one value can.
// Assumes     that neighbouring values do not depend on each other. If they do, trends are found too often.
// Source      Mann: Nonparametric tests against trend, Econometrica 13 (1945); Kendall: Rank correlation
//             methods (1975); Sen: Estimates of the regression coefficient based on Kendall's tau, JASA 63
//             (1968).
#pragma once

#include <span>

namespace mneme {

struct Trend {
  double slope = 0;        // a step
  double change = 0;       // from the first value to the last one, as a part of the median; 0 if that is 0
  double probability = 1;  // of such a trend, or a stronger one, by chance alone
};

// Takes time and memory for all pairs of values.
Trend trend_of(std::span<const double> values);

}  // namespace mneme
