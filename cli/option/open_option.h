// OpenOption: --open: whether a database that is there is recovered before it is worked on, or meanwhile.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mneme {

struct OpenOption {
  std::string open = "recovered";

  void add_option(CLI::App& command);
  // Whether transactions are to run while the log is replayed (RecoverOptions::on_demand).
  bool on_demand() const { return open == "on-demand"; }
};

}  // namespace mneme
