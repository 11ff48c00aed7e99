// mneme recover: a data directory into memory, each stage timed. Never changes the directory.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "cli/command/commands.h"
#include "cli/measure/demand_study.h"
#include "cli/measure/recovery_text.h"
#include "cli/measure/simulation_text.h"
#include "cli/option/analysis_option.h"
#include "cli/option/execution_option.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/option/workload_settings.h"
#include "cli/output/interrupt.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/provenance.h"
#include "cli/output/text.h"
#include "cli/output/trace_file.h"
#include "engine/transaction/digest.h"
#include "recovery/calls/schedule_recorder.h"
#include "recovery/database/recover.h"

namespace mneme {
namespace {

// Work that would go on beside the measured thread, on a core that a simulated machine has not, such as
// touching memory ahead, is then in what is measured. Where the system refuses, it is not.
void stay_on_one_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<size_t>(std::max(0, sched_getcpu())), &cores);
  (void)sched_setaffinity(0, sizeof(cores), &cores);
}

struct RecoverCommand {
  std::string directory;
  std::string scheme = "default";
  std::string replay = "pipelined";
  std::string order = "default";
  uint32_t threads = default_threads();
  uint32_t batch = ReplayOptions{}.batch_transactions;
  uint32_t lanes = ReplayOptions{}.lanes_per_block;
  std::string log_archive;
  std::string progress_name = "auto";
  std::string trace;
  std::string trace_html;
  std::string trace_beside;
  std::vector<uint32_t> simulate_cores;
  uint32_t on_demand = 0;
  double memory_bandwidth = 0;
  AnalysisOption analysis;
  ExecutionOption execution;
  Output output;

