// mneme experiment: a paper's figure or table, measured here, beside what the paper has; a report of all that
// was measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/command/commands.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/output/experiment_text.h"
#include "cli/output/interrupt.h"
#include "cli/output/output.h"
#include "cli/output/parse_error_text.h"
#include "cli/output/progress.h"
#include "cli/output/provenance.h"
#include "cli/output/text.h"
#include "experiments/catalog.h"
#include "experiments/evaluation.h"
#include "experiments/figure_file.h"
#include "experiments/report.h"
#include "experiments/runner.h"
#include "measurement/machine/build.h"
#include "measurement/machine/host.h"

namespace mneme {
namespace {

// What the program would say of such a command line; nothing where it would take it.
std::string wrong_with_command_line(const std::vector<std::string>& words) {
  CLI::App program("", "mneme");
  program.require_subcommand(1);
  Action ignored;
  add_commands(program, ignored);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    program.parse(reversed);
  } catch (const CLI::ParseError& error) {
    const std::string text = parse_error_text(program, error);
    return text.substr(0, text.find("\nRun `"));
  }
  return "";
}

struct ExperimentCommand {
  std::vector<std::string> names;
  std::string output_folder = "./experiments-results";
  std::string report_file;
  uint32_t runs = 3;
  bool all = false;
  bool quick = false;
  bool fresh = false;
  Output output;
  Provenance provenance;

  Result<void> run(const CLI::App& command) const {
    const bool lists = !names.empty() && names[0] == "list";
    const bool shows = !names.empty() && names[0] == "show";
    const bool reports = names == std::vector<std::string>{"report"};
    if (all && !names.empty())
      return invalid_argument("--all takes a tour of its own: leave {} out", fmt::join(names, " "));
    if (!all && names.empty()) {
      return invalid_argument("say which figure, or list, report or --all; mneme experiment list shows them");
    }
    if (lists || reports || shows) {
      std::vector<const char*> needless = {"--fresh"};
      if (!reports) needless.insert(needless.end(), {"--output", "--report"});
      if (!lists) needless.insert(needless.end(), {"--quick", "--runs"});
      for (const char* option : needless) {
        if (command.count(option) > 0) {
          return invalid_argument("{} is for measuring, and {} measures nothing: leave it out", option,
                                  names[0]);
        }
      }
    }
    if (!report_file.empty() && !has_report()) return failed("{}", kNoReport);
    if (shows) return show();
    if (reports) return report_again();
    // Figures of files, which others point to: they don't move.
    std::deque<Figure> of_files;
    const Result<std::vector<const Figure*>> figures = wanted_figures(of_files, lists);
    if (!figures) return figures.error();
    if (lists) return list(*figures);
    for (const Figure* const figure : *figures) {
      if (figure->panels.empty())
        return invalid_argument("{} can't be measured here. {}", figure->name, figure->not_here);
    }
    return measure(*figures, command.count("--runs") > 0);
  }

 private:
  ExperimentScale scale() const { return {std::max(1u, std::thread::hardware_concurrency()), quick}; }

  // Those that are named, behind the word "list" where `lists` says so; it alone stands for all.
  Result<std::vector<const Figure*>> wanted_figures(std::deque<Figure>& of_files, bool lists) const {
    std::vector<const Figure*> figures;
    for (const Figure& figure : all_figures()) {
      if ((all && figure.in_tour) || (lists && names.size() == 1)) figures.push_back(&figure);
    }
    for (size_t i = lists; i < names.size(); ++i) {
      const std::string& name = names[i];
      if (is_figure_file(name)) {
        Result<Figure> figure = read_figure_file(name, scale(), wrong_with_command_line);
        if (!figure) return figure.error();
        if (std::ranges::find(of_files, figure->name, &Figure::name) != of_files.end()) {
          return invalid_argument("two files are called {}: their results would take each other's place",
                                  figure->name);
        }
        of_files.push_back(std::move(*figure));
      }
      const Figure* const figure = is_figure_file(name) ? &of_files.back() : find_figure(name);
      if (figure == nullptr) {
        return invalid_argument(
            "there is no experiment {}: mneme experiment list shows all that there are; the name of a file "
            "with "
            "one of your own ends with .toml",
            name);
      }
      figures.push_back(figure);
    }
    return figures;
  }

