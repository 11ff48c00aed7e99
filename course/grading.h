// Grading: what a test of a part says when it fails: the broken rule, and what a database would lose.
#pragma once

#include <string>

namespace mneme::course {

// For a gtest assertion: EXPECT_EQ(found, expected) << broken("The rule.", "What a database loses."), each in
// whole sentences. scripts/course prints from "Rule:" on, and below it the values found and expected.
inline std::string broken(const std::string& rule, const std::string& loss) {
  return "\nRule: " + rule + "\nWhat is lost: " + loss;
}

}  // namespace mneme::course
