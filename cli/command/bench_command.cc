// mneme bench: a workload's calls on servers that speak PostgreSQL's protocol, measured and compared.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "cli/bench/bench_driver.h"
#include "cli/bench/bench_report.h"
#include "cli/bench/target_database.h"
#include "cli/command/commands.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/option/workload_settings.h"
#include "cli/output/interrupt.h"
#include "cli/output/output.h"
#include "cli/output/page.h"
#include "cli/output/progress.h"
#include "cli/output/provenance.h"
#include "cli/output/text.h"

namespace mneme {
namespace {

struct BenchCommand {
  WorkloadSettings settings;
  std::vector<std::string> target_texts;
  uint32_t clients = 1;
  double duration = 10;
  uint64_t transactions = 0;
  std::string warmup = "0";
  double warmup_limit = kWarmUpLimitSeconds;
  double rate = 0;
  bool audit = false;
  bool no_load = false;
  bool reload = false;
  uint32_t repeat = 1;
  std::string isolation = "serializable";
  std::string final_tables = "auto";
  std::string html_file;
  Output output;

  Result<void> run(const CLI::App& command) {
    RETURN_IF_ERROR(settings.check_options(command));
    if (no_load && reload)
      return invalid_argument("--no-load keeps the tables that --reload drops: leave one of them out");
    std::vector<Target> targets;
    for (const std::string& text : target_texts) {
      Result<Target> target = parse_target(text);
      if (!target) return target.error();
      provenance_.hide(text, target->shown);
      targets.push_back(*std::move(target));
    }
    const Result<WarmUpRule> warm_up =
        warm_up_rule(warmup, warmup_limit, command.count("--warmup-limit") > 0);
    if (!warm_up) return warm_up.error();
    report_.options.warm_up = *warm_up;
    const bool is_serial = clients == 1 && transactions > 0;
    report_.compares_tables =
        final_tables == "tables" || (final_tables == "auto" && is_serial && targets.size() > 1);
    if (report_.compares_tables && !(is_serial && targets.size() > 1)) {
      return invalid_argument(
          "--final tables compares what the same calls in the same order leave: give two targets or more, "
          "--clients 1 and --transactions N, or choose --final checks");
    }
    const Result<std::unique_ptr<Workload>> workload = settings.make();
    if (!workload) return workload.error();
    const Result<std::unique_ptr<Program>> program = compile((*workload)->sql(), settings.name + ".sql");
    if (!program) return program.error();
    fill_report(**program, targets);

    const Interrupt interrupt;
    // Nothing is loaded anywhere before each target was seen to be there, and free.
    for (size_t i = 0; i < targets.size(); ++i) RETURN_IF_ERROR(look_at(i, **workload, **program));
    for (uint32_t round = 0; round < repeat && !Interrupt::has_come(); ++round) {
      for (size_t i = 0; i < targets.size() && !Interrupt::has_come(); ++i)
        RETURN_IF_ERROR(run_round(i, round, **workload, **program));
    }
    for (TargetReport& target : report_.targets) add_book(target, **workload, **program);
    RETURN_IF_ERROR(look_at_tables(**workload, **program));
    report_.is_partial = Interrupt::has_come();
    return tell();
  }

 private:
  void fill_report(const Program& program, const std::vector<Target>& targets) {
    report_.workload = settings.name;
    report_.scale_field = settings.scale_field();
    report_.scale = settings.options.scale;
    report_.seed = settings.options.seed;
    report_.options.clients = clients;
    report_.options.duration_seconds = duration;
    if (transactions > 0) report_.options.transactions = transactions;
    if (rate > 0) report_.options.rate = rate;
    report_.audits = audit;
    if (isolation != "default") {
      report_.options.isolation = isolation;
      std::ranges::replace(report_.options.isolation, '-', ' ');
    }
    report_.options.is_interrupted = Interrupt::has_come;
    for (const ir::Procedure& procedure : program.procedures) report_.procedures.push_back(procedure.name);
    for (const Target& target : targets) report_.targets.emplace_back().target = target;
  }

