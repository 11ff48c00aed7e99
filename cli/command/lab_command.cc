// mneme lab: the laboratory in a browser, answered by this program's engine.
#include <fmt/format.h>
#include <semaphore.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/command/commands.h"
#include "cli/command/stop_signals.h"
#include "cli/lab/answering_process.h"
#include "cli/lab/laboratory_page.h"
#include "cli/lab/laboratory_server.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/output/output.h"

namespace mneme {
namespace {

// Posted by the signals that end the laboratory.
sem_t laboratory_ends;

void end_laboratory(int) {
  sem_post(&laboratory_ends);
}

struct LabCommand {
  uint16_t port = 0;
  double longest_seconds = 20;
  Output output;

  Result<void> run() const {
    if (kLaboratoryPage.empty()) {
      return failed(
          "this program was built without the laboratory's page: run scripts/setup, which fetches what it is "
          "made with, and build again; or scripts/lab makes a page that runs the engine in the browser");
    }
    sem_init(&laboratory_ends, 0, 0);
    stop_on_signals(end_laboratory);
    const auto longest = std::chrono::milliseconds(static_cast<int64_t>(1000 * longest_seconds));
    const Result<std::unique_ptr<LaboratoryServer>> server =
        LaboratoryServer::start(port, kLaboratoryPage, longest);
    if (!server) return server.error();
    if (!output.quiet()) {
      fmt::print("ready: {}\n", (*server)->address());
      std::fflush(stdout);
    }
    output.notice("open that address in a browser; Ctrl-C ends the laboratory");
    while (sem_wait(&laboratory_ends) != 0) {
    }
    return output.json({{"command", "lab"}, {"answers", (*server)->answers()}});
  }
};

}  // namespace

void add_lab_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<LabCommand>();
  CLI::App* app = program.add_subcommand(
      "lab", "the laboratory in a browser: work, a crash and a recovery, step by step");
  const OptionTaker take(*app);
  take("--port", command->port);
  take("--longest-run", command->longest_seconds);
  add_output_options(*app, command->output);
  app->callback([&chosen, command] { chosen = [command] { return command->run(); }; });
}

void add_lab_answer_command(CLI::App& program, Action& chosen) {
  auto folder = std::make_shared<std::string>();
  CLI::App* app = program.add_subcommand("lab-answer", "answers one request of the laboratory (used by lab)");
  const OptionTaker take(*app);
  take("folder", *folder);
  app->callback([&chosen, folder] { chosen = [folder] { return answer_in_folder(*folder); }; });
}

}  // namespace mneme
