// mneme run: load a workload, or go on with one, run it, and measure.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/clock.h"
#include "base/interrupted_cores.h"
#include "cli/command/commands.h"
#include "cli/measure/adaptive_text.h"
#include "cli/measure/by_the_book.h"
#include "cli/measure/conflict_text.h"
#include "cli/measure/demand_study.h"
#include "cli/measure/driver.h"
#include "cli/measure/growth.h"
#include "cli/measure/metrics_page.h"
#include "cli/measure/recovery_text.h"
#include "cli/measure/second_by_second.h"
#include "cli/measure/touch_ahead.h"
#include "cli/measure/workload_database.h"
#include "cli/option/checkpoint_settings.h"
#include "cli/option/concurrency_option.h"
#include "cli/option/log_buffer_settings.h"
#include "cli/option/log_content_settings.h"
#include "cli/option/log_device_settings.h"
#include "cli/option/open_option.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/option/workload_settings.h"
#include "cli/output/interrupt.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/provenance.h"
#include "cli/output/text.h"
#include "logging/commit/order_log.h"
#include "recovery/database/recovery_schemes.h"

namespace mneme {
namespace {

struct RunCommand {
  WorkloadSettings settings;
  std::string directory = "./mneme-data";
  uint32_t threads = default_threads();
  LogContentSettings content;
  LogDeviceSettings device;
  LogBufferSettings buffer;
  CheckpointSettings checkpoints;
  std::string commit = "pipelined";
  std::string huge_pages = "on";
  bool resume = false;
  OpenOption open;
  std::string scheme;  // of --resume; empty: the default one
  double duration = 10;
  uint64_t transactions = 0;
  std::string warmup = "0";
  double warmup_limit = kWarmUpLimitSeconds;
  double rate = 0;
  std::string arrivals = "uniform";
  uint32_t terminals = 0;
  bool audit = false;
  std::optional<uint16_t> metrics;
  std::string histogram;
  ExecutionOption execution;
  ConcurrencyOption concurrency;
  std::string prefetch = "on";
  TouchAheadOption touch_ahead;
  std::string worker_cores = "auto";
  Output output;

