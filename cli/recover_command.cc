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
  std::string scheme = "default";
  std::string replay = "pipelined";
  std::string order = "default";
  uint32_t threads = default_threads();
  uint32_t batch = ReplayOptions{}.batch_transactions;
  std::string log_archive;
  ExecutionOption execution;
  Output output;

  Result<void> run(const CLI::App& command) const {
    RecoverOptions options;
    const Result<ReplayLevel> level = replay_level(replay);
    if (!level) return level.error();
    if (order != "default") {
      const Result<ReplayOrder> wanted_order = replay_order(order);
      if (!wanted_order) return wanted_order.error();
      options.order = *wanted_order;
    }
    const Result<RecoveryScheme> wanted = wanted_scheme();
    if (!wanted) return wanted.error();
    options.scheme = *wanted;
    RETURN_IF_ERROR(check_options(command, *wanted));
    const Result<Execution> wanted_execution = execution.get();
    if (!wanted_execution) return wanted_execution.error();
    options.execution = *wanted_execution;
    options.log_archive = log_archive;
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

 private:
  Result<RecoveryScheme> wanted_scheme() const {
    if (scheme != "default") return recovery_scheme(scheme);
    const Result<Manifest> manifest = read_manifest(directory);
    if (!manifest) return manifest.error();
    return default_scheme(manifest->records, manifest->tuple_image);
  }

  static Result<void> check_options(const CLI::App& command, RecoveryScheme wanted) {
    if (command.count("--replay") > 0 && wanted != RecoveryScheme::kClrP) {
      return invalid_argument("--replay is clr-p's, and {} has no levels: leave it out", name_of(wanted));
    }
    if (command.count("--batch") > 0 && wanted == RecoveryScheme::kClr) {
      return invalid_argument("--batch is for schemes that replay in parallel: clr replays one call after the other; "
                              "leave it out");
    }
    if (command.count("--replay-order") > 0 && replays_calls(wanted)) {
      return invalid_argument("--replay-order is for schemes that replay rows: {} runs calls in commit order; leave it "
                              "out", name_of(wanted));
    }
    if (command.count("--execution") > 0 && !replays_calls(wanted)) {
      return invalid_argument("--execution is for schemes that run procedures, and {} runs none: leave it out",
                              name_of(wanted));
    }
    return {};
  }
};

}  // namespace

void add_recover_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<RecoverCommand>();
  CLI::App* app = program.add_subcommand("recover", "recover a data directory into memory and report each stage");
  app->add_option("directory", command->directory, "the data directory")->required();
  app->add_option("--scheme", command->scheme, "clr: calls, one after the other; clr-p: calls, in parallel; llr: rows, in any order, latched; "
                  "llr-p: rows, shuffled to threads; plr: rows, by location, then indexes; default: the fastest that the log serves")->capture_default_str();
  app->add_option("--replay", command->replay, "clr-p: pipelined, synchronous or static")->capture_default_str();
  app->add_option("--replay-order", command->order,
                  "llr, llr-p, plr: forward; reverse: the newest image of a row first, older ones are passed over; default: reverse, "
                  "but forward where updates hold the changed columns alone")
      ->capture_default_str();
  app->add_option("--threads", command->threads, "replay threads")->check(positive())->capture_default_str();
  app->add_option("--batch", command->batch, "transactions a log batch")
      ->check(positive())
      ->capture_default_str();
  app->add_option("--log-archive", command->log_archive,
                  "the archive of the directory's runs: all of its history is replayed, not only what is behind the last checkpoint");
  command->execution.add_option(*app);
  command->output.add_options(*app);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
