// HelpFormatter: `mneme COMMAND --help`: one line an option, in groups, with its default; only what the
// workload that the command line names has a use for, and nothing that few need. `--help-all` shows all
// options, with all that is to be said of them.
//
// A row's help in the option table may have parts for commands and workloads: "run: where ...; crash, acid:
// where ...". A line has the parts of the command and workload at hand.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option/option_table.h"

namespace mneme {

// The title of a group's options.
std::string_view title_of(OptionGroup group);

// What the help has to say of an option to one who types `command` with `workload` (empty: not known): the
// parts that are for all, and for them.
std::string help_for(const OptionRow& row, const CLI::App& command, std::string_view workload);
// The same, with the option's words and without their meanings.
std::string short_help_for(const OptionRow& row, const CLI::App& command, std::string_view workload);
// The beginning of a text, at a border of its parts or words, in so many characters.
std::string first_line(std::string_view text, size_t most);

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  static std::string of_command(const CLI::App& command, bool all);
};

}  // namespace mneme