  Result<void> run(const CLI::App& command) {
    provenance_ = Provenance(content.is_off() ? "" : directory);
    RETURN_IF_ERROR(settings.check_options(command));
    elr_ = concurrency.elr;
    RETURN_IF_ERROR(touch_ahead.check());
    RETURN_IF_ERROR(open.check(command));
    on_demand_ = open.on_demand();
    if (command.count("--open") > 0 && !resume)
      return invalid_argument("--open says how a database that is there is opened: give --resume as well");
    if (!scheme.empty()) {
      if (!resume)
        return invalid_argument(
            "--scheme says how a database that is there is recovered: give --resume as well");
      const Result<const RecoveryScheme*> named = recovery_scheme(scheme);
      if (!named) return named.error();
      scheme_ = *named;
    }
    DriverOptions options;
    const Result<Execution> wanted = execution.get();
    if (!wanted) return wanted.error();
    const Result<Concurrency> kept_apart = concurrency.get();
    if (!kept_apart) return kept_apart.error();
    if (*wanted == Execution::kInterpreted && command.count("--prefetch") > 0) {
      return invalid_argument(
          "--prefetch is for machine code, which knows what a call will look up: leave it out, or "
          "choose --execution native");
    }
    options.session.prefetch = prefetch == "on";
    options.commit = commit_mode(commit);
    options.duration_seconds = duration;
    const Result<WarmUpRule> warm_up =
        warm_up_rule(warmup, warmup_limit, command.count("--warmup-limit") > 0);
    if (!warm_up) return warm_up.error();
    options.warm_up = *warm_up;
    if (transactions > 0) options.transactions = transactions;
    if (rate > 0) options.rate = rate;
    if (rate == 0 && command.count("--arrivals") > 0) {
      return invalid_argument("--arrivals is for calls that come at a rate: give --rate as well");
    }
    if (transactions > 0 && terminals > 0) {
      return invalid_argument(
          "--terminals work for a time, and not for a number of calls: say --duration in place of "
          "--transactions");
    }
    if (rate > 0 && terminals > 0) {
      return invalid_argument(
          "--terminals are users who wait for each answer, and --rate makes calls whether or not the last "
          "one is "
          "answered: leave one of them out");
    }
    options.arrivals = arrival_kind(arrivals);
    options.arrival_seed = settings.options.seed;
    options.seconds_by_procedure = !histogram.empty();
    content.choose(options.session, settings.options.seed);
    if (content.is_off()) {
      RETURN_IF_ERROR(content.check_off(command));
      std::vector<const char*> of_the_log = {"--resume", "--data-dir", "--commit", "--elr", "--worker-cores"};
      for (const OptionGroup group :
           {OptionGroup::kLogBuffer, OptionGroup::kLogDevice, OptionGroup::kCheckpoint}) {
        const std::vector<const char*>& options = option_names(group);
        of_the_log.insert(of_the_log.end(), options.begin(), options.end());
      }
      for (const char* option : of_the_log) {
        if (command.count(option) > 0) {
          return invalid_argument("{} concerns a log, and --log off keeps none: leave one of them out",
                                  option);
        }
      }
      return run_in_memory(options, *wanted, *kept_apart);
    }
    if (huge_pages != "on") {
      return invalid_argument("--huge-pages off is there to compare row access with: only with --log off");
    }
    RETURN_IF_ERROR(content.check_adaptive(command));
    const Result<LogContent> wanted_content = content.content();
    if (!wanted_content) return wanted_content.error();
    if (resume) {
      const Result<WorkloadSettings> stored = settings.resumed(command, directory);
      if (!stored) return stored.error();
      RETURN_IF_ERROR(content.keep(command, directory));
    }
    return run_durably(command, options, *wanted, *kept_apart);
  }

 private:
  Result<void> run_in_memory(DriverOptions& options, Execution wanted, const Concurrency& kept_apart) {
    const Result<std::unique_ptr<Workload>> workload = settings.make();
    if (!workload) return workload.error();
    Result<std::unique_ptr<Program>> program = compile((*workload)->sql(), settings.name + ".sql");
    if (!program) return program.error();
    Database database((*program)->catalog, threads, huge_pages == "on" ? PageSize::kHuge : PageSize::kSmall);
    RETURN_IF_ERROR(load_workload(**workload, database, threads, output.quiet()));
    OrderLog order(kFirstLsn);
    database.attach_log(order);
    database.set_concurrency(kept_apart);
    const CompiledUnits procedures = load_procedures(**program, {}, database.schema(), wanted,
                                                     {"", {NativeFolders::of_program()}}, output.quiet());
    for (const std::string& notice : procedures.notices()) output.notice(notice);
    return measure(**workload, **program, database, procedures, options, nullptr);
  }

