// mneme acid tpcc: TPC-C's clause 3 on this engine behind its server, or on any other that speaks
// PostgreSQL's protocol: atomicity, consistency, isolation and durability, clause by clause.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>

#include "cli/acid/atomicity_tests.h"
#include "cli/acid/crashable_server.h"
#include "cli/acid/durability_tests.h"
#include "cli/acid/isolation_tests.h"
#include "cli/bench/bench_driver.h"
#include "cli/bench/target_database.h"
#include "cli/command/commands.h"
#include "cli/option/concurrency_option.h"
#include "cli/option/execution_option.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/option/workload_settings.h"
#include "cli/output/interrupt.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/provenance.h"
#include "cli/output/text.h"

namespace mneme {
namespace {

struct AcidCommand {
  WorkloadSettings settings;
  std::string directory = "./mneme-acid";
  uint32_t clients = 4;
  double duration = 10;
  uint32_t rounds = 3;
  ConcurrencyOption concurrency;
  ExecutionOption execution;
  std::string power_device = "lossy";
  std::string target_text;
  bool reload = false;
  std::string isolation = "serializable";
  std::string kill_command;
  std::string start_command;
  Output output;

  Result<void> run(const CLI::App& command) {
    if (settings.name != "tpcc") {
      return invalid_argument(
          "the clauses are those of TPC-C, and {} is another workload: say mneme acid tpcc, or check its "
          "conditions "
          "by mneme crash and mneme verify",
          settings.name);
    }
    RETURN_IF_ERROR(settings.check_options(command));
    RETURN_IF_ERROR(check_sides(command));
    const Result<std::unique_ptr<Workload>> workload = settings.make();
    if (!workload) return workload.error();
    const Result<std::unique_ptr<Program>> program = compile((*workload)->sql(), "tpcc.sql");
    if (!program) return program.error();
    workload_ = workload->get();
    program_ = program->get();
    random_.seed(settings.options.seed);
    report_.warehouses = settings.options.scale;
    if (isolation != "default") {
      report_.isolation = isolation;
      std::ranges::replace(report_.isolation, '-', ' ');
    }
    const Interrupt interrupt;
    const Result<void> tested = target_text.empty() ? test_own() : test_other();
    report_.is_partial = Interrupt::has_come();
    // Ctrl-C of a terminal reaches the server of the tests as well.
    if (!tested.ok() && !report_.is_partial) return tested;
    return tell();
  }

 private:
  Result<void> check_sides(const CLI::App& command) const {
    const bool has_target = !target_text.empty();
    for (const char* const own : {"--data-dir", "--cc", "--elr", "--execution", "--power-device"}) {
      if (has_target && command.count(own) > 0)
        return invalid_argument("{} is of the tests' own server, and --target names another: leave it out",
                                own);
    }
    for (const char* const other : {"--reload", "--kill-command", "--start-command"}) {
      if (!has_target && command.count(other) > 0)
        return invalid_argument("{} is of another server: name it by --target, or leave it out", other);
    }
    if (!has_target && isolation != "serializable" && isolation != "default") {
      return invalid_argument(
          "--isolation {}: Mneme's transactions are serializable in any case; leave it out, or name "
          "another server by --target",
          isolation);
    }
    if (has_target && kill_command.empty() && command.count("--rounds") > 0) {
      return invalid_argument(
          "--rounds is of crashes, which take --kill-command and --start-command: say both, or leave it "
          "out");
    }
    if (kill_command.empty() != start_command.empty()) {
      return invalid_argument(
          "--kill-command ends the target's server for the durability tests, and --start-command starts it "
          "again: say "
          "both, or neither");
    }
    return {};
  }

  Result<void> test_own() {
    if (std::filesystem::exists(directory) && !std::filesystem::is_empty(directory)) {
      return failed(
          "{} is there, and nothing in it was changed: remove it, or name another directory by --data-dir",
          directory);
    }
    std::vector<std::string> options = concurrency.arguments();
    for (const std::string& each : {std::string("--execution"), execution.name}) options.push_back(each);
    OwnServer server(directory + "/database", settings.options.scale, options);
    note("load");
    Result<Target> started = server.start();
    if (!started) return started.error();
    provenance_.hide(started->conninfo, started->shown);
    AcidTarget target{*std::move(started), report_.isolation};
    report_.target = "a server of its own";
    RETURN_IF_ERROR(test_all_but_durability(target));
    RETURN_IF_ERROR(crash({"3.5.3.3", "the server is killed", rounds, clients}, server, target));
    RETURN_IF_ERROR(server.crash());
    if (!Interrupt::has_come()) {
      options.insert(options.end(), {"--log-device", power_device});
      OwnServer losing(directory + "/power", settings.options.scale, options);
      note("load for the power failures");
      Result<Target> restarted = losing.start();
      if (!restarted) return restarted.error();
      target.target = *std::move(restarted);
      RETURN_IF_ERROR(crash(
          {"3.5.3.2", fmt::format("the power fails, on a disk that is {}", power_device), rounds, clients},
          losing, target));
    }
    report_.add_not_run("3.5.3.1", "a disk is lost for good",
                        "takes a log on other machines: docs/remote_log.md, docs/replicated_log.md");
    if (report_.first_failure() == nullptr && !Interrupt::has_come()) {
      std::error_code ignored;
      std::filesystem::remove_all(directory, ignored);
    } else {
      output.notice(fmt::format("the databases are left as they are: {}", directory));
    }
    return {};
  }

