// mneme completion, mneme manual: scripts for shells, and the page for man, of what the program has.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/command/commands.h"
#include "cli/option/completion.h"
#include "cli/option/option_table.h"

namespace mneme {
namespace {

// main() looks whether it has arrived.
Result<void> print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

struct CompletionCommand {
  std::string shell;

  Result<void> run(const CLI::App& program) const {
    return print(shell == "zsh" ? zsh_completion(program) : bash_completion(program));
  }
};

}  // namespace

void add_completion_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<CompletionCommand>();
  CLI::App* app =
      program.add_subcommand("completion", "a script that completes commands and options in bash or zsh");
  const OptionTaker take(*app);
  take("shell", command->shell);
  app->callback(
      [&chosen, &program, command] { chosen = [&program, command] { return command->run(program); }; });
}

void add_manual_command(CLI::App& program, Action& chosen) {
  CLI::App* app = program.add_subcommand("manual", "the manual page, for man: mneme manual | man -l -");
  app->callback([&chosen, &program] { chosen = [&program] { return print(manual_page(program)); }; });
}

}  // namespace mneme