  Result<void> run_durably(const CLI::App& command, DriverOptions& options, Execution wanted,
                           const Concurrency& kept_apart) {
    DurableLogOptions log_options;
    RETURN_IF_ERROR(buffer.choose(command, log_options));
    log_options.workers = threads;
    RETURN_IF_ERROR(checkpoints.choose(command, log_options));
    RETURN_IF_ERROR(device.choose(command, log_options));
    log_options.device_options.remote.tell = [this](const std::string& sentence) { output.notice(sentence); };
    if (traits_of(log_options.device).is_bounded) RETURN_IF_ERROR(checkpoints.take_when_full(log_options));
    durability_ = options.commit == CommitMode::kAsync ? "nothing" : durability_of(log_options);
    log_buffer_name_ = buffer_name(log_options);
    RETURN_IF_ERROR(concurrency.check_device(command, log_options));
    elr_ = concurrency.elr_on(log_options);
    if (hardens_by_worker(log_options) &&
        (options.commit == CommitMode::kAsync || options.commit == CommitMode::kGroup)) {
      return invalid_argument(
          "--commit {} spares waiting for a flusher, and on {} there is none: a transaction is durable "
          "when its commit returns; leave it out",
          commit, device.device());
    }
    log_options.group.waiters_hurry = options.commit != CommitMode::kGroup;

    opened_ns_ = monotonic_ns();
    Result<WorkloadDatabase> opened =
        resume ? WorkloadDatabase::open(directory, log_options, content.hints == "on", wanted, scheme_,
                                        on_demand_ ? std::optional(open.wait_seconds) : std::nullopt,
                                        output.quiet())
               : WorkloadDatabase::create(directory, settings, *content.content(), log_options, wanted,
                                          output.quiet());
    if (!opened) return opened.error();
    settings = opened->settings();
    options.incarnation = opened->incarnation();
    for (const std::string& notice : opened->notices()) output.notice(notice);
    if (options.commit == CommitMode::kAsync) {
      output.notice(
          "--commit async acknowledges before the log is durable: a crash can lose acknowledged work");
    }
    WorkingDatabase& working = opened->working();
    if (const LogLayout layout = working.manifest().current().layout; layout != LogLayout::kStream) {
      log_buffer_name_ = name_of(layout);
    }
    working.database().set_concurrency(kept_apart);
    if (worker_cores == "auto") options.interrupted_cores = interrupted_cores(directory);
    return measure(opened->workload(), working.program(), working.database(), opened->procedures(), options,
                   &*opened);
  }

  static std::string durability_of(const DurableLogOptions& log) {
    if (log.streams.commit == StreamCommit::kNone) return "nothing";
    return promise_of(log.device, log.device_options.remote);
  }

