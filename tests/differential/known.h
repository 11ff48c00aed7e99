// Known differences: what Mneme and PostgreSQL 15 answer differently, each with its reason.
//
// A row matches a difference that has been made small, by both answers and the scenario. docs/reliability.md
// lists the same differences.
#pragma once

#include <string>
#include <vector>

#include "tests/differential/two_databases.h"

namespace mneme::differential {

struct KnownDifference {
  std::string name;
  std::string
      mneme;  // regular expressions, searched for: in Mneme's sqlstate ("ok": none), a colon and the message
  std::string postgres;   // the same of PostgreSQL
  std::string statement;  // in the text of the scenario
  std::string reason;
  // A further condition on both answers and the scenario's text; nullptr: none.
  bool (*holds)(const Outcome& outcome, const std::string& scenario) = nullptr;
};

const std::vector<KnownDifference>& known_differences();

// Returns nullptr if the difference is not listed.
const KnownDifference* find_known(const Outcome& outcome, const std::string& scenario);

// Mneme's message without the names and places in it, so that refusals can be counted.
std::string kind_of_refusal(const Answer& answer);

}  // namespace mneme::differential
