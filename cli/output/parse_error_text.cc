#include "cli/output/parse_error_text.h"

#include <fmt/format.h>

#include <vector>

#include "base/nearest_word.h"

namespace mneme {
namespace {

std::string advice_for(const std::string& word, const std::vector<std::string>& words) {
  const std::string meant = nearest_word(word, words);
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

std::vector<std::string> commands_of(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       program.get_subcommands([](const CLI::App* each) { return !each->get_name().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::string parse_error_text(const CLI::App& program, const CLI::Error& error) {
  const CLI::App* command = &program;
  std::string called = "mneme";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    called += " " + command->get_name();
  }
  const std::string help = fmt::format("\nRun `{} --help` for more information.", called);
  const std::vector<std::string> unknown = command->remaining();
  const auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  const bool names_no_command = command == &program && is(CLI::ExitCodes::RequiredError);
  if (!unknown.empty() && (names_no_command || is(CLI::ExitCodes::ExtrasError))) {
    const std::string& first = unknown.front();
    if (first.starts_with('-')) {
      return fmt::format("{} has no option {}{}{}", called, first.substr(0, first.find('=')),
                         advice_for(first.substr(0, first.find('=')), options_of(*command)), help);
    }
    if (command == &program) {
      const std::vector<std::string> commands = commands_of(program);
      return fmt::format("there is no command {}{}{}", first, advice_for(first, commands), help);
    }
    return fmt::format("{} has no use for \"{}\"{}", called, fmt::join(unknown, " "), help);
  }
  if (names_no_command)
    return fmt::format("say what to do: one of {}{}", fmt::join(commands_of(program), ", "), help);
  return error.what() + help;
}

}  // namespace mneme
