// mneme crash: runs a workload in a child process, kills it with SIGKILL at a random moment, recovers by
// every scheme, and compares the result with what the clients were told. Every other round goes on where the
// last one was killed.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <random>

#include "cli/command/commands.h"
#include "cli/crash/crash_round.h"
#include "cli/measure/recovery_text.h"
#include "cli/measure/workload_database.h"
#include "cli/option/analysis_option.h"
#include "cli/option/checkpoint_settings.h"
#include "cli/option/concurrency_option.h"
#include "cli/option/log_buffer_settings.h"
#include "cli/option/log_content_settings.h"
#include "cli/option/log_device_settings.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/output/interrupt.h"
#include "cli/output/output.h"
#include "cli/output/provenance.h"
#include "cli/output/text.h"

namespace mneme {
namespace {

// A directory is run on, killed and recovered so often before a fresh copy of the loaded one takes its place:
// logs that several incarnations wrote are tested, and serial replay of ever longer ones is not.
constexpr uint32_t kRoundsOnOneDirectory = 2;

struct CrashCommand {
  WorkloadSettings settings;
  std::string directory = "./mneme-data";
  LogContentSettings content;
  uint32_t threads = default_threads();
  uint32_t rounds = 20;
  double longest_run = 1.0;
  std::string hook;
  bool may_end = false;
  LogDeviceSettings device;
  ExecutionOption execution;
  ConcurrencyOption concurrency;
  LogBufferSettings buffer;
  CheckpointSettings checkpoints;
  std::string replay = "pipelined";
  AnalysisOption analysis;
  Output output;

  Execution executed = Execution::kInterpreted;
  std::vector<double> crashed_at;
  std::vector<uint64_t> last_acknowledged;  // the highest LSN that a client knew of, each round
  uint64_t acknowledged = 0;
  uint64_t lost = 0;
  uint64_t invented = 0;
  uint64_t wrong_results = 0;
  // rounds that recovered from a checkpoint that was taken beside transactions
  uint64_t from_checkpoints = 0;
  uint64_t in_checkpoints = 0;  // rounds that were killed while one was being written
  uint64_t ad_hoc = 0;  // transactions in the logs left behind, if a scheme that replays calls counted them
  // the exit statuses of engines that ended by themselves, before they were killed
  std::vector<int> ended_with;
  uint64_t holes = 0;  // that the crashes left in a log in persistent memory
  struct SchemeTotal {
    bool digest_equal = true;
    double seconds = 0;
  };
  std::map<std::string, SchemeTotal> schemes;

