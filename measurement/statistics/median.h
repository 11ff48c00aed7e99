// The median: the middle value, or the mean of the two in the middle.
#pragma once

#include <span>

namespace mneme {

// Reorders the values, of which there is at least one.
double median_of(std::span<double> values);

}  // namespace mneme