  Result<void> measure(const Workload& workload, const Program& program, Database& database,
                       const CompiledUnits& procedures, DriverOptions& options, WorkloadDatabase* durable) {
    if (terminals > 0 && workload.terminal_rules() == nullptr) {
      return invalid_argument(
          "--terminals is for a workload whose specification has them, and {} has none: leave it out",
          settings.name);
    }
    options.terminals = terminals * settings.options.scale;
    options.session.native = procedures.functions();
    if (durable != nullptr) options.session.told = durable->told();
    if (const auto notice = database.memory_notice()) output.notice(*notice);
    const TouchedAhead touched = touch_ahead.touch(workload, program, database, options, output);
    Progress progress(output.quiet());
    progress.stage("run", "", options.transactions.value_or(0), "transactions");
    std::atomic<uint64_t> committed{0};  // a number to look at: relaxed
    const Result<std::unique_ptr<MetricsPage>> page =
        MetricsPage::open_if(metrics, output, [&committed, &database, durable](MetricList& list) {
          list.counter("mneme_transactions_committed_total",
                       "Calls that were acknowledged, the warm-up's included.",
                       static_cast<double>(committed.load(std::memory_order_relaxed)));
          if (durable != nullptr) return add_database(list, durable->working());
          list.gauge("mneme_memory_bytes", "Memory of rows and indexes, free room included.",
                     static_cast<double>(database.memory_bytes()));
        });
    if (!page) return page.error();
    Growth growth;
    const auto measure_growth = [&database, durable] {
      GrowthSample sample;
      if (durable != nullptr) sample.log_bytes = durable->working().log().counters().log_bytes;
      sample.memory_bytes = database.memory_bytes();
      for (uint32_t t = 0; t < database.table_count(); ++t)
        sample.row_slots += database.table(TableId{t}).rows().slot_end();
      sample.resident_bytes = resident_bytes();
      return sample;
    };
    options.progress = [&](const RunProgress& run) {
      committed.store(run.committed, std::memory_order_relaxed);
      if (run.measured_seconds > 0) growth.look(run.measured_seconds, measure_growth);
      if (!run.seconds_total || run.per_second == 0) return progress.update({.done = run.committed});
      progress.update(
          {.done = run.committed, .pace = Progress::Pace{run.per_second, *run.seconds_total - run.seconds}});
    };
    std::unique_ptr<CheckpointSchedule> schedule;
    if (durable != nullptr) schedule = checkpoints.start(durable->working(), durable->recovered(), &output);
    const Interrupt interrupt;
    options.is_interrupted = Interrupt::has_come;
    const std::unique_ptr<AdaptiveLogging> adaptive =
        content.start_adaptive(program, database, options.session);
    const Result<RunReport> report = drive(workload, program, database, options);
    if (schedule != nullptr) taken_ = schedule->finish();
    progress.finish();
    if (durable != nullptr) RETURN_IF_ERROR(durable->working().finish_recovery());
    if (!report) return report.error();
    growth.finish(report->seconds, measure_growth);
    if (!histogram.empty()) {
      RETURN_IF_ERROR(write_user_file("the latencies", histogram, histogram_log(*report, program)));
    }
    LogCounters counters;
    if (durable != nullptr) {
      const DirectoryLog& log = durable->working().log();
      counters = log.counters();
      if (const auto group = log.group()) {
        const auto paced = static_cast<int64_t>(counters.flusher.interval_ns / 1000);
        flush_interval_us_ =
            group->rests > 0 ? std::max(paced, group->interval.count()) : group->interval.count();
      }
    }
    const State state{procedures.execution(),
                      digest_text(database, threads),
                      database.memory_by_table(),
                      database.memory_bytes(),
                      touched,
                      std::min(touched.bytes, database.memory().bytes_ready())};
    if (report->is_partial) output.notice("the run was interrupted: this is what it had come to");
    if (rate > 0 && !options.transactions && tps(*report) < 0.98 * rate) {
      output.notice(
          fmt::format("{} calls a second were due, more than were done: latencies count the wait for those "
                      "before, and grow with the run",
                      thousands(static_cast<uint64_t>(rate))));
    }
    if (report->seconds == 0 && report->warm_up.seconds > 0 && !report->is_partial) {
      output.notice(
          "the run ended within its warm-up, so that nothing was measured: raise --transactions, or lower "
          "--warmup");
    }
    BookReport book = by_the_book(workload, program, report->procedures, report->seconds,
                                  settings.options.scale, terminals);
    if (audit) add_choices(book, workload, threads, options.incarnation);
    output.text(text_of(program, *report, book, counters, state));
    output.text(growth.text(throughput_per_second(*report)));
    Json json = json_of(program, *report, counters, state);
    json["log_adaptive"] = Json();
    if (adaptive != nullptr) {
      const AdaptiveReport chosen = adaptive->finish();
      output.text(adaptive_text(program, chosen));
      json["log_adaptive"] = adaptive_json(program, chosen);
    }
    json["growth"] = growth.json(throughput_per_second(*report));
    json["by_the_book"] = book.json();
    add_settings(json, workload, *report);
    provenance_.add_to(json, settings.options.seed);
    if (resume) {
      const RecoveryReport& recovered = durable->recovered();
      json["recovered"] = {{"scheme", recovered.scheme == nullptr ? Json() : Json(recovered.scheme->name)},
                           {"total_seconds", recovered.total_seconds}};
      const double before = static_cast<double>(report->measured_from_ns - opened_ns_) / 1e9;
      json["throughput_since_open"] = throughput_since_open_json(*report, before);
    }
    if (durable != nullptr && durable->working().rest() != nullptr) {
      const DemandReport& rest = durable->working().rest()->report();
      output.text(demand_text(rest));
      json["on_demand"] = demand_json(rest);
      json["on_demand"]["recovery_seconds"] = durable->recovered().total_seconds;
    }
    return output.json(json);
  }

  // How it ran, and the database afterwards.
  struct State {
    Execution execution;
    std::string digest;
    std::vector<Database::TableMemory> memory_by_table;
    uint64_t memory_bytes = 0;
    TouchedAhead touched;
    uint64_t touched_bytes_left = 0;