  Result<void> run(const CLI::App& command) {
    provenance_ = Provenance(directory);
    RETURN_IF_ERROR(settings.check_options(command));
    RETURN_IF_ERROR(content.check_adaptive(command));
    const Result<LogContent> wanted_content = content.content();
    if (!wanted_content) return wanted_content.error();
    content_ = *wanted_content;
    log_options_.workers = threads;
    RETURN_IF_ERROR(choose_recovery(command));
    RETURN_IF_ERROR(buffer.choose(command, log_options_));
    // The child chooses for itself; this is to check the options.
    DurableLogOptions childs;
    RETURN_IF_ERROR(checkpoints.choose(command, childs));
    if (holds_database(directory)) {
      if (const Result<Manifest> manifest = read_manifest(directory); !manifest) return manifest.error();
      return invalid_argument(
          "{} holds a database, and a crash test needs a directory of its own; name another one "
          "with --data-dir",
          directory);
    }
    RETURN_IF_ERROR(device.choose(command, log_options_));
    if (traits_of(log_options_.device).is_bounded && checkpoints.are_taken()) {
      return invalid_argument(
          "a crash test judges the whole log, and a log on other machines releases what a checkpoint has "
          "passed: "
          "leave --checkpoint-every out");
    }
    for (const auto* directories :
         {&log_options_.device_options.directories, &log_options_.stream_directories}) {
      for (const std::string& each : *directories) {
        if (each.starts_with('/')) {
          return invalid_argument(
              "--log-directory {}: a crash test copies its data directory, and keeps its log in it; "
              "name a directory inside",
              each);
        }
      }
    }
    if (const Result<Concurrency> kept_apart = concurrency.get(); !kept_apart) return kept_apart.error();
    RETURN_IF_ERROR(concurrency.check_device(command, log_options_));
    const Result<Execution> wanted = execution.get();
    if (!wanted) return wanted.error();
    const Result<std::unique_ptr<Workload>> workload = settings.make();
    if (!workload) return workload.error();
    const Result<std::unique_ptr<Program>> program = compile((*workload)->sql(), settings.name + ".sql");
    if (!program) return program.error();

    const std::string loaded = directory + "/loaded";
    const std::string crashed = directory + "/crashed";
    const std::string archive = checkpoints.are_taken() ? directory + "/archive" : "";
    checkpoints.keep_archive(archive);
    RETURN_IF_ERROR(make_loaded(loaded, *wanted));
    std::mt19937_64 random(settings.options.seed);
    std::unique_ptr<Witness> witness;
    const Interrupt interrupt;
    for (uint32_t round = 0; round < rounds && !Interrupt::has_come(); ++round) {
      if (round % kRoundsOnOneDirectory == 0) {
        witness = std::make_unique<Witness>(program->get());
        std::filesystem::remove_all(crashed);
        if (!archive.empty()) std::filesystem::remove_all(archive);
        std::filesystem::copy(loaded, crashed, std::filesystem::copy_options::recursive);
      }
      CrashSetting setting;
      setting.directory = crashed;
      setting.log = device.arguments(log_options_.layout.value_or(LogLayout::kStream));
      setting.checkpoints = checkpoints.arguments();
      if (!hardens_by_worker(log_options_)) {
        for (std::string& argument : buffer.arguments()) setting.log.push_back(std::move(argument));
      }
      setting.concurrency = concurrency.arguments();
      setting.log_content = content.run_arguments();
      setting.device_seed = random();
      setting.threads = threads;
      setting.execution = executed;
      setting.kill_after = std::uniform_real_distribution<double>(0, longest_run)(random);
      setting.incarnation = round;
      setting.hook = hook;
      setting.may_end = may_end;
      Result<KilledRun> killed = run_until_killed(setting, **workload, **program, *witness);
      // A terminal's Ctrl-C reaches the engine's process as well: a round that it fell into tells nothing.
      if (Interrupt::has_come()) break;
      if (!killed) return killed.error();
      last_acknowledged.push_back(witness->last_acknowledged().value);
      recovery_.execution = executed;
      Result<Examination> examination =
          examine(crashed, archive, **workload, **program, recovery_, *witness, output.quiet());
      if (!examination) {
        // Whatever status it has elsewhere: here it is a crash that the database did not survive.
        return failed("round {} of {}: {}. The directory is left as it is: {}", round + 1, rounds,
                      examination.error().message, crashed);
      }
      add(round, *killed, *examination);
      if (!examination->good()) {
        RETURN_IF_ERROR(output.json(json()));
        return failed("round {} of {}: {}. The directory is left as it is: {}", round + 1, rounds,
                      examination->faults(), crashed);
      }
    }
    std::filesystem::remove_all(loaded);
    std::filesystem::remove_all(crashed);
    if (!archive.empty()) std::filesystem::remove_all(archive);
    if (is_partial()) output.notice("the test was interrupted: this is what it had come to");
    output.text(fmt::format("{}: {}, {} lost, {} invented; digests equal\n",
                            counted(crashed_at.size(), "round"),
                            counted(acknowledged, "acknowledged transaction"), lost, invented));
    return output.json(json());
  }

 private:
  bool is_partial() const { return Interrupt::has_come() && crashed_at.size() < rounds; }

  // The options of CLR-P, which replays calls in parallel.
  Result<void> choose_recovery(const CLI::App& command) {
    const bool is_given = command.count("--replay") > 0 || is_any_given(command, OptionGroup::kAnalysis);
    if (is_given && !holds_calls(content_.records)) {
      return invalid_argument(
          "--replay, --conflicts, --elide, --decompose and --coalesce are clr-p's, and a log of rows "
          "(--log {}) is not replayed by it: leave them out",
          content.log);
    }
    const Result<ReplayLevel> level = replay_level(replay);
    if (!level) return level.error();
    const Result<AnalysisOptions> wanted = analysis.get();
    if (!wanted) return wanted.error();
    if (is_any_given(command, OptionGroup::kAnalysis)) recovery_.analysis = *wanted;
    recovery_.replay.level = *level;
    recovery_.replay.threads = threads;
    return {};
  }

  // Also finds out whether the machine code can be had: what follows uses it, or doesn't try.
  Result<void> make_loaded(const std::string& loaded, Execution wanted) {
    std::filesystem::remove_all(loaded);
    DurableLogOptions options = log_options_;
    options.workers = threads;
    // Copies of this directory have one database's id: on the servers each would be taken for the other.
    if (traits_of(options.device).has_servers) options.device = LogDeviceKind::kFile;
    const Result<WorkloadDatabase> created =
        WorkloadDatabase::create(loaded, settings, content_, options, wanted, output.quiet());
    if (!created) return created.error();
    executed = created->procedures().execution();
    for (const std::string& notice : created->notices()) output.notice(notice);
    return {};
  }

