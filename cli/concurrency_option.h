// ConcurrencyOption: --cc and --elr: how transactions are kept apart, and when two-phase locking lets go.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/concurrency.h"
#include "logging/device_factory.h"

namespace mneme {

struct ConcurrencyOption {
  std::string cc = "occ";
  std::string elr = "on";

  void add_options(CLI::App& command);
  Result<Concurrency> get() const;
  // Whether it makes sense on a log of this device.
  Result<void> check_device(const CLI::App& command, LogDeviceKind device) const;
  // Whether locks really are released early there: on, off.
  std::string elr_on(LogDeviceKind device) const;
  // The same choice, as arguments of another process.
  std::vector<std::string> arguments() const { return {"--cc", cc, "--elr", elr}; }
};

}  // namespace mneme