    uint64_t row_bytes() const {
      uint64_t bytes = 0;
      for (const Database::TableMemory& part : memory_by_table) bytes += part.row_bytes;
      return bytes;
    }
    double memory_per_row_byte() const {
      return row_bytes() > 0 ? static_cast<double>(memory_bytes) / static_cast<double>(row_bytes()) : 0;
    }
  };

  std::string text_of(const Program& program, const RunReport& report, const BookReport& book,
                      const LogCounters& counters, const State& state) const {
    const ProcedureReport total = report.total();
    std::vector<std::vector<std::string>> rows = {
        {"procedure", "committed", "aborted", "rolled back", "p50", "p95", "p99", "p99.9", "max"}};
    const auto row = [&](const std::string& name, const ProcedureReport& part) {
      const auto quantile = [&](double q) {
        return seconds_text(static_cast<double>(part.latency_ns.quantile(q)) / 1e9);
      };
      rows.push_back({name, thousands(part.committed), thousands(part.aborted), thousands(part.user_aborts),
                      quantile(0.5), quantile(0.95), quantile(0.99), quantile(0.999), quantile(1)});
    };
    for (size_t i = 0; i < report.procedures.size(); ++i)
      row(program.procedures[i].name, report.procedures[i]);
    row("all", total);
    std::string text = fmt::format("{}: {} transactions/s over {:.1f} s on {}, procedures {}\n",
                                   settings.name, thousands(static_cast<uint64_t>(tps(report))),
                                   report.seconds, counted(threads, "thread"), name_of(state.execution));
    text += table_text(rows);
    text += report.warm_up.text();
    text += book.text(audit || terminals > 0);
    if (!content.is_off()) {
      const Histogram& flushes = counters.flusher.flush_ns;
      text += fmt::format("  log: {} in {}, {:.1f} bytes a record, {}", bytes_text(counters.log_bytes),
                          counted(counters.log_records, "record"), bytes_per_record(counters),
                          counted(counters.device.flushes, "flush", "flushes"));
      if (report.hinted > 0) {
        text += fmt::format(" ({} with hints of {:.1f} bytes)", thousands(report.hinted),
                            static_cast<double>(report.hint_bytes) / static_cast<double>(report.hinted));
      }
      if (flushes.count() > 0) {
        text +=
            fmt::format(" of p50 {}, p99 {}", seconds_text(static_cast<double>(flushes.quantile(0.5)) / 1e9),
                        seconds_text(static_cast<double>(flushes.quantile(0.99)) / 1e9));
      }
      if (counters.epochs) {
        text +=
            fmt::format(", by {} in {}", counted(counters.epochs->loggers, "logger"),
                        counted(counters.epochs->pepoch_writes, "step of the pepoch", "steps of the pepoch"));
      }
      if (counters.streams) {
        text += fmt::format(", in {}, dealt to workers by {}", counted(counters.streams->streams, "stream"),
                            counters.streams->nodes > 1 ? counted(counters.streams->nodes, "NUMA node")
                                                        : "turns, as there is one NUMA node");
        if (counters.streams->commit) {
          text += fmt::format(", group commit {}", name_of(*counters.streams->commit));
        }
        if (counters.streams->passive.signals > 0) {
          text += fmt::format(" with {} to stragglers", counted(counters.streams->passive.signals, "signal"));
        }
      }
      text += fmt::format("; acknowledged: {}\n", durability_);
    }
    if (!taken_.empty()) text += checkpoints_text(taken_);
    text += fmt::format("  memory: {} of rows in {}, indexes and free room included ({:.2f} times)\n",
                        bytes_text(state.row_bytes()), bytes_text(state.memory_bytes),
                        state.memory_per_row_byte());
    if (state.touched.bytes > 0) {
      text += fmt::format("  touched ahead: {} in {}, of which {} were not needed\n",
                          bytes_text(state.touched.bytes), seconds_text(state.touched.seconds),
                          bytes_text(state.touched_bytes_left));
    }
    if (total.aborted > 0) text += fmt::format("  aborted by cause: {}\n", causes_text(total));
    text += fmt::format("  state digest {}\n", state.digest);
    return text;
  }

