// Grading: what a test of a part says when it fails: the broken rule, and what a database would lose.
#pragma once

#include <cstdio>
#include <string>

namespace mneme::course {

// For a gtest assertion: EXPECT_EQ(found, expected) << broken("The rule.", "What a database loses."), each in
// whole sentences. scripts/course prints from "Rule:" on, and below it the values found and expected.
inline std::string broken(const std::string& rule, const std::string& loss) {
  return "\nRule: " + rule + "\nWhat is lost: " + loss;
}

// Prints the rule before a step in which a wrong part may die: scripts/course prints it if the part does.
inline void at_stake(const std::string& rule, const std::string& loss) {
  std::fprintf(stderr, "Rule: %s\nWhat is lost: %s\n", rule.c_str(), loss.c_str());
}

}  // namespace mneme::course
