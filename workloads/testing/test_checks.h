// For tests of consistency conditions: a workload's program, and which conditions do not hold.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "procedures/binder/program.h"
#include "workloads/shared/workload.h"

namespace mneme {

inline std::unique_ptr<Program> compiled(const Workload& workload) {
  Result<std::unique_ptr<Program>> program = compile(workload.sql(), workload.name());
  EXPECT_TRUE(program.ok()) << program.error().message;
  return std::move(program).value();
}

// The names, up to the colon, of the conditions that do not hold.
inline std::vector<std::string> violated(const std::vector<Check>& checks) {
  std::vector<std::string> names;
  for (const Check& check : checks) {
    EXPECT_FALSE(check.detail.empty());
    if (!check.ok) names.push_back(check.name.substr(0, check.name.find(':')));
  }
  return names;
}

}  // namespace mneme