  static Json memory_json(const Catalog& catalog, const State& state) {
    Json tables = Json::object();
    for (const Database::TableMemory& part : state.memory_by_table) {
      const TableDefinition& table = catalog.table(part.table);
      Json indexes = Json::object();
      for (size_t i = 0; i < part.index_bytes.size(); ++i)
        indexes[catalog.index(table.indexes[i]).name] = part.index_bytes[i];
      tables[table.name] = {
          {"row_bytes", part.row_bytes}, {"chunk_bytes", part.chunk_bytes}, {"index_bytes", indexes}};
    }
    return tables;
  }

  Json json_of(const Program& program, const RunReport& report, const LogCounters& counters,
               const State& state) const {
    const ProcedureReport total = report.total();
    Json by_procedure = Json::object();
    for (size_t i = 0; i < report.procedures.size(); ++i) {
      const ProcedureReport& part = report.procedures[i];
      by_procedure[program.procedures[i].name] = {{"committed", part.committed},
                                                  {"aborted", part.aborted},
                                                  {"user_aborts", part.user_aborts},
                                                  {"latency_us", latency_json(part.latency_ns)}};
    }
    return {
        {"command", "run"},
        {"workload", settings.name},
        {"threads", threads},
        {settings.scale_field(), settings.options.scale},
        {"log", content.log},
        {"tuple_image", content.is_off() ? "none" : content.tuple_image},
        {"adhoc", content.ad_hoc_percent},
        {"adhoc_transactions", report.ad_hoc},
        {"log_buffer", log_buffer_name_},
        {"log_device", content.is_off() ? "none" : device.device()},
        {"commit", commit},
        {"durability", durability_},
        {"execution", name_of(state.execution)},
        {"cores_kept_off", report.cores_kept_off},
        {"prefetch", state.execution == Execution::kNative ? prefetch : "off"},
        {"cc", concurrency.cc},
        {"elr", elr_},
        {"checkpoints", checkpoints_json(taken_, report.measured_from_ns)},
        {"checkpoint_bytes", checkpoint_bytes(taken_)},
        {"seconds", report.seconds},
        {"processor_seconds", report.processor_seconds},
        {"committed", total.committed},
        {"aborted", total.aborted},
        {"user_aborts", total.user_aborts},
        {"aborts_by_cause", causes_json(total)},
        {"throughput_tps", tps(report)},
        {"throughput_per_second", throughput_per_second(report)},
        {"per_second", per_second_json(report)},
        {"stalls", mneme::json_of(report.stalls)},
        {"rate", rate > 0 ? Json(rate) : Json()},
        {"arrivals", rate > 0 ? Json(arrivals) : Json()},
        {"terminals", terminals > 0 ? Json(terminals) : Json()},
        {"partial", report.is_partial},
        {"by_procedure", by_procedure},
        {"latency_us", latency_json(total.latency_ns)},
        {"log_bytes", counters.log_bytes},
        {"log_records", counters.log_records},
        {"log_bytes_per_txn", bytes_per_record(counters)},
        {"hints", content.has_hints() ? "on" : "off"},
        {"hinted_records", report.hinted},
        {"hint_bytes", report.hint_bytes},
        {"flush_interval_us", flush_interval_us_ ? Json(*flush_interval_us_) : Json()},
        {"device_flushes", counters.device.flushes},
        {"device_bytes", counters.device.device_bytes},
        {"segments_reused", counters.device.segments_reused},
        {"loggers", counters.epochs ? Json(counters.epochs->loggers) : Json()},
        {"epoch_us", counters.epochs ? Json(counters.epochs->interval.count()) : Json()},
        {"pepoch", counters.epochs && counters.epochs->pepoch ? Json(*counters.epochs->pepoch) : Json()},
        {"streams", counters.streams ? Json(counters.streams->streams) : Json()},
        {"numa_nodes", counters.streams ? Json(counters.streams->nodes) : Json()},
        {"group_commit",
         counters.streams && counters.streams->commit ? Json(name_of(*counters.streams->commit)) : Json()},
        {"group_commit_looks", counters.streams ? counters.streams->passive.looks : 0},
        {"straggler_signals", counters.streams ? counters.streams->passive.signals : 0},
        {"device_flush_us", latency_json(counters.flusher.flush_ns)},
        {"flusher_processor_seconds", static_cast<double>(counters.flusher.processor_ns) / 1e9},
        {"peak_rss_bytes", peak_rss_bytes()},
        {"row_bytes", state.row_bytes()},
        {"memory_bytes", state.memory_bytes},
        {"memory_per_row_byte", state.memory_per_row_byte()},
        {"memory_by_table", memory_json(program.catalog, state)},
        {"touched_ahead_bytes", state.touched.bytes},
        {"touched_ahead_seconds", state.touched.seconds},
        {"touched_ahead_left_bytes", state.touched_bytes_left},
        {"state_digest", state.digest},
        {"acknowledged_lsn", report.acknowledged.value}};
  }