  Result<void> list(const std::vector<const Figure*>& figures) const {
    std::vector<Plan> plans;
    for (const Figure* const figure : figures) {
      plans.push_back(plan_of(*figure, scale()));
      plans.back().rounds = runs;
    }
    output.text(experiment_list(plans, names.size() > 1));
    Json listed = Json::array();
    for (const Plan& plan : plans) {
      const Figure& figure = *plan.figure;
      listed.push_back({{"name", figure.name},
                        {"paper", figure.paper},
                        {"title", figure.title},
                        {"in_tour", figure.in_tour},
                        {"expected_seconds", plan.expected_seconds()},
                        {"commands", typed_commands(plan)},
                        {"not_here", figure.not_here.empty() ? Json() : Json(figure.not_here)}});
    }
    return output.json({{"command", "experiment"}, {"figures", listed}});
  }

  Result<void> show() const {
    const auto file =
        names.size() == 2 ? std::ranges::find(kFigureFiles, names[1], &FigureFile::name) : kFigureFiles.end();
    if (file == kFigureFiles.end()) {
      return invalid_argument(
          "show prints the file of one of the figures that mneme experiment list shows: mneme experiment "
          "show "
          "pacman-figure-16");
    }
    output.text(std::string(file->text));
    return output.json({{"command", "experiment"}, {"name", names[1]}, {"declaration", file->text}});
  }

  std::string report_path(const ResultStore& store) const {
    return report_file.empty() ? store.report().string() : report_file;
  }

  Result<void> write_report(const ResultStore& store) const {
    const std::string path = report_path(store);
    const Result<bool> written = write_report_file(store, path);
    if (!written) return written.error();
    if (*written) {
      output.text(fmt::format("report: {}\n", path));
    } else {
      output.notice(kNoReport);
    }
    return {};
  }

  Result<void> report_again() const {
    if (!has_report()) return failed("{}", kNoReport);
    if (!std::filesystem::is_directory(output_folder)) {
      return invalid_argument("there is no folder {}: --output names the one that holds the results",
                              output_folder);
    }
    const Result<ResultStore> store = ResultStore::open(output_folder);
    if (!store) return store.error();
    const Result<Json> figures = store->read_figures();
    if (!figures) return figures.error();
    if (figures->empty()) {
      return invalid_argument("{} holds no figures yet: mneme experiment NAME or --all measures some",
                              output_folder);
    }
    RETURN_IF_ERROR(write_report(*store));
    return output.json(
        {{"command", "experiment"}, {"report", report_path(*store)}, {"figures", figures->size()}});
  }

