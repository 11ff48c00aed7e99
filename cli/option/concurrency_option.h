// ConcurrencyOption: --cc and --elr: how transactions are isolated, and when two-phase locking releases
// locks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/transaction/concurrency.h"
#include "logging/commit/log_options.h"

namespace mneme {

struct ConcurrencyOption {
  std::string cc = "occ";
  std::string elr = "on";

  void add_options(CLI::App& command);
  Result<Concurrency> get() const;
  // Whether it makes sense on this log.
  Result<void> check_device(const CLI::App& command, const DurableLogOptions& log) const;
  // Whether locks really are released early there: on, off.
  std::string elr_on(const DurableLogOptions& log) const;
  // The same choice, as arguments of another process.
  std::vector<std::string> arguments() const { return {"--cc", cc, "--elr", elr}; }
};

}  // namespace mneme
