// mneme demo: TPC-C loaded, run, killed with SIGKILL in mid-flight, recovered serially and in parallel, and
// checked.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "cli/command/commands.h"
#include "cli/crash/crash_round.h"
#include "cli/measure/recovery_text.h"
#include "cli/measure/workload_database.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/output/output.h"
#include "cli/output/text.h"

namespace mneme {
namespace {

struct DemoCommand {
  uint32_t warehouses = 2;
  uint32_t threads = default_threads();
  double duration = 5;
  std::string parent = ".";
  bool keep = false;
  ExecutionOption execution;
  Output output;

  Result<void> run() const {
    std::string directory = parent + "/mneme-demo-XXXXXX";
    if (mkdtemp(directory.data()) == nullptr) {
      return failed("cannot make a directory in {}: {}; name another place with --in", parent,
                    std::strerror(errno));
    }
    const Result<void> result = run_in(directory);
    if (!result.ok()) {
      output.notice(fmt::format("the database is left as it is in {}", directory));
    } else if (keep) {
      output.notice(fmt::format("the database is in {}", directory));
    } else {
      std::filesystem::remove_all(directory);
    }
    return result;
  }

 private:
  RecoverOptions recovery(Execution executed) const {
    RecoverOptions options;
    options.replay.threads = threads;
    options.execution = executed;
    return options;
  }

  Result<void> run_in(const std::string& directory) const {
    const Result<Execution> wanted = execution.get();
    if (!wanted) return wanted.error();
    WorkloadSettings settings;
    settings.name = "tpcc";
    settings.options.scale = warehouses;
    const Result<std::unique_ptr<Workload>> workload = settings.make();
    if (!workload) return workload.error();
    const Result<std::unique_ptr<Program>> program = compile((*workload)->sql(), "tpcc.sql");
    if (!program) return program.error();

    output.text(fmt::format("Loading TPC-C with {} ...\n", counted(warehouses, "warehouse")));
    DurableLogOptions log;
    log.workers = threads;
    const uint64_t load_start_ns = monotonic_ns();
    Execution executed = Execution::kInterpreted;
    {
      const auto created =
          WorkloadDatabase::create(directory, settings, LogContent(), log, *wanted, output.quiet());
      if (!created) return created.error();
      executed = created->procedures().execution();
      for (const std::string& notice : created->notices()) output.notice(notice);
    }
    const double load_seconds = static_cast<double>(monotonic_ns() - load_start_ns) / 1e9;

    output.text(fmt::format("Running it in a process of its own for {} s on {}, then kill -9 ...\n", duration,
                            counted(threads, "thread")));
    CrashSetting setting;
    setting.directory = directory;
    setting.threads = threads;
    setting.execution = executed;
    setting.kill_after = duration;
    Witness witness;
    const Result<KilledRun> killed = run_until_killed(setting, **workload, **program, witness);
    if (!killed) return killed.error();

    output.text("Recovering it, serially and in parallel, and checking every acknowledged transaction ...\n");
    const Result<Examination> examination =
        examine(directory, "", **workload, **program, recovery(executed), witness, output.quiet());
    if (!examination) return examination.error();
    output.text("\n" + text_of(load_seconds, *killed, *examination));
    Json report = json_of(load_seconds, *killed, *examination);
    report["execution"] = name_of(executed);
    RETURN_IF_ERROR(output.json(report));
    if (!examination->good()) return failed("the recovered database is wrong: {}", examination->faults());
    return {};
  }

  static std::string upper(std::string_view name) {
    std::string text(name);
    std::ranges::transform(text, text.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
    return text;
  }
  static double forward_tps(const KilledRun& killed) {
    return killed.seconds > 0 ? static_cast<double>(killed.answered) / killed.seconds : 0;
  }
  static double log_bytes_per_txn(const RecoveryReport& report) {
    return report.replay.statistics.transactions > 0
               ? static_cast<double>(report.log.record_bytes) /
                     static_cast<double>(report.replay.statistics.transactions)
               : 0;
  }

  std::string text_of(double load_seconds, const KilledRun& killed, const Examination& examination) const {
    const RecoveryReport& first = examination.schemes.front().report;
    std::vector<std::vector<std::string>> rows = {
        {"load and checkpoint", seconds_text(load_seconds), bytes_text(first.checkpoint.bytes)},
        {"forward", fmt::format("{}/s", thousands(static_cast<uint64_t>(forward_tps(killed)))),
         fmt::format("{} answered in {}", counted(killed.answered, "call"), seconds_text(killed.seconds))},
        {"log", fmt::format("{:.1f} bytes", log_bytes_per_txn(first)),
         fmt::format("a logged transaction, {} of them", thousands(first.replay.statistics.transactions))}};
    for (const Examination::Scheme& scheme : examination.schemes) {
      const RecoveryReport& report = scheme.report;
      rows.push_back(
          {upper(report.scheme->name) +
               (report.scheme->is_parallel ? ", " + counted(threads, "thread") : ", serial replay"),
           seconds_text(report.replay.seconds),
           fmt::format("{}/s, with checkpoint and log {}",
                       thousands(static_cast<uint64_t>(report.replay.tps())),
                       seconds_text(report.total_seconds))});
    }
    std::string text = table_text(rows);
    text += fmt::format("\n  {} lost (of {}), {} invented\n",
                        counted(examination.verdict.lost, "acknowledged transaction"),
                        thousands(examination.verdict.acknowledged), examination.verdict.invented);
    for (const Examination::Scheme& scheme : examination.schemes) {
      text += fmt::format("  state digest {}  {}\n", scheme.digest, scheme.name);
    }
    text += fmt::format("  digests {}; {} of {} consistency conditions hold\n",
                        examination.digests_equal ? "equal" : "DIFFER",
                        examination.checks - examination.failed_checks.size(), examination.checks);
    return text;
  }

  Json json_of(double load_seconds, const KilledRun& killed, const Examination& examination) const {
    Json schemes = Json::object();
    for (const Examination::Scheme& scheme : examination.schemes) {
      schemes[scheme.name] = recovery_json(scheme.report, scheme.digest);
    }
    return {{"command", "demo"},
            {"warehouses", warehouses},
            {"threads", threads},
            {"load_seconds", load_seconds},
            {"seconds", killed.seconds},
            {"answered", killed.answered},
            {"throughput_tps", forward_tps(killed)},
            {"log_bytes_per_txn", log_bytes_per_txn(examination.schemes.front().report)},
            {"acknowledged", examination.verdict.acknowledged},
            {"lost", examination.verdict.lost},
            {"invented", examination.verdict.invented},
            {"digests_equal", examination.digests_equal},
            {"schemes", schemes}};
  }
};

}  // namespace

void add_demo_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<DemoCommand>();
  CLI::App* app =
      program.add_subcommand("demo", "load TPC-C, run it, kill -9, recover serially and in parallel, verify");
  const OptionTaker take(*app);
  take("--warehouses", command->warehouses);
  take("--threads", command->threads);
  take("--duration", command->duration);
  take("--in", command->parent);
  take("--keep", command->keep);
  command->execution.add_option(*app);
  add_output_options(*app, command->output);
  app->callback([&chosen, command] { chosen = [command] { return command->run(); }; });
}

}  // namespace mneme
