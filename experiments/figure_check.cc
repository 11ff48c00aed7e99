#include "experiments/figure_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/words.h"
#include "experiments/plan.h"

namespace mneme {
namespace {

using Words = std::vector<std::string>;
using Names = std::set<std::string>;

// Those that end by themselves and report JSON.
const Words kCommands = {"run", "recover", "verify", "crash", "logbench", "slice", "bench"};

bool has_several(const FigureAxis& axis) {
  return axis.values.size() > 1 || axis.quick.size() > 1 ||
         (axis.values.size() == 1 && is_range(axis.values[0].text));
}

// The axes that texts depend on, also by way of the values of others.
Names axes_of(const Figure& figure, const Words& texts) {
  Words waiting;
  for (const std::string& text : texts) {
    for (const std::string& name : names_in(text)) waiting.push_back(axis_in(name));
  }
  Names found;
  while (!waiting.empty()) {
    const std::string name = waiting.back();
    waiting.pop_back();
    const FigureAxis* const axis = find_axis(figure, name);
    if (axis == nullptr || !found.insert(name).second) continue;
    for (const auto* const values : {&axis->values, &axis->quick}) {
      for (const AxisValue& value : *values) {
        for (const std::string& inner : names_in(value.text)) waiting.push_back(axis_in(inner));
      }
    }
  }
  return found;
}

// An axis of one value gives the point its name, and need not stand in a command.
void check_drawn_by(TomlReader& in, const Figure& figure, FilePlace place, const std::string& axis,
                    const Names& used) {
  if (axis.empty() || used.contains(axis) || !has_several(*find_axis(figure, axis))) return;
  in.problem(place, fmt::format("the plot is drawn by {}, which stands in none of its commands: "
                                "put {{{}}} where its value belongs",
                                axis, axis));
}

void check_plot(TomlReader& in, const Figure& figure, const FigurePanel& panel, Names& used) {
  Names by_any;
  for (const FigureSeries& series : panel.series) {
    const Names its = axes_of(figure, {series.command, series.against, series.value});
    check_drawn_by(in, figure, series.place, series.x_axis, its);
    for (const std::string& name : its) {
      const bool settled = name == (series.x_axis.empty() ? panel.x_axis : series.x_axis) ||
                           name == panel.series_axis || panel.where.contains(name);
      if (settled || !has_several(*find_axis(figure, name))) continue;
      in.problem(
          panel.place,
          fmt::format("{} has several values, and the plot leaves open which one: make it x or series, "
                      "or choose one by where = {{ {} = ... }}",
                      name, name));
    }
    by_any.insert(its.begin(), its.end());
    if (!series.x_axis.empty()) used.insert(series.x_axis);
  }
  const bool all_have_own = std::ranges::none_of(panel.series, &std::string::empty, &FigureSeries::x_axis);
  if (panel.series.empty()) return;
  if (!all_have_own) check_drawn_by(in, figure, panel.place, panel.x_axis, by_any);
  check_drawn_by(in, figure, panel.place, panel.series_axis, by_any);
  used.insert(by_any.begin(), by_any.end());
  used.insert({panel.x_axis, panel.series_axis});
}

std::string wrong_with(const Figure& figure, Words words, const CommandLineCheck& check) {
  if (words.empty()) return "a command is empty";
  if (words[0] == "mneme") return "leave mneme out: commands begin with run, recover and so on";
  if (!is_among(kCommands, words[0]))
    return fmt::format("{} can't be a part of an experiment{}", words[0],
                       TomlReader::advice(words[0], kCommands));
  Words databases;
  for (const FigureDatabase& database : figure.databases) databases.push_back(database.name);
  for (std::string& word : words) {
    if (word.starts_with("--json") || word == "--quiet")
      return fmt::format("leave {} out: the experiment gives it itself", word);
    if (word.starts_with('@') && !is_among(databases, word.substr(1))) {
      return databases.empty()
                 ? fmt::format("{} stands for a database, and the file has no [databases]", word)
                 : fmt::format("{} is none of [databases]{}", word,
                               TomlReader::advice(word.substr(1), databases));
    }
    if (word.find('$') != word.npos) return "a word has a $: names of axes stand in braces, {threads}";
    const std::string server(kServerName), servers(kServersName);
    word = with_names(word, {{std::string(kSeedName), "1"},
                             {std::string(kDirectoryName), "dir"},
                             {server, "127.0.0.1:1"},
                             {servers, "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"}});
  }
  return check ? check(words) : "";
}

void check_command(TomlReader& in, const Figure& figure, const std::string& command,
                   const std::vector<FilePlace>& places, const CommandLineCheck& check) {
  const std::vector<PlannedStep> steps = steps_of(command);
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string wrong = wrong_with(figure, words_of(steps[i].command), check);
    if (wrong.empty()) continue;
    in.problem(places[std::min(i, places.size() - 1)], fmt::format("\"{}\": {}", steps[i].command, wrong));
  }
}

void check_databases(TomlReader& in, const Plan& plan, const CommandLineCheck& check) {
  for (const FigureDatabase& database : plan.figure->databases) {
    const auto planned = std::ranges::find(plan.databases, database.name, &PlannedDatabase::name);
    if (planned == plan.databases.end()) {
      // A quick look may leave some out.
      if (!plan.scale.quick && !in.has_problems()) {
        in.problem(database.place,
                   fmt::format("the database {} is not used: put @{} into a command that recovers "
                               "it, or remove it",
                               database.name, database.name));
      }
      continue;
    }
    check_command(in, *plan.figure, planned->command, {database.place}, check);
  }
}

}  // namespace

