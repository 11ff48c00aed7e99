// The option table: each option of the command line stands in it once, with its name, help, check and group.
//
// A command takes rows of it and names the variable that each sets:
//
//   const OptionTaker take(*app);
//   take("--rounds", command->rounds);
//
// An option that several commands have thus means the same in each, and its help says so once. The default is
// the variable's value when the row is taken. cli/command/commands_test.cc holds all commands against the
// table.
//
// Words   an option's words stand in its row alone, with their meanings: its help, the completion of shells
//         and the manual page are made of them, and so is the check of an option that takes no other text.
//
// Errors  a name without a row ends the program: every start of the program takes all rows.
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option/units.h"

namespace mneme {

// The subject of an option. Options of the log's buffer, its device and checkpoints are refused as groups
// where there is no log.
enum class OptionGroup {
  kCommand,
  kWorkload,
  kRun,
  kLogContent,
  kLogBuffer,
  kLogDevice,
  kCheckpoint,
  kReplay,
  kAnalysis,
  kOutput
};

// A word that an option takes, as "occ" of --cc, and what it means; without a meaning the word says it.
struct OptionWord {
  std::string word;
  std::string meaning{};
};
using OptionWords = std::vector<OptionWord>;

struct OptionRow {
  OptionGroup group;
  std::string_view
      name;  // "--threads"; "--warehouses,--scale": two names; "directory": an argument by position
  std::string_view help;  // "{}" stands for the words
  bool shows_default = false;
  CLI::Validator (*check)() = nullptr;
  bool is_required = false;
  char delimiter = 0;                   // splits one argument into several values; 0: none does
  OptionWords (*words)() = nullptr;     // nullptr: it has none
  bool has_words_alone = false;         // other texts are refused
  OptionUnit unit = OptionUnit::kNone;  // of its number, which the command line may give in another
  bool is_rare = false;                 // only --help-all shows it

  // With each word's meaning: "concurrency control: occ: optimistic; 2pl: ...".
  std::string help_text() const;
  // Without: "concurrency control: occ, 2pl".
  std::string short_help_text() const;
};

std::span<const OptionRow> option_table();
// The row that has the name, alone or among others. Ends the program if there is none.
const OptionRow& option_row(std::string_view name);
// The names of a group's options, in the table's order, each by its first name.
const std::vector<const char*>& option_names(OptionGroup group);
// Whether the command has the option, and the command line gives it.
bool is_given(const CLI::App& command, const char* name);
// Whether the command line gives one of the group's options.
bool is_any_given(const CLI::App& command, OptionGroup group);

class OptionTaker {
 public:
  explicit OptionTaker(CLI::App& command) : command_(&command) {}

  // Adds the row's option to the command, as a flag if it sets a bool.
  template <typename Value>
  CLI::Option* operator()(std::string_view name, Value& sets) const {
    const OptionRow& row = option_row(name);
    if constexpr (std::same_as<Value, bool>) {
      return finish(row, command_->add_flag(std::string(name), sets, row.help_text()), false);
    } else {
      return finish(row, command_->add_option(std::string(name), sets, row.help_text()),
                    std::integral<Value>);
    }
  }
  // The same for an option whose text goes through a function.
  CLI::Option* function(std::string_view name, const std::function<void(const std::string&)>& sets) const;

 private:
  static CLI::Option* finish(const OptionRow& row, CLI::Option* option, bool is_whole);

  CLI::App* command_;
};

}  // namespace mneme
