// Grading: what a test of a part says when it fails: the broken rule, and what a database would lose.
#pragma once

#include <string>

namespace mneme::course {

// For a gtest assertion: EXPECT_EQ(...) << broken("...", "..."). scripts/course prints from "Rule:" on.
inline std::string broken(const std::string& rule, const std::string& loss) {
  return "\nRule: " + rule + "\nWithout it: " + loss;
}

}  // namespace mneme::course
