// OpenOption: --open: whether a database that is there is recovered before it is worked on, or meanwhile.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "recovery/database/recover.h"

namespace mneme {

struct OpenOption {
  std::string open = "recovered";
  double wait_seconds = kMostBulkSeconds;  // RecoverOptions::most_bulk_seconds

  void add_option(CLI::App& command);
  // Whether transactions are to run while the log is replayed (RecoverOptions::on_demand).
  bool on_demand() const { return open == "on-demand"; }
  Result<void> check(const CLI::App& command) const;
};

}  // namespace mneme
