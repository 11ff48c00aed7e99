#include "experiments/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "experiments/axes.h"
#include "experiments/catalog.h"

namespace mneme {
namespace {

std::vector<std::string> powers_of_two(uint32_t last) {
  std::vector<std::string> counts;
  for (uint32_t count = 1; count < last; count *= 2) counts.push_back(std::to_string(count));
  counts.push_back(std::to_string(last));
  return counts;
}

std::vector<std::string> axis(const std::vector<std::string>& values, const ExperimentScale& scale) {
  std::vector<std::string> filled;
  for (const std::string& value : values) {
    if (is_range(value)) {
      for (const std::string& count : range_values(value, scale)) filled.push_back(count);
    } else {
      filled.push_back(filled_in(value, scale));
    }
  }
  return filled;
}

// Where each point is a run of its own, a quick look takes the outer ones alone.
std::vector<std::string> axis_of(const FigureSeries& series, const FigurePanel& panel,
                                 const ExperimentScale& scale) {
  std::vector<std::string> values = axis(series.xs.empty() ? panel.xs : series.xs, scale);
  const bool is_run_each = series.command.find("$x ") != std::string::npos || series.command.ends_with("$x");
  if (scale.quick && is_run_each && values.size() > 2) values = {values.front(), values.back()};
  return values;
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The points of all series: numbers in their order, names as they come.
std::vector<std::string> joined_axis(const PlannedPanel& panel) {
  std::vector<std::string> all;
  for (const PlannedSeries& series : panel.series) {
    for (const PlannedPoint& point : series.points) {
      if (std::ranges::find(all, point.x) == all.end()) all.push_back(point.x);
    }
  }
  if (std::ranges::all_of(all, [](const std::string& x) { return number_of(x).has_value(); })) {
    std::ranges::sort(all, {}, [](const std::string& x) { return *number_of(x); });
  }
  return all;
}

void add_database(Plan& plan, const std::string& command, const ExperimentScale& scale) {
  const std::optional<std::string> name = database_of(command);
  if (!name || std::ranges::find(plan.databases, *name, &PlannedDatabase::name) != plan.databases.end())
    return;
  plan.databases.push_back({*name, filled_in(database_command(*name), scale)});
}

void add_once(std::vector<std::string>& commands, const std::string& command) {
  if (command.empty() || std::ranges::find(commands, command) != commands.end()) return;
  commands.push_back(command);
}

PlannedSeries plan_series(const FigureSeries& series, const FigurePanel& panel,
                          const ExperimentScale& scale) {
  PlannedSeries planned{series.name, series.simulated, {}};
  const std::vector<std::string> xs = axis_of(series, panel, scale);
  const std::string all = fmt::format("{}", fmt::join(xs, ","));
  for (size_t i = 0; i < xs.size(); ++i) {
    const auto fill = [&](const std::string& text) {
      std::string filled = replaced(replaced(text, "$xs", all), "$index", std::to_string(i));
      return filled_in(replaced(std::move(filled), "$x", xs[i]), scale);
    };
    const std::string& command = panel.commands.empty() ? series.command : panel.commands[i];
    planned.points.push_back({xs[i], fill(command), fill(series.against), fill(series.value)});
  }
  return planned;
}

PlannedPanel plan_panel(const FigurePanel& panel, const ExperimentScale& scale) {
  PlannedPanel planned{&panel, {}, {}};
  for (const FigureSeries& series : panel.series) {
    planned.series.push_back(plan_series(series, panel, scale));
  }
  planned.xs = joined_axis(planned);
  return planned;
}

std::string option_of(const std::vector<std::string>& words, std::string_view option) {
  const auto found = std::ranges::find(words, option);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string filled_in(std::string_view command, const ExperimentScale& scale) {
  std::string text(command);
  text = replaced(std::move(text), "$cores", std::to_string(scale.cores));
  text = replaced(std::move(text), "$seconds", scale.quick ? "0.05" : "0.7");
  text = replaced(std::move(text), "$long", scale.quick ? "2" : "9");
  text = replaced(std::move(text), "$short", scale.quick ? "0.1" : "0.3");
  text = replaced(std::move(text), "$every", scale.quick ? "0.5" : "3");
  text = replaced(std::move(text), "$calls", scale.quick ? "3000" : "100000");
  return replaced(std::move(text), "$W", scale.quick ? "1" : "2");
}

std::optional<std::string> database_of(std::string_view command) {
  for (const std::string& word : words_of(command)) {
    if (word.starts_with('@')) return word.substr(1);
  }
  return std::nullopt;
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

bool is_range(std::string_view value) {
  return value == "1..cores" || value == "1..4cores";
}

std::vector<std::string> range_values(std::string_view range, const ExperimentScale& scale) {
  return powers_of_two(range == "1..cores" ? scale.cores : 4 * scale.cores);
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

double Plan::expected_seconds() const {
  double seconds = 0;
  for (const std::string& command : commands)
    seconds += (rounds + warmup_rounds) * mneme::expected_seconds(command);
  for (const PlannedDatabase& database : databases) seconds += mneme::expected_seconds(database.command);
  return seconds;
}

Plan plan_of(const Figure& figure, const ExperimentScale& scale) {
  Plan plan;
  plan.figure = &figure;
  plan.scale = scale;
  if (!scale.quick) plan.warmup_rounds = figure.warmup_rounds;
  for (const FigurePanel& panel : figure.panels) {
    PlannedPanel planned =
        panel.x_axis.empty() ? plan_panel(panel, scale) : plan_of_axes(figure, panel, scale);
    for (const PlannedSeries& series : planned.series) {
      for (const PlannedPoint& point : series.points) {
        add_once(plan.commands, point.command);
        add_once(plan.commands, point.against);
        add_database(plan, point.command, scale);
      }
    }
    plan.panels.push_back(std::move(planned));
  }
  return plan;
}

}  // namespace mneme
