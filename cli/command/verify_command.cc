// mneme verify: is a data directory whole? Checksums, catalog, indexes, and its workload's consistency
// conditions.
#include <fmt/format.h>

#include <memory>

#include "cli/command/commands.h"
#include "cli/measure/recovery_text.h"
#include "cli/option/execution_option.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/option/workload_settings.h"
#include "cli/output/output.h"
#include "cli/output/provenance.h"
#include "cli/output/text.h"
#include "engine/transaction/digest.h"
#include "recovery/database/recover.h"
#include "workloads/shared/check_query.h"
#include "workloads/shared/load.h"

namespace mneme {
namespace {

struct VerifyCommand {
  std::string directory;
  uint32_t threads = default_threads();
  std::string log_archive;
  ExecutionOption execution;
  Output output;

  Result<void> run() const {
    const Provenance provenance(directory);
    const Result<Manifest> manifest = read_manifest(directory);
    if (!manifest) return manifest.error();
    const Result<WorkloadSettings> settings =
        WorkloadSettings::from_attributes(manifest->attributes, directory);
    if (!settings) return settings.error();
    const Result<std::unique_ptr<Workload>> workload = settings->make();
    if (!workload) return workload.error();

    const Result<Execution> wanted = execution.get();
    if (!wanted) return wanted.error();

    // Serial replay, where the log holds calls: the conditions that speak of all committed calls need each
    // call's results.
    const bool has_calls = holds_calls(manifest->records);
    RecoverOptions options;
    if (has_calls) options.scheme = &scheme_that_shows_calls();
    options.execution = *wanted;
    options.log_archive = log_archive;
    options.replay.threads = threads;
    int128 conserved = 0;
    if (has_calls) {
      options.visit = [&](const ReplayedCall& replayed) {
        conserved += (*workload)->conserved_delta(replayed.call, replayed.results);
      };
    }
    Progress progress(output.quiet());
    show_progress(options, progress);
    const Result<RecoveredDatabase> recovered = recover(directory, options);
    progress.finish();
    if (!recovered) return recovered.error();

    for (const std::string& notice : recovered->report.notices) output.notice(notice);
    std::vector<Check> checks = {
        {"checkpoint", true,
         fmt::format("{} at LSN {}, every chunk's checksum right",
                     counted(recovered->report.checkpoint.rows, "row"),
                     recovered->report.checkpoint.lsn.value)},
        {"log", true,
         fmt::format("{} up to LSN {}, every record's checksum right{}",
                     counted(recovered->report.replay.statistics.transactions, "transaction"),
                     recovered->report.log.end.value, holes_text(recovered->report))},
        index_check(*recovered->database)};
    // What calls have added up to is known only where all were replayed, since the database's birth; what
    // ad-hoc transactions were to add, their rows don't tell.
    const bool has_all_calls = has_calls && recovered->report.checkpoint.lsn == kCheckpointLsn &&
                               recovered->report.replay.statistics.ad_hoc == 0;
    for (Check& check : (*workload)->check(DatabaseRows(*recovered->database),
                                           has_all_calls ? std::optional(conserved) : std::nullopt)) {
      checks.push_back(std::move(check));
    }
    for (Check& check :
         run_check_queries((*workload)->check_queries(), *recovered->program, *recovered->database)) {
      checks.push_back(std::move(check));
    }
    return tell(checks, recovered->report.code.execution, provenance);
  }

 private:
  static std::string holes_text(const RecoveryReport& report) {
    return report.log.holes == 0
               ? ""
               : fmt::format(", and {} that crashes left", counted(report.log.holes, "hole"));
  }

  static Check index_check(const Database& database) {
    const Result<IndexReport> report = verify_indexes(database);
    if (!report) return {"indexes", false, report.error().message};
    return {"indexes", true,
            fmt::format("{}, and {}: each leads to the other", counted(report->entries, "entry", "entries"),
                        counted(report->rows, "row"))};
  }

  Result<void> tell(const std::vector<Check>& checks, Execution executed,
                    const Provenance& provenance) const {
    Json list = Json::array();
    size_t failed_checks = 0;
    for (const Check& check : checks) {
      output.text(fmt::format("{:<4}  {}: {}\n", check.ok ? "ok" : "BAD", check.name, check.detail));
      list.push_back({{"name", check.name}, {"ok", check.ok}, {"detail", check.detail}});
      failed_checks += check.ok ? 0 : 1;
    }
    Json json = {{"command", "verify"},
                 {"execution", name_of(executed)},
                 {"ok", failed_checks == 0},
                 {"checks", list}};
    provenance.add_to(json);
    RETURN_IF_ERROR(output.json(json));
    if (failed_checks > 0) {
      return failed("{} of {} checks of {} do not hold", failed_checks, checks.size(), directory);
    }
    return {};
  }
};

}  // namespace

void add_verify_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<VerifyCommand>();
  CLI::App* app =
      program.add_subcommand("verify", "checksums, catalog, indexes, the workload's consistency conditions");
  const OptionTaker take(*app);
  take("directory", command->directory);
  take("--threads", command->threads);
  take("--log-archive", command->log_archive);
  command->execution.add_option(*app);
  add_output_options(*app, command->output);
  app->callback([&chosen, command] { chosen = [command] { return command->run(); }; });
}

}  // namespace mneme