  Result<void> test_other() {
    Result<Target> parsed = parse_target(target_text);
    if (!parsed) return parsed.error();
    provenance_.hide(target_text, parsed->shown);
    AcidTarget target{*std::move(parsed), report_.isolation};
    report_.target = target.target.shown;
    RETURN_IF_ERROR(load(target));
    RETURN_IF_ERROR(test_all_but_durability(target));
    constexpr const char* kCrash = "the server is ended by a crash";
    if (kill_command.empty()) {
      report_.add_not_run("3.5.3.3", kCrash, "takes --kill-command and --start-command");
    } else {
      CommandServer server(target.target, kill_command, start_command);
      RETURN_IF_ERROR(crash({"3.5.3.3", kCrash, rounds, clients}, server, target));
    }
    report_.add_not_run("3.5.3.2", "the power fails", "takes a machine whose power can be cut");
    report_.add_not_run("3.5.3.1", "a disk is lost for good", "takes a disk that can be");
    return {};
  }

  Result<void> load(const AcidTarget& target) {
    Result<TargetDatabase> database = TargetDatabase::open(target.target, *workload_, *program_);
    if (!database) return database.error();
    const Result<std::vector<std::string>> present = database->present();
    if (!present) return present.error();
    if (!present->empty() && !reload) {
      return failed(
          "{} holds {} already, and nothing was changed: --reload drops it and loads anew, or name another "
          "database",
          target.target.shown, fmt::join(*present, ", "));
    }
    if (!present->empty()) RETURN_IF_ERROR(database->drop());
    Progress progress(output.quiet());
    progress.stage("load", target.target.shown, workload_->part_count(), "parts");
    return database->create([&](uint32_t done) { progress.update({.done = done}); });
  }

  Result<void> test_all_but_durability(const AcidTarget& target) {
    const Result<std::unique_ptr<TargetConnection>> connection = TargetConnection::open(target.target);
    if (!connection) return connection.error();
    report_.server = (*connection)->describe();
    RETURN_IF_ERROR(check_conditions("3.3.3.1", "the population is consistent", target));
    note("atomicity");
    if (!Interrupt::has_come()) RETURN_IF_ERROR(test_atomicity(target, random_, report_));
    note("isolation");
    if (!Interrupt::has_come()) RETURN_IF_ERROR(test_isolation(target, random_, report_));
    if (Interrupt::has_come()) return {};
    note("consistency");
    BenchOptions options;
    options.clients = clients;
    options.duration_seconds = duration;
    options.isolation = target.isolation;
    options.is_interrupted = Interrupt::has_come;
    const Result<RoundReport> driven =
        drive_target(*workload_, *program_, target.target, next_round_++, options);
    if (!driven) return driven.error();
    if (Interrupt::has_come()) return {};
    return check_conditions(
        "3.3.3.2",
        fmt::format("consistent behind {} of {}", counted(driven->total().committed, "transaction"),
                    counted(clients, "client")),
        target);
  }

  Result<void> check_conditions(std::string clause, std::string name, const AcidTarget& target) {
    const Result<AcidFinding> finding = test_consistency(*workload_, *program_, target);
    if (!finding) return finding.error();
    report_.add(std::move(clause), std::move(name), *finding);
    return {};
  }

  Result<void> crash(const DurabilityTest& test, CrashableServer& server, AcidTarget& target) {
    if (Interrupt::has_come()) return {};
    note("durability");
    const Result<std::optional<AcidFinding>> finding =
        test_durability(test, *workload_, *program_, server, target, next_round_, random_);
    next_round_ += rounds;
    if (!finding) return finding.error();
    if (*finding) {
      report_.add(test.clause, test.name, **finding);
    } else {
      report_.add_not_run(test.clause, test.name, "interrupted");
    }
    return {};
  }

  Result<void> tell() const {
    output.text(report_.text());
    Json json = report_.json();
    provenance_.add_to(json, settings.options.seed);
    RETURN_IF_ERROR(output.json(json));
    if (report_.is_partial) {
      output.notice("interrupted: the result is what was tested until then");
      return {};
    }
    const ClauseReport* const failure = report_.first_failure();
    if (failure == nullptr) return {};
    return failed("{} of the {} clauses that were tested failed on {}, the first of them {}",
                  report_.count(AcidOutcome::kFailed),
                  report_.clauses.size() - report_.count(AcidOutcome::kNotRun), report_.target,
                  failure->clause);
  }

  void note(const char* stage) {
    if (progress_ == nullptr) progress_ = std::make_unique<Progress>(output.quiet());
    progress_->say(stage);
  }

  const Workload* workload_ = nullptr;
  const Program* program_ = nullptr;
  std::mt19937_64 random_;
  uint32_t next_round_ = 0;
  AcidReport report_;
  Provenance provenance_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace

void add_acid_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<AcidCommand>();
  CLI::App* app = program.add_subcommand(
      "acid", "TPC-C's clause 3: atomicity, consistency, isolation and durability, tested clause by clause");
  const OptionTaker take(*app);
  command->settings.add_options(*app);
  take("--data-dir", command->directory);
  take("--clients", command->clients);
  take("--duration", command->duration);
  take("--rounds", command->rounds);
  command->concurrency.add_options(*app);
  command->execution.add_option(*app);
  take("--power-device", command->power_device);
  take("--target", command->target_text)->required(false)->allow_extra_args(false);
  take("--reload", command->reload);
  take("--isolation", command->isolation);
  take("--kill-command", command->kill_command);
  take("--start-command", command->start_command);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