  Result<void> run(const CLI::App& command) const {
    const Provenance provenance(directory);
    RecoverOptions options;
    const Result<ReplayLevel> level = replay_level(replay);
    if (!level) return level.error();
    if (order != "default") {
      const Result<ReplayOrder> wanted_order = replay_order(order);
      if (!wanted_order) return wanted_order.error();
      options.order = *wanted_order;
    }
    const Result<const RecoveryScheme*> wanted = wanted_scheme();
    if (!wanted) return wanted.error();
    options.scheme = *wanted;
    RETURN_IF_ERROR(check_options(command, **wanted));
    const Result<Execution> wanted_execution = execution.get();
    if (!wanted_execution) return wanted_execution.error();
    options.execution = *wanted_execution;
    const Result<AnalysisOptions> wanted_analysis = analysis.get();
    if (!wanted_analysis) return wanted_analysis.error();
    if (is_any_given(command, OptionGroup::kAnalysis)) options.analysis = *wanted_analysis;
    options.log_archive = log_archive;
    options.replay.level = *level;
    options.replay.threads = simulate_cores.empty() ? threads : 1;
    options.replay.batch_transactions = batch;
    options.replay.lanes_per_block = lanes;
    options.on_demand = command.count("--on-demand") > 0;
    if (options.on_demand) options.workers = std::max(on_demand, 1U);
    options.most_bulk_seconds = 0;  // what is studied is replay on demand
    const Result<std::unique_ptr<Workload>> workload = asking_workload();
    if (!workload) return workload.error();
    const Result<ProgressStyle> style = progress_style(progress_name);
    if (!style) return style.error();
    const bool is_off = output.quiet() && command.count("--progress") == 0;
    Progress progress(is_off ? ProgressStyle::kOff : *style);
    show_progress(options, progress);
    const Interrupt interrupt;
    options.replay.is_interrupted = Interrupt::has_come;
    MachineCosts machine;
    SingleThread single_thread;
    if (!simulate_cores.empty()) {
      machine = measure_machine_costs();
      if (memory_bandwidth > 0) machine.memory_bytes_per_ns = memory_bandwidth;
      stay_on_one_core();
      const Result<SingleThread> measured = measure_single_thread(options, progress);
      if (!measured) return measured.error();
      single_thread = *measured;
      options.replay.planned_threads = std::ranges::max(simulate_cores);
    }
    std::optional<RecoveryReport> beside;
    if (!trace_beside.empty()) {
      Result<RecoveryReport> other = recover_beside(options, progress);
      if (!other) return other.error();
      beside = *std::move(other);
    }
    std::unique_ptr<ScheduleRecorder> recorder = make_recorder();
    options.replay.recorder = recorder.get();

    Result<RecoveredDatabase> recovered = recover(directory, options);
    progress.finish();
    if (!recovered) return recovered.error();
    const RecoveryReport& report = recovered->report;
    std::optional<DemandStudy> study;
    if (recovered->rest != nullptr && !report.interrupted_in) {
      Result<DemandStudy> studied = study_demand(*recovered, workload->get(), on_demand, Interrupt::has_come);
      if (!studied) return studied.error();
      study = *std::move(studied);
    }
    for (const std::string& notice : report.notices) output.notice(notice);
    if (study && !report.interrupted_in) {
      for (const std::string& notice : recovered->rest->report().notices) output.notice(notice);
    }
    if (report.interrupted_in) return tell_partial(*recovered, study, progress, provenance);
    const std::string digest = digest_text(*recovered->database, threads);
    Json json = recovery_json(report, digest);
    json["memory_bytes"] = recovered->database->memory_bytes();
    progress.result({{"event", "recovered"},
                     {"applied", report.replay.statistics.transactions},
                     {"skipped", report.log.skipped},
                     {"durable_lsn", report.log.end.value},
                     {"state_digest", digest},
                     {"total_seconds", report.total_seconds}});
    output.text(recovery_text(report, digest));
    if (study) {
      const DemandReport& rest = recovered->rest->report();
      output.text(demand_text(rest) + study_text(*study));
      json["on_demand"] = demand_json(rest);
      add_study(json["on_demand"], *study);
      json["first_transaction_seconds"] =
          study->first_transaction_seconds ? Json(*study->first_transaction_seconds) : Json();
      json["settled"] = json["on_demand"]["settled"];
    } else if (options.on_demand) {
      output.notice(
          "nothing was left to be replayed on demand: behind the last change of the schema the log "
          "holds no call");
    }
    if (is_traced()) {
      Json about = {{"workload", workload_name(recovered->manifest)},
                    {"scheme", report.scheme->name},
                    {"threads", report.threads},
                    {"blocks", report.analysis.blocks}};
      provenance.add_to(about);
      RETURN_IF_ERROR(put_trace({report, *recorder, std::move(about), beside ? &*beside : nullptr}));
    }
    if (!simulate_cores.empty()) {
      if (recorder->runs() != 1) {
        return invalid_argument(
            "--simulate-cores takes the costs of one graph of procedures, and this log's was replayed in {} "
            "stretches: {}",
            recorder->runs(), "recover a log that changes no schema");
      }
      const SimulatedReplay simulated =
          simulate_replay(*recorder, report, simulate_cores, machine, single_thread);
      output.text(simulation_text(simulated, report));
      json["simulation"] = simulation_json(simulated, report);
    }
    provenance.add_to(json);
    return output.json(json);
  }

 private:
  // An interrupted recovery has come to no database: it has no digest, no timeline and no simulation.
  Result<void> tell_partial(const RecoveredDatabase& recovered, const std::optional<DemandStudy>& study,
                            Progress& progress, const Provenance& provenance) const {
    const RecoveryReport& report = recovered.report;
    output.notice("the recovery was interrupted: this is what it had come to");
    progress.result({{"event", "interrupted"},
                     {"stage", name_of(*report.interrupted_in)},
                     {"applied", report.replay.statistics.transactions},
                     {"total_seconds", report.total_seconds}});
    output.text(recovery_text(report, ""));
    Json json = recovery_json(report, "");
    if (study) {
      output.text(fmt::format("  on demand: {:.0f}% of the rest was settled\n", *study->settled_share * 100));
      json["on_demand"] = {{"settled_share", *study->settled_share}};
    }
    provenance.add_to(json);
    return output.json(json);
  }

