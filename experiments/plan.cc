#include "experiments/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/check.h"
#include "base/words.h"
#include "measurement/result/value.h"

namespace mneme {
namespace {

// Where each value is a run of its own and the file has no quick ones, a quick look takes the outer ones of a
// scale. A timeline has one point.
std::vector<AxisValue> x_values(const Figure& figure, const FigureSeries& series, const std::string& x_axis,
                                const ExperimentScale& scale) {
  const FigureAxis* const axis = find_axis(figure, x_axis);
  if (axis == nullptr) return {{"run", "run"}};
  std::vector<AxisValue> values = values_of(*axis, scale);
  const std::vector<std::string> names = names_in(series.command);
  const bool is_run_each = std::ranges::find(names, axis->name) != names.end();
  if (scale.quick && axis->quick.empty() && !axis->has_names && is_run_each && values.size() > 2)
    values = {values.front(), values.back()};
  return values;
}

// Commands that draw at random draw other calls each round, unless they name a seed themselves or the figure
// has none.
std::string command_text(const std::string& filled, bool has_seeds) {
  std::string all;
  for (const PlannedStep& step : steps_of(filled)) {
    const std::vector<std::string> words = words_of(step.command);
    const bool draws = !words.empty() && (words[0] == "run" || words[0] == "crash" || words[0] == "bench");
    const bool names_one =
        std::ranges::any_of(words, [](const std::string& word) { return word.starts_with("--seed"); });
    all += fmt::format("{}{}{}{}{}", all.empty() ? "" : "\n", step.name, step.name.empty() ? "" : ": ",
                       fmt::join(words, " "), has_seeds && draws && !names_one ? " --seed {seed}" : "");
  }
  return all;
}

// The points of all series: as they come or, where series have axes of their own, numbers in their order.
std::vector<std::string> joined_axis(const PlannedPanel& panel) {
  std::vector<std::string> all;
  for (const PlannedSeries& series : panel.series) {
    for (const PlannedPoint& point : series.points) {
      if (std::ranges::find(all, point.x) == all.end()) all.push_back(point.x);
    }
  }
  const bool has_several = std::ranges::any_of(
      panel.definition->series, [](const FigureSeries& series) { return !series.x_axis.empty(); });
  if (has_several && std::ranges::all_of(all, [](const std::string& x) { return number_in(x).has_value(); }))
    std::ranges::sort(all, {}, [](const std::string& x) { return *number_in(x); });
  return all;
}

void add_once(std::vector<std::string>& commands, const std::string& command) {
  if (command.empty() || std::ranges::find(commands, command) != commands.end()) return;
  commands.push_back(command);
}

void add_databases(Plan& plan, const std::string& command) {
  for (const std::string& name : database_names_in(command)) {
    const auto declared = std::ranges::find(plan.figure->databases, name, &FigureDatabase::name);
    if (declared == plan.figure->databases.end()) continue;
    if (std::ranges::find(plan.databases, name, &PlannedDatabase::name) != plan.databases.end()) continue;
    const std::string filled = with_names(declared->command, fixed_texts(*plan.figure, {}, plan.scale));
    plan.databases.push_back({name, command_text(filled, false)});
  }
}

std::string option_of(const std::vector<std::string>& words, std::string_view option) {
  const auto found = std::ranges::find(words, option);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

}  // namespace

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::vector<std::string> database_names_in(std::string_view command) {
  std::vector<std::string> names;
  for (const std::string& word : words_of(command)) {
    if (word.starts_with('@')) add_once(names, word.substr(1));
  }
  return names;
}

std::vector<PlannedStep> steps_of(std::string_view command) {
  if (command.find('\n') == command.npos) return {{"", std::string(command)}};
  std::vector<PlannedStep> steps;
  while (!command.empty()) {
    const size_t end = std::min(command.find('\n'), command.size());
    const std::string_view line = command.substr(0, end);
    const size_t colon = line.find(": ");
    CHECK(colon != line.npos);
    steps.push_back({std::string(line.substr(0, colon)), std::string(line.substr(colon + 2))});
    command.remove_prefix(std::min(end + 1, command.size()));
  }
  return steps;
}

std::string typed_text(std::string_view command) {
  std::string text;
  for (const PlannedStep& step : steps_of(command)) {
    text += fmt::format("{}mneme {}", text.empty() ? "" : "; ", step.command);
  }
  return text;
}

std::vector<std::string> typed_commands(const Plan& plan) {
  std::vector<std::string> commands;
  for (const PlannedDatabase& database : plan.databases)
    commands.push_back(fmt::format("{} --data-dir @{}", typed_text(database.command), database.name));
  for (const std::string& command : plan.commands) commands.push_back(typed_text(command));
  return commands;
}

double expected_seconds(std::string_view command) {
  if (command.find('\n') != command.npos) {
    double seconds = 0;
    for (const PlannedStep& step : steps_of(command)) seconds += expected_seconds(step.command);
    return seconds;
  }
  const std::vector<std::string> words = words_of(command);
  const auto seconds_of = [&](std::string_view option, double missing) {
    const std::string text = option_of(words, option);
    return text.empty() ? missing : std::strtod(text.c_str(), nullptr);
  };
  if (words.empty()) return 0;
  if (words[0] == "slice") return 0.05;
  if (words[0] == "logbench") return seconds_of("--duration", 1) + 0.1;
  // A simulated replay follows two real ones.
  if (words[0] == "recover") return option_of(words, "--simulate-cores").empty() ? 1.2 : 3;
  const bool is_large = words.size() > 1 && (words[1] == "tpcc" || words[1] == "ycsb");
  return seconds_of("--duration", seconds_of("--transactions", 0) / 50000) + seconds_of("--warmup", 0) +
         (is_large ? 1.7 : 1);
}

std::vector<PlannedDatabase> Plan::databases_of(std::string_view command) const {
  std::vector<PlannedDatabase> found;
  for (const std::string& name : database_names_in(command)) {
    const auto database = std::ranges::find(databases, name, &PlannedDatabase::name);
    if (database != databases.end()) found.push_back(*database);
  }
  return found;
}

double Plan::expected_seconds() const {
  double seconds = 0;
  for (const std::string& command : commands)
    seconds += (rounds + warmup_rounds) * mneme::expected_seconds(command);
  for (const PlannedDatabase& database : databases) seconds += mneme::expected_seconds(database.command);
  return seconds;
}

PlannedPanel plan_of(const Figure& figure, const FigurePanel& panel, const ExperimentScale& scale) {
  PlannedPanel planned{&panel, {}, {}};
  const std::string file = figure.file.empty() ? figure.name + ".toml" : figure.file;
  const AxisTexts fixed = fixed_texts(figure, panel.where, scale);
  const FigureAxis* const series_axis = find_axis(figure, panel.series_axis);
  // Without an axis of series there is one turn.
  const std::vector<AxisValue> turns =
      series_axis == nullptr ? std::vector<AxisValue>(1) : values_of(*series_axis, scale);
  for (size_t turn = 0; turn < turns.size(); ++turn) {
    for (const FigureSeries& series : panel.series) {
      PlannedSeries line{series.name, series.simulated, {}};
      if (series_axis != nullptr && panel.series.size() == 1) {
        line.name = turns[turn].label;
      } else if (series_axis != nullptr) {
        line.name = fmt::format("{}, {}", turns[turn].label, series.name);
      }
      const std::string& x_axis = series.x_axis.empty() ? panel.x_axis : series.x_axis;
      const std::vector<AxisValue> xs = x_values(figure, series, x_axis, scale);
      for (size_t i = 0; i < xs.size(); ++i) {
        AxisTexts texts = fixed;
        if (series_axis != nullptr) add_texts(texts, series_axis->name, turns, turn);
        if (!x_axis.empty()) add_texts(texts, x_axis, xs, i);
        const auto command_of = [&](const std::string& text) {
          return command_text(with_names(text, texts), figure.seed.has_value());
        };
        line.points.push_back(
            {xs[i].label, command_of(series.command),
             series.against.empty() ? "" : command_of(series.against), with_names(series.value, texts),
             place_text(file, series.place),
             series.command_places.empty() ? "" : place_text(file, series.command_places.front())});
      }
      planned.series.push_back(std::move(line));
    }
  }
  planned.xs = joined_axis(planned);
  return planned;
}

Plan plan_of(const Figure& figure, const ExperimentScale& scale) {
  Plan plan;
  plan.figure = &figure;
  plan.scale = scale;
  if (!scale.quick) plan.warmup_rounds = figure.warmup_rounds;
  for (const FigurePanel& panel : figure.panels) {
    PlannedPanel planned = plan_of(figure, panel, scale);
    for (const PlannedSeries& series : planned.series) {
      for (const PlannedPoint& point : series.points) {
        for (const std::string& command : {point.command, point.against}) {
          add_once(plan.commands, command);
          add_databases(plan, command);
        }
      }
    }
    plan.panels.push_back(std::move(planned));
  }
  return plan;
}

}  // namespace mneme