  Result<void> measure(const std::vector<const Figure*>& figures, bool runs_are_given) const {
    Result<ResultStore> store = ResultStore::open(output_folder);
    if (!store) return store.error();
    Json environment = json_of(examine_host());
    environment["compiler"] = this_build().compiler;
    environment["program"] = program_digest();
    Progress progress(output.quiet());
    const Interrupt interrupt;
    ExperimentRunner::Options options{
        .scale = scale(), .fresh = fresh, .program = program_digest(), .is_interrupted = Interrupt::has_come};
    bool in_stage = false;
    options.progress = [&progress, &in_stage](const ExperimentProgress& now) {
      if (!in_stage) progress.stage("experiment", "", now.total, "runs");
      in_stage = true;
      progress.update({.done = now.done, .pace = Progress::Pace{0, now.seconds_left}, .text = now.doing});
    };
    ExperimentRunner runner(*store, options);
    std::vector<Plan> plans;
    for (const Figure* const figure : figures) {
      plans.push_back(plan_of(*figure, scale()));
      plans.back().rounds = runs_are_given ? runs : figure->repeats;
    }
    RETURN_IF_ERROR(runner.announce(plans));
    if (quick) output.notice("--quick is to see that all works: its figures are not to be believed");
    Json results = Json::array();
    // A figure that can't be measured is reported, and the others are measured all the same.
    std::vector<std::string> failures;
    bool partial = false;
    for (const Plan& plan : plans) {
      Result<Json> figure = measure_one(runner, plan, environment);
      progress.finish();
      in_stage = false;
      if (!figure.ok() && figure.error().kind == ErrorKind::kDamaged) return figure.error();
      if (!figure.ok()) {
        if (plans.size() == 1) return figure.error();
        failures.push_back(plan.figure->name);
        output.notice(fmt::format("{} was not measured: {}", plan.figure->name, figure.error().message));
        continue;
      }
      partial = partial || (*figure)["partial"].get<bool>();
      // A figure of which there is nothing yet doesn't take the place of what an earlier command came to.
      if ((*figure)["measured"] == 0) continue;
      RETURN_IF_ERROR(store->write_figure(plan.figure->name, "json", figure->dump(1) + "\n"));
      RETURN_IF_ERROR(store->write_figure(plan.figure->name, "csv", csv_of(*figure)));
      output.text(experiment_text(*figure));
      results.push_back(std::move(*figure));
    }
    if (partial) output.notice("the experiment was interrupted: the same command goes on from here");
    if (runner.reused() > 0) {
      output.notice(fmt::format("{} of {} were there already; --fresh measures them again",
                                counted(runner.reused(), "measurement"), output_folder));
    }
    if (runner.of_other_builds() > 0) {
      output.notice(
          fmt::format("{} of them another build of the program took", thousands(runner.of_other_builds())));
    }
    RETURN_IF_ERROR(write_report(*store));
    Json json = {{"command", "experiment"},
                 {"report", has_report() ? Json(report_path(*store)) : Json()},
                 {"environment", environment},
                 {"runs", runs},
                 {"quick", quick},
                 {"partial", partial},
                 {"output", output_folder},
                 {"not_measured", failures},
                 {"figures", results}};
    provenance.add_to(json);
    RETURN_IF_ERROR(output.json(json));
    if (failures.empty()) return {};
    return failed("{} of {} were not measured: {}; the same command tries them again", failures.size(),
                  counted(plans.size(), "figure"), fmt::join(failures, ", "));
  }

  Result<Json> measure_one(ExperimentRunner& runner, const Plan& plan, const Json& environment) const {
    const Result<Measurements> measured = runner.run(plan);
    if (!measured) return measured.error();
    Result<Json> figure = evaluate(plan, *measured);
    if (!figure) return figure.error();
    (*figure)["quick"] = quick;
    (*figure)["rounds"] = plan.rounds;
    (*figure)["measured_at"] = utc_text(date());
    (*figure)["environment"] = environment;
    (*figure)["load_average"] = mean_load(*measured);
    provenance.add_to((*figure)["provenance"]);
    return figure;
  }

  // The machine's load in the minute before each measurement.
  static double mean_load(const Measurements& measured) {
    double sum = 0;
    size_t count = 0;
    for (const auto& [command, rounds] : measured) {
      for (const Json& each : rounds) {
        sum += each.value("load_average", 0.0);
        ++count;
      }
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }
};

}  // namespace

void add_experiment_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<ExperimentCommand>();
  CLI::App* app = program.add_subcommand(
      "experiment", "measure a paper's figures and tables here, beside the paper's numbers");
  const OptionTaker take(*app);
  take("name", command->names);
  take("--all", command->all);
  take("--quick", command->quick);
  take("--runs", command->runs);
  take("--output", command->output_folder);
  take("--fresh", command->fresh);
  take("--report", command->report_file);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
