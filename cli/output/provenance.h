// Provenance: what a result says of where it comes from: the program, the command line, the machine.
//
// A command makes one as it begins, and adds it to its result as it ends: {"version","commit","command_line",
// "seed","started","host","build"}. What the system doesn't describe is null.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/output/output.h"

namespace mneme {

class Provenance {
 public:
  // The command begins. `data_directory`: whose disk the result depends on; empty: none.
  explicit Provenance(std::string data_directory = "");

  // A word of the command line that holds a password stands there as `shown`.
  void hide(std::string word, std::string shown) { hidden_.emplace_back(std::move(word), std::move(shown)); }
  // The command has ended. `seed`: what its random choices follow from, if it makes any.
  void add_to(Json& result, std::optional<uint64_t> seed = std::nullopt) const;

 private:
  std::vector<std::string> shown_command_line() const;

  std::vector<std::pair<std::string, std::string>> hidden_;
  std::string data_directory_;
  std::time_t started_;
  std::optional<double> load_before_;
};

}  // namespace mneme