  // Whose calls ask for rows; none where nobody asks.
  Result<std::unique_ptr<Workload>> asking_workload() const {
    if (on_demand == 0) return std::unique_ptr<Workload>();
    const Result<Manifest> manifest = read_manifest(directory);
    if (!manifest) return manifest.error();
    const Result<WorkloadSettings> settings =
        WorkloadSettings::from_attributes(manifest->attributes, directory);
    if (!settings) return settings.error();
    return settings->make();
  }

  // The same log by --trace-beside's scheme, by its defaults.
  Result<RecoveryReport> recover_beside(const RecoverOptions& options, Progress& progress) const {
    const Result<const RecoveryScheme*> scheme_beside = recovery_scheme(trace_beside);
    if (!scheme_beside) return scheme_beside.error();
    RecoverOptions other = options;
    other.scheme = *scheme_beside;
    other.order.reset();
    other.analysis.reset();
    progress.say(fmt::format("by {}, to compare with", trace_beside));
    Result<RecoveredDatabase> recovered = recover(directory, other);
    if (!recovered) return recovered.error();
    return std::move(recovered->report);
  }

  // Returns the name of the workload that was run on the database, or its folder's name if none was.
  std::string workload_name(const Manifest& manifest) const {
    const Result<WorkloadSettings> settings =
        WorkloadSettings::from_attributes(manifest.attributes, directory);
    if (settings) return settings->name;
    return std::filesystem::absolute(directory + "/").lexically_normal().parent_path().filename().string();
  }

  // Replays the log on one thread in two ways. The simulated replay is compared with the faster one.
  Result<SingleThread> measure_single_thread(RecoverOptions options, Progress& progress) const {
    SingleThread measured;
    for (const bool is_whole : {false, true}) {
      progress.say(is_whole ? "one thread, procedures whole" : "one thread, by slices");
      if (is_whole) {
        if (!options.analysis) options.analysis.emplace();
        options.analysis->decompose = Decomposition::kWhole;
      }
      const Result<RecoveredDatabase> recovered = recover(directory, options);
      if (!recovered) return recovered.error();
      if (recovered->report.interrupted_in) break;  // the recovery that comes last ends likewise
      (is_whole ? measured.whole_seconds : measured.slices_seconds) = recovered->report.replay.seconds;
    }
    progress.say("one thread, step by step");
    return measured;
  }

  bool is_traced() const { return !trace.empty() || !trace_html.empty(); }

  // Recording costs time, so only what the options ask for is recorded.
  std::unique_ptr<ScheduleRecorder> make_recorder() const {
    using Detail = ScheduleRecorder::Detail;
    if (!simulate_cores.empty()) return std::make_unique<ScheduleRecorder>(Detail::kRendezvous);
    if (is_traced()) return std::make_unique<ScheduleRecorder>(Detail::kVisits, kMostTracedSteps);
    if (output.wants_json()) return std::make_unique<ScheduleRecorder>(Detail::kTimes);
    return nullptr;
  }

  Result<void> put_trace(const Trace& written) const {
    if (!trace.empty()) RETURN_IF_ERROR(write_trace(trace, written));
    if (!trace_html.empty()) RETURN_IF_ERROR(write_trace_page(trace_html, written));
    const ScheduleRecorder& recorder = written.recorder;
    if (recorder.dropped_steps() > 0) {
      output.notice(
          fmt::format("the trace holds the first {} steps of each thread, and leaves out {} later ones",
                      thousands(kMostTracedSteps), thousands(recorder.dropped_steps())));
    }
    return {};
  }

  Result<const RecoveryScheme*> wanted_scheme() const {
    if (scheme != "default") return recovery_scheme(scheme);
    const Result<Manifest> manifest = read_manifest(directory);
    if (!manifest) return manifest.error();
    return &default_scheme(manifest->records, manifest->tuple_image);
  }

