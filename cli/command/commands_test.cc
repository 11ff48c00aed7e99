// Goal: an option has one name, one meaning and one help, in whichever command it stands.
//
// Method: every option of every command is looked up in the option table, and must have that row's help; so
// no two commands give one name two meanings. Every row is an option of some command.
#include "cli/command/commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/option/option_table.h"

namespace mneme {
namespace {

std::vector<const CLI::Option*> all_options(const CLI::App& program) {
  std::vector<const CLI::Option*> options;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    for (const CLI::Option* option : command->get_options()) {
      if (option != command->get_help_ptr() && option != command->get_help_all_ptr())
        options.push_back(option);
    }
  }
  return options;
}

std::string first_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_single_name();
  return "--" + option.get_lnames().front();
}

TEST(Commands, TakeEveryOptionFromTheTable) {
  CLI::App program;
  Action chosen;
  add_commands(program, chosen);
  std::set<std::string_view> used;
  for (const CLI::Option* option : all_options(program)) {
    const OptionRow& row = option_row(first_name(*option));
    EXPECT_EQ(option->get_description(), row.help_text()) << row.name;
    EXPECT_TRUE(option->get_snames().empty()) << row.name;
    used.insert(row.name);
  }
  for (const OptionRow& row : option_table())
    EXPECT_TRUE(used.contains(row.name)) << row.name << " has no use";
}

TEST(OptionTable, HasEachNameOnce) {
  std::set<std::string> names;
  for (const OptionRow& row : option_table()) {
    EXPECT_EQ(&option_row(row.name.substr(0, row.name.find(','))), &row) << row.name;
    EXPECT_TRUE(names.emplace(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
  }
}

TEST(OptionTable, ListsAGroupByFirstNames) {
  const std::vector<const char*>& names = option_names(OptionGroup::kWorkload);
  EXPECT_TRUE(std::ranges::any_of(names, [](std::string_view name) { return name == "--warehouses"; }));
  EXPECT_TRUE(std::ranges::none_of(names, [](std::string_view name) { return name == "--scale"; }));
}

}  // namespace
}  // namespace mneme