Words own_names() {
  return {std::string(kCoresName), std::string(kSeedName), std::string(kDirectoryName),
          std::string(kServerName), std::string(kServersName)};
}

void check_uses(TomlReader& in, const Figure& figure) {
  Names used;
  for (const FigureDatabase& database : figure.databases) {
    for (const std::string& name : axes_of(figure, {database.command})) {
      used.insert(name);
      if (!has_several(*find_axis(figure, name))) continue;
      in.problem(database.place, fmt::format("{} has several values, and a database is made once", name));
    }
  }
  for (const FigurePanel& panel : figure.panels) {
    check_plot(in, figure, panel, used);
  }
  // What a plot without series would have used isn't known; its own problem has been reported.
  if (std::ranges::any_of(figure.panels, [](const FigurePanel& panel) { return panel.series.empty(); }))
    return;
  for (const FigureAxis& axis : figure.axes) {
    if (used.contains(axis.name)) continue;
    in.problem(axis.place,
               fmt::format("the axis {} is not used: put {{{}}} into a command where its value belongs, or "
                           "remove it",
                           axis.name, axis.name));
  }
}

void check_plans(TomlReader& in, const Figure& figure, const ExperimentScale& scale,
                 const CommandLineCheck& check) {
  for (const bool quick : {false, true}) {
    const Plan plan = plan_of(figure, {scale.cores, quick});
    for (const PlannedPanel& panel : plan.panels) {
      Words names;
      for (size_t i = 0; i < panel.series.size(); ++i) {
        names.push_back(panel.series[i].name);
        const FigureSeries& series = panel.definition->series[i % panel.definition->series.size()];
        for (const PlannedPoint& point : panel.series[i].points) {
          check_command(in, figure, point.command, series.command_places, check);
          if (!point.against.empty()) check_command(in, figure, point.against, series.command_places, check);
        }
      }
      for (const PaperValue& value : panel.definition->paper) {
        if (quick || is_among(names, value.series)) continue;
        in.problem(
            panel.definition->place,
            fmt::format("the plot {} has no series \"{}\", of which paper_values has a number{}",
                        panel.definition->name, value.series, TomlReader::advice(value.series, names)));
      }
    }
    check_databases(in, plan, check);
  }
}

}  // namespace mneme