  static Result<void> check_options(const CLI::App& command, const RecoveryScheme& wanted) {
    if (command.count("--replay") > 0 && !wanted.cuts_calls) {
      return invalid_argument("--replay is clr-p's, and {} has no levels: leave it out", wanted.name);
    }
    if (command.count("--simulate-cores") > 0 && !wanted.cuts_calls) {
      return invalid_argument(
          "--simulate-cores is clr-p's: {} has no graph of pieces to simulate; leave it out", wanted.name);
    }
    if (command.count("--on-demand") > 0) {
      if (!wanted.cuts_calls)
        return invalid_argument(
            "--on-demand is clr-p's, which knows what each row waits for, and {} does not: leave it out",
            wanted.name);
      for (const char* option :
           {"--replay", "--simulate-cores", "--trace", "--trace-html", "--trace-beside", "--batch"}) {
        if (command.count(option) > 0)
          return invalid_argument(
              "{} is of a replay from the log's begin to its end, and --on-demand has none: "
              "leave one of them out",
              option);
      }
      if (is_any_given(command, OptionGroup::kAnalysis))
        return invalid_argument(
            "--on-demand has an analysis of its own, in which lanes follow from arguments alone: leave out "
            "--conflicts, --elide, --decompose and --coalesce");
    }
    if (command.count("--trace-beside") > 0 &&
        command.count("--trace") + command.count("--trace-html") == 0) {
      return invalid_argument(
          "--trace-beside is drawn in a trace, and none is written: give --trace-html as well");
    }
    if (command.count("--simulate-cores") > 0 && command.count("--threads") > 0) {
      return invalid_argument("--simulate-cores measures a replay on one thread: leave --threads out");
    }
    if (command.count("--memory-bandwidth") > 0 && command.count("--simulate-cores") == 0) {
      return invalid_argument("--memory-bandwidth is of a simulated machine: give --simulate-cores as well");
    }
    if (is_any_given(command, OptionGroup::kAnalysis) && !wanted.cuts_calls) {
      return invalid_argument(
          "--conflicts, --elide, --decompose and --coalesce are clr-p's, and {} takes no procedure "
          "apart: leave them out",
          wanted.name);
    }
    if (command.count("--batch") > 0 && !wanted.is_parallel) {
      return invalid_argument(
          "--batch is for schemes that replay in parallel: {} replays one call after the other; leave it out",
          wanted.name);
    }
    if (command.count("--lanes") > 0 && !wanted.cuts_calls) {
      return invalid_argument("--lanes is clr-p's: {} cuts nothing into lanes; leave it out", wanted.name);
    }
    if (command.count("--replay-order") > 0 && wanted.replays_calls()) {
      return invalid_argument(
          "--replay-order is for schemes that replay rows: {} runs calls in commit order; leave it "
          "out",
          wanted.name);
    }
    if (command.count("--execution") > 0 && !wanted.replays_calls()) {
      return invalid_argument(
          "--execution is for schemes that run procedures, and {} runs none: leave it out", wanted.name);
    }
    return {};
  }
};

}  // namespace

void add_recover_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<RecoverCommand>();
  CLI::App* app =
      program.add_subcommand("recover", "recover a data directory into memory and report each stage");
  const OptionTaker take(*app);
  take("directory", command->directory);
  take("--scheme", command->scheme);
  take("--replay", command->replay);
  take("--replay-order", command->order);
  take("--threads", command->threads);
  take("--batch", command->batch);
  take("--lanes", command->lanes);
  take("--log-archive", command->log_archive);
  take("--on-demand", command->on_demand);
  take("--progress", command->progress_name);
  take("--trace", command->trace);
  take("--trace-html", command->trace_html);
  take("--trace-beside", command->trace_beside);
  take("--simulate-cores", command->simulate_cores);
  take("--memory-bandwidth", command->memory_bandwidth);
  command->analysis.add_options(*app);
  command->execution.add_option(*app);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
