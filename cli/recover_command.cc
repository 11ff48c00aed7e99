// mneme recover: a data directory into memory, each stage timed. Never changes the directory.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/execution_option.h"
#include "cli/output.h"
#include "cli/number_checks.h"
#include "cli/progress.h"
#include "cli/recovery_text.h"
#include "engine/digest.h"
#include "recovery/recover.h"

namespace mneme {
namespace {

struct RecoverCommand {
  std::string directory;
  std::string scheme = "clr-p";
  std::string replay = "pipelined";
  uint32_t threads = default_threads();
  uint32_t batch = ReplayOptions{}.batch_transactions;
  ExecutionOption execution;
  Output output;

  Result<void> run(const CLI::App& command) const {
    RecoverOptions options;
    const Result<RecoveryScheme> wanted = recovery_scheme(scheme);
    if (!wanted) return wanted.error();
    const Result<ReplayLevel> level = replay_level(replay);
    if (!level) return level.error();
    options.scheme = *wanted;
    for (const char* option : {"--replay", "--batch"}) {
      if (*wanted == RecoveryScheme::kClr && command.count(option) > 0) {
        return invalid_argument("{} is clr-p's: clr replays one call after the other; leave it out", option);
      }
    }
    const Result<Execution> wanted_execution = execution.get();
    if (!wanted_execution) return wanted_execution.error();
    options.execution = *wanted_execution;
    options.replay.level = *level;
    options.replay.threads = threads;
    options.replay.batch_transactions = batch;
    Progress progress(output.quiet());
    show_progress(options, progress);

    Result<RecoveredDatabase> recovered = recover(directory, options);
    progress.finish();
    if (!recovered) return recovered.error();
    for (const std::string& notice : recovered->report.notices) output.notice(notice);
    const std::string digest = digest_text(*recovered->database, threads);
    output.text(recovery_text(recovered->report, digest));
    return output.json(recovery_json(recovered->report, digest));
  }
};

}  // namespace

void add_recover_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<RecoverCommand>();
  CLI::App* app = program.add_subcommand("recover", "recover a data directory into memory and report each stage");
  app->add_option("directory", command->directory, "the data directory")->required();
  app->add_option("--scheme", command->scheme, "clr: serial replay; clr-p: parallel replay")->capture_default_str();
  app->add_option("--replay", command->replay, "clr-p: pipelined, synchronous or static")->capture_default_str();
  app->add_option("--threads", command->threads, "replay threads")->check(positive())->capture_default_str();
  app->add_option("--batch", command->batch, "transactions a log batch")
      ->check(positive())
      ->capture_default_str();
  command->execution.add_option(*app);
  command->output.add_options(*app);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
