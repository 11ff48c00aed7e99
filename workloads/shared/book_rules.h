// BookRules: what a workload's specification says of its calls, as data that a run is held against
// (cli/measure/by_the_book.h).
//
// Shares      each procedure's share of the calls, exactly; TPC-C's least shares are in terminal_rules.h.
// Successes   how many of a procedure's calls find what they need, and commit.
// Choices     how many calls have a property by their arguments: which rows they choose, for example. The
//             calls of a stream are shown in order, so that a property may depend on those before.
// Load        for how many transactions a second a database of this size counts.
// Threads     one owner: a choice may keep what it saw.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "procedures/interpreter/call.h"
#include "workloads/shared/mix.h"

namespace mneme {

struct BookRules {
  struct Success {
    std::string_view procedure;
    double percent = 0;
  };
  struct Choice {
    std::string name;
    double percent = 0;
    // Returns nullopt for a call that does not count.
    std::function<std::optional<bool>(const Call&)> has;
  };

  std::string_view source = {};  // empty: there is no specification
  std::vector<MixShare> mix = {};
  std::vector<Success> successes = {};
  std::vector<Choice> choices = {};
  std::optional<double> most_per_second = {};
  std::optional<double> longest_response_seconds = {};  // that 90 percent of the calls may take
};

}  // namespace mneme
