// --touch-ahead: memory that a run will grow into is touched before the run is measured
// (base/memory/huge_pages.h), as other engines do that allocate all of theirs at the start.
//
// auto        as much as the workload's procedures will insert at full speed
//             (workloads/shared/expected_growth.h): nothing for a workload that only changes rows.
// Bound       half of the memory that is available, so that a long run on a small machine is not killed for
//             memory that it may never need. What exceeds it is touched as the run goes.
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

  // Before drive(), with the same arguments. Shows progress, and says what it could not do.
  TouchedAhead touch(const Workload& workload, const Program& program, Database& database,
                     const DriverOptions& options, const Output& output) const;

 private:
  std::string text_ = "auto";
};

}  // namespace mneme
