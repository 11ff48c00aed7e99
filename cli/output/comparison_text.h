// A comparison of results as a text: what differs in the settings, and a table of what was measured.
#pragma once

#include <string>

#include "measurement/comparison/compare.h"

namespace mneme {

// Shows the metrics of which more or less is better, and those of single procedures only where they differ;
// the JSON has all.
std::string comparison_text(const ResultComparison& comparison);

}  // namespace mneme