  // What the run was asked for, besides what the result has above.
  void add_settings(Json& json, const Workload& workload, const RunReport& report) const {
    Json& options = json["workload_options"] = settings.attributes();
    options.erase("workload");
    Json& mix = json["mix"] = Json();
    for (const MixShare& share : workload.mix()) mix[std::string(share.procedure)] = share.percent;
    json["skew"] = workload.skew() ? Json(*workload.skew()) : Json();
    json["warmup_seconds"] = report.warm_up.rule.seconds;
    json["warmup"] = report.warm_up.json();
    json["duration_seconds"] = transactions > 0 ? Json() : Json(duration);
    json["transactions"] = transactions > 0 ? Json(transactions) : Json();
  }

  static double tps(const RunReport& report) {
    return report.seconds > 0 ? static_cast<double>(report.total().committed) / report.seconds : 0;
  }
  static double bytes_per_record(const LogCounters& counters) {
    return counters.log_records > 0
               ? static_cast<double>(counters.log_bytes) / static_cast<double>(counters.log_records)
               : 0;
  }

  Provenance provenance_;
  std::string log_buffer_name_ = "none";
  std::string elr_;
  bool on_demand_ = false;
  const RecoveryScheme* scheme_ = nullptr;
  uint64_t opened_ns_ = 0;              // when the database began to be opened, or made
  std::string durability_ = "nothing";  // what an acknowledgement stands for
  std::optional<int64_t> flush_interval_us_;
  std::vector<TakenCheckpoint> taken_;
};

}  // namespace

void add_run_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* app = program.add_subcommand("run", "load and run a workload, or go on with one");
  const OptionTaker take(*app);
  command->settings.add_options(*app);
  take("--data-dir", command->directory);
  take("--resume", command->resume);
  take("--scheme", command->scheme);
  command->open.add_option(*app);
  take("--threads", command->threads);
  take("--duration", command->duration);
  take("--transactions", command->transactions);
  take("--warmup", command->warmup);
  take("--warmup-limit", command->warmup_limit);
  take("--rate", command->rate);
  take("--arrivals", command->arrivals);
  take("--terminals", command->terminals);
  take("--audit", command->audit);
  take("--metrics", command->metrics);
  take("--histogram", command->histogram);
  command->content.add_options(*app);
  take("--commit", command->commit);
  command->execution.add_option(*app);
  command->concurrency.add_options(*app);
  take("--prefetch", command->prefetch);
  command->touch_ahead.add_option(*app);
  take("--worker-cores", command->worker_cores);
  take("--huge-pages", command->huge_pages);
  command->device.add_options(*app);
  command->buffer.add_options(*app);
  command->checkpoints.add_options(*app);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