  void add(uint32_t round, const KilledRun& killed, const Examination& examination) {
    crashed_at.push_back(killed.seconds);
    if (killed.ended_by_itself) ended_with.push_back(killed.exit_status);
    // In the second round on a directory the witness knows both rounds, and the log holds both.
    const uint64_t holes_found = examination.schemes.front().report.log.holes;
    from_checkpoints += examination.checkpoint_lsn == kCheckpointLsn ? 0 : 1;
    in_checkpoints += examination.in_checkpoint ? 1 : 0;
    const bool is_last = (round + 1) % kRoundsOnOneDirectory == 0;
    const uint64_t acknowledged_now = examination.verdict.acknowledged - acknowledged_before_;
    acknowledged += acknowledged_now;
    acknowledged_before_ = is_last ? 0 : examination.verdict.acknowledged;
    holes += holes_found - holes_before_;
    holes_before_ = is_last ? 0 : holes_found;
    const uint64_t ad_hoc_found = examination.schemes.front().report.replay.statistics.ad_hoc;
    ad_hoc += ad_hoc_found - ad_hoc_before_;
    ad_hoc_before_ = is_last ? 0 : ad_hoc_found;
    const uint64_t logged = examination.schemes.front().report.replay.statistics.transactions;
    const uint64_t logged_now = logged - std::min(logged, logged_before_);
    logged_before_ = is_last ? 0 : logged;
    lost += examination.verdict.lost;
    invented += examination.verdict.invented;
    wrong_results += examination.verdict.wrong_results;
    std::string times;
    for (const Examination::Scheme& scheme : examination.schemes) {
      SchemeTotal& total = schemes[scheme.name];
      if (scheme.report.scheme->cuts_calls) last_analysis_ = scheme.report.analysis.options;
      total.digest_equal = total.digest_equal && examination.digests_equal;
      total.seconds += scheme.report.total_seconds;
      times += fmt::format(", {} {}", scheme.name, seconds_text(scheme.report.total_seconds));
    }
    // Calls that only read, or were rolled back, are answered and leave no record; some that were not
    // answered have left one.
    output.text(
        fmt::format("round {:>3}: {} after {}, {} calls answered, {} of them logged; {} logged in this "
                    "round, {} in all{}: {}\n",
                    round + 1, killed.ended_by_itself ? "ended" : "killed", seconds_text(killed.seconds),
                    thousands(killed.answered), thousands(acknowledged_now), thousands(logged_now),
                    thousands(logged), times, examination.good() ? "good" : "BAD"));
  }

  Json json() const {
    Json by_scheme = Json::object();
    for (const auto& [name, total] : schemes) {
      by_scheme[name] = {{"digest_equal", total.digest_equal}, {"seconds", total.seconds}};
    }
    Json json = {{"command", "crash"},
                 {"workload", settings.name},
                 {"rounds", rounds},
                 {"rounds_done", crashed_at.size()},
                 {"partial", is_partial()},
                 {"log", content.log},
                 {"tuple_image", content.tuple_image},
                 {"adhoc", content.ad_hoc_percent},
                 {"adhoc_transactions", ad_hoc},
                 {"crashed_at", crashed_at},
                 {"log_device", device.device()},
                 {"log_buffer", buffer_name(log_options_)},
                 {"group_commit", stream_commit_name(log_options_)},
                 {"log_holes", holes},
                 {"checkpoint_every", checkpoints.every()},
                 {"from_checkpoints", from_checkpoints},
                 {"in_checkpoints", in_checkpoints},
                 {"acknowledged", acknowledged},
                 {"ended_by_themselves", ended_with.size()},
                 {"ended_with", ended_with},
                 {"last_acknowledged_lsn", last_acknowledged},
                 {"execution", name_of(executed)},
                 {"cc", concurrency.cc},
                 {"elr", concurrency.elr_on(log_options_)},
                 {"lost", lost},
                 {"invented", invented},
                 {"wrong_results", wrong_results},
                 {"schemes", by_scheme}};
    if (last_analysis_) {
      json["replay"] = name_of(recovery_.replay.level);
      add_analysis(json, *last_analysis_);
    }
    provenance_.add_to(json, settings.options.seed);
    return json;
  }

  Provenance provenance_;
  uint64_t acknowledged_before_ = 0;
  uint64_t logged_before_ = 0;  // by the round before on the same directory
  uint64_t holes_before_ = 0;
  uint64_t ad_hoc_before_ = 0;
  LogContent content_;
  DurableLogOptions log_options_;                 // the chosen buffer and device
  RecoverOptions recovery_;                       // after each round, by each scheme
  std::optional<AnalysisOptions> last_analysis_;  // of the last recovery that cut calls
};

}  // namespace

void add_crash_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<CrashCommand>();
  CLI::App* app = program.add_subcommand(
      "crash",
      "run in a child, SIGKILL it at a random moment, recover, check every acknowledged transaction");
  const OptionTaker take(*app);
  command->settings.add_options(*app);
  take("--data-dir", command->directory);
  command->content.add_options(*app);
  take("--threads", command->threads);
  take("--rounds", command->rounds);
  take("--longest-run", command->longest_run);
  take("--hook", command->hook);
  take("--may-end", command->may_end);
  command->device.add_options(*app);
  command->execution.add_option(*app);
  command->concurrency.add_options(*app);
  command->buffer.add_options(*app);
  command->checkpoints.add_options(*app, /*keeps_archive=*/true);
  take("--replay", command->replay);
  command->analysis.add_options(*app);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
