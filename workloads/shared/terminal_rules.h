// TerminalRules: how users at terminals make a workload's calls, where a specification says so (TPC-C 5.2.5).
//
// A user chooses a transaction, keys it in, waits for the answer, and thinks. Keying takes a fixed time;
// thinking an exponential one, cut off at ten times its mean.
#pragma once

#include <string_view>
#include <vector>

#include "procedures/ir/ir.h"

namespace mneme {

struct TerminalRules {
  struct Times {
    double keying_seconds = 0;
    double think_seconds = 0;             // on average
    double longest_response_seconds = 0;  // of 90 percent of the calls
    double least_percent = 0;             // of all calls; 0: whatever the others leave
  };
  std::vector<Times> times;  // by ProcedureId

  // What the specification counts: committed calls of `counted` a minute, under the name `measure`, where all
  // comes from `users` terminals a warehouse. Each
  // warehouse, with its ten terminals, can have `most_per_minute` of them.
  ProcedureId counted;
  std::string_view measure;
  std::string_view source;  // the specification
  uint32_t users = 0;
  double most_per_minute = 0;

  static constexpr double kLongestThink = 10;  // times the mean
};

}  // namespace mneme