  Result<void> look_at(size_t index, const Workload& workload, const Program& program) {
    TargetReport& report = report_.targets[index];
    Result<TargetDatabase> database = TargetDatabase::open(report.target, workload, program);
    if (!database) return database.error();
    report.server = database->connection().describe();
    const auto read = database->settings();
    if (!read) return read.error();
    report.settings = *read;
    for (const auto& [name, value] : report.settings) {
      if (value == "off" && (name == "fsync" || name == "synchronous_commit")) {
        output.notice(
            fmt::format("{} has {} off: a crash can lose what it acknowledges", report.target.shown, name));
      }
    }
    if (report.server.is_local) {
      output.notice(fmt::format("{} is on this machine: the server and {} share {}", report.target.shown,
                                counted(clients, "client"),
                                counted(std::max(1u, std::thread::hardware_concurrency()), "core")));
    }
    const Result<std::vector<std::string>> present = database->present();
    if (!present) return present.error();
    if (no_load) return check_present(report.target, *present, program);
    if (present->empty() || reload) return {};
    return failed(
        "{} holds {} already, and nothing was changed: --no-load measures with what is there, --reload drops "
        "it "
        "and loads anew, or name another database",
        report.target.shown, fmt::join(*present, ", "));
  }

  static Result<void> check_present(const Target& target, const std::vector<std::string>& present,
                                    const Program& program) {
    std::vector<std::string> missing;
    const auto look_for = [&](const std::string& name) {
      if (std::ranges::find(present, name) == present.end()) missing.push_back(name);
    };
    for (const TableDefinition& table : program.catalog.tables()) look_for(table.name);
    for (const ir::Procedure& procedure : program.procedures) look_for(procedure.name);
    if (missing.empty()) return {};
    return failed("{} lacks {}, which --no-load takes to be there: leave --no-load out, and they are made",
                  target.shown, fmt::join(missing, ", "));
  }

  Result<void> load_target(TargetReport& report, const Workload& workload, const Program& program) const {
    Result<TargetDatabase> database = TargetDatabase::open(report.target, workload, program);
    if (!database) return database.error();
    const uint64_t begin_ns = monotonic_ns();
    if (reload) RETURN_IF_ERROR(database->drop());
    Progress progress(output.quiet());
    progress.stage("load", report.target.shown, workload.part_count(), "parts");
    RETURN_IF_ERROR(database->create([&](uint32_t done) { progress.update({.done = done}); }));
    report.load_seconds = seconds_since(begin_ns);
    return {};
  }

  Result<void> run_round(size_t index, uint32_t round, const Workload& workload, const Program& program) {
    TargetReport& target = report_.targets[index];
    if (reload || (round == 0 && !no_load)) RETURN_IF_ERROR(load_target(target, workload, program));
    if (Interrupt::has_come()) return {};
    Progress progress(output.quiet());
    BenchOptions options = report_.options;
    progress.stage("bench", target.target.shown, transactions, "transactions");
    options.progress = [&](const RunProgress& now) {
      Progress::Pace pace{.per_second = now.per_second};
      if (now.seconds_total) pace.seconds_left = std::max(0.0, *now.seconds_total - now.seconds);
      progress.update({.done = now.committed, .pace = pace});
    };
    Result<RoundReport> measured = drive_target(workload, program, target.target, round, options);
    if (!measured) return measured.error();
    target.rounds.push_back(*std::move(measured));
    return {};
  }

  void add_book(TargetReport& target, const Workload& workload, const Program& program) const {
    if (target.rounds.empty()) return;
    const RoundReport all = target.all_rounds();
    target.book = by_the_book(workload, program, all.procedures, all.seconds, settings.options.scale,
                              /*terminals=*/0);
    if (audit) add_choices(*target.book, workload, clients, /*incarnation=*/0);
  }

