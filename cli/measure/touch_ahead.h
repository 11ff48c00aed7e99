// --touch-ahead: touches the memory that a run will grow into, before the run is measured
// (base/memory/huge_pages.h). Engines that allocate all of their memory at the start do the same.
//
// auto        touches as much as the workload's procedures will insert at full speed
//             (workloads/shared/expected_growth.h). That is nothing for a workload that only changes rows.
// Bound       at most half of the available memory is touched. So a long run on a small machine is not killed
//             for memory that it may never need. The run touches the rest as it goes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "cli/measure/driver.h"
#include "cli/output/output.h"

namespace mneme {

struct TouchedAhead {
  size_t bytes = 0;
  double seconds = 0;
};

class TouchAheadOption {
 public:
  void add_option(CLI::App& command);
  Result<void> check() const;

  // Returns what it touched, and how long that took. The caller calls it before drive(), with the same
  // arguments. Shows progress, and prints a notice if it could not touch all of the memory.
  TouchedAhead touch(const Workload& workload, const Program& program, Database& database,
                     const DriverOptions& options, const Output& output) const;

 private:
  std::string text_ = "auto";
};

}  // namespace mneme