  Result<void> look_at_tables(const Workload& workload, const Program& program) {
    if (final_tables == "off") return {};
    std::vector<TargetDatabase> databases;
    for (TargetReport& target : report_.targets) {
      if (Interrupt::has_come()) return {};
      Result<TargetDatabase> database = TargetDatabase::open(target.target, workload, program);
      if (!database) return database.error();
      databases.push_back(*std::move(database));
      if (report_.compares_tables) {
        Result<std::vector<TableState>> states = databases.back().states();
        if (!states) return states.error();
        target.tables = *std::move(states);
        continue;
      }
      // What the calls before this bench have added is not known.
      std::optional<int128> conserved;
      if (!no_load) conserved = reload ? target.rounds.back().conserved : target.all_rounds().conserved;
      Result<std::vector<Check>> checks = databases.back().check(conserved);
      if (!checks) return checks.error();
      target.checks = *std::move(checks);
    }
    if (!report_.compares_tables || Interrupt::has_come()) return {};
    for (size_t i = 1; i < databases.size(); ++i) RETURN_IF_ERROR(compare(databases, i, program.catalog));
    return {};
  }

  Result<void> compare(std::vector<TargetDatabase>& databases, size_t other, const Catalog& catalog) {
    const std::vector<TableState>& one = report_.targets[0].tables;
    const std::vector<TableState>& two = report_.targets[other].tables;
    for (size_t i = 0; i < one.size(); ++i) {
      if (one[i].digest == two[i].digest) continue;
      const TableDefinition& table = *catalog.find_table(one[i].table);
      Result<std::string> place = first_difference(databases[0], databases[other], catalog, table);
      std::string detail = place ? *place : "the place was not found, as " + place.error().message;
      if (one[i].digest.rows() != two[i].digest.rows()) {
        detail += fmt::format("; the first has {}, the second {}", counted(one[i].digest.rows(), "row"),
                              counted(two[i].digest.rows(), "row"));
      }
      report_.differences.push_back({table.name, other, std::move(detail)});
    }
    return {};
  }

  Result<void> tell() const {
    const bool has_rounds = std::ranges::any_of(
        report_.targets, [](const TargetReport& target) { return !target.rounds.empty(); });
    if (has_rounds) {
      output.text(report_.text());
      Json json = report_.json();
      provenance_.add_to(json, settings.options.seed);
      if (!html_file.empty()) RETURN_IF_ERROR(write_page(kBenchPage, json, html_file));
      RETURN_IF_ERROR(output.json(json));
    }
    if (report_.is_partial) {
      output.notice(has_rounds ? "interrupted: the result is what was measured until then"
                               : "interrupted before anything was measured; the tables stay as they are");
      return {};
    }
    if (!report_.differences.empty()) {
      return failed("the same calls left other rows in {} on {}: {}", report_.differences[0].table,
                    report_.targets[report_.differences[0].target].target.shown,
                    report_.differences[0].detail);
    }
    const std::vector<std::string> broken = report_.broken();
    if (!broken.empty()) {
      return failed("a condition of the workload does not hold on {} (transactions were of isolation {})",
                    broken[0], isolation);
    }
    return {};
  }

  BenchReport report_;
  Provenance provenance_;
};

}  // namespace

void add_bench_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* app = program.add_subcommand(
      "bench", "run a workload on servers that speak PostgreSQL's protocol, and compare");
  const OptionTaker take(*app);
  // Each takes one address: what follows is the workload.
  take("--target", command->target_texts)->allow_extra_args(false);
  command->settings.add_options(*app);
  take("--clients", command->clients);
  take("--duration", command->duration);
  take("--transactions", command->transactions);
  take("--warmup", command->warmup);
  take("--warmup-limit", command->warmup_limit);
  take("--rate", command->rate);
  take("--audit", command->audit);
  take("--no-load", command->no_load);
  take("--reload", command->reload);
  take("--repeat", command->repeat);
  take("--isolation", command->isolation);
  take("--final", command->final_tables);
  take("--html", command->html_file);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
