#include "experiments/axes.h"

#include <fmt/format.h>

#include <algorithm>

namespace mneme {
namespace {

using Texts = std::map<std::string, std::string>;

// Calls `text_part` and `name_part` for what `text` consists of, in order.
template <typename TextPart, typename NamePart>
void split_at_names(std::string_view text, TextPart&& text_part, NamePart&& name_part) {
  while (!text.empty()) {
    const size_t open = text.find('{');
    const size_t close = open == text.npos ? open : text.find('}', open);
    if (close == text.npos) break;
    text_part(text.substr(0, open));
    name_part(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  text_part(text);
}

const FigureAxis* find_axis(const Figure& figure, const std::string& name) {
  const auto found = std::ranges::find(figure.axes, name, &FigureAxis::name);
  return found == figure.axes.end() ? nullptr : &*found;
}

// The texts of all axes that have one value, at this scale or in this panel.
Texts fixed_texts(const Figure& figure, const FigurePanel& panel, const ExperimentScale& scale) {
  Texts texts = {{std::string(kCoresName), std::to_string(scale.cores)}};
  for (const FigureAxis& axis : figure.axes) {
    const std::vector<AxisValue> values = values_of(axis, scale);
    if (values.size() == 1) texts[axis.name] = values[0].text;
    const auto chosen = panel.where.find(axis.name);
    if (chosen == panel.where.end()) continue;
    // It need not be among the quick ones.
    for (const auto* const list : {&axis.values, &values}) {
      const auto value = std::ranges::find(*list, chosen->second, &AxisValue::label);
      if (value != list->end()) texts[axis.name] = value->text;
    }
  }
  return texts;
}

// Where each value is a run of its own and the file has no quick ones, a quick look takes the outer ones.
std::vector<AxisValue> x_values(const Figure& figure, const FigurePanel& panel,
                                const ExperimentScale& scale) {
  const FigureAxis& axis = *find_axis(figure, panel.x_axis);
  std::vector<AxisValue> values = values_of(axis, scale);
  const bool is_run_each = std::ranges::any_of(panel.series, [&](const FigureSeries& series) {
    const std::vector<std::string> names = names_in(series.command);
    return std::ranges::find(names, axis.name) != names.end();
  });
  if (scale.quick && axis.quick.empty() && is_run_each && values.size() > 2)
    values = {values.front(), values.back()};
  return values;
}

// Commands that draw at random draw other calls each round, unless they name a seed themselves.
std::string with_seeds(const std::string& command) {
  std::string all;
  for (const PlannedStep& step : steps_of(command)) {
    const std::vector<std::string> words = words_of(step.command);
    const bool draws = !words.empty() && (words[0] == "run" || words[0] == "crash" || words[0] == "bench");
    const bool names_one =
        std::ranges::any_of(words, [](const std::string& word) { return word.starts_with("--seed"); });
    all += fmt::format("{}{}{}{}{}", all.empty() ? "" : "\n", step.name, step.name.empty() ? "" : ": ",
                       step.command, draws && !names_one ? " --seed {seed}" : "");
  }
  return all;
}

}  // namespace

std::vector<AxisValue> values_of(const FigureAxis& axis, const ExperimentScale& scale) {
  std::vector<AxisValue> values;
  for (const AxisValue& value : scale.quick && !axis.quick.empty() ? axis.quick : axis.values) {
    if (!is_range(value.text)) {
      values.push_back(value);
      continue;
    }
    for (const std::string& count : range_values(value.text, scale)) values.push_back({count, count});
  }
  return values;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  split_at_names(
      text, [](std::string_view) {}, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

std::string with_names(std::string_view text, const Texts& texts) {
  std::string filled;
  split_at_names(
      text, [&](std::string_view part) { filled += part; },
      [&](std::string_view name) {
        const auto found = texts.find(std::string(name));
        // Each name once on the way down, so that a text that names itself ends.
        Texts others = texts;
        others.erase(std::string(name));
        filled += found == texts.end() ? fmt::format("{{{}}}", name) : with_names(found->second, others);
      });
  return filled;
}

PlannedPanel plan_of_axes(const Figure& figure, const FigurePanel& panel, const ExperimentScale& scale) {
  PlannedPanel planned{&panel, {}, {}};
  const Texts fixed = fixed_texts(figure, panel, scale);
  const std::vector<AxisValue> xs = x_values(figure, panel, scale);
  const FigureAxis* const series_axis = find_axis(figure, panel.series_axis);
  // Without an axis of series there is one turn.
  const std::vector<AxisValue> turns =
      series_axis == nullptr ? std::vector<AxisValue>(1) : values_of(*series_axis, scale);
  for (const AxisValue& turn : turns) {
    for (const FigureSeries& series : panel.series) {
      PlannedSeries line{series.name, series.simulated, {}};
      if (series_axis != nullptr) {
        line.name = panel.series.size() == 1 ? turn.label : fmt::format("{}, {}", turn.label, series.name);
      }
      for (const AxisValue& x : xs) {
        Texts texts = fixed;
        if (series_axis != nullptr) texts[series_axis->name] = turn.text;
        texts[panel.x_axis] = x.text;
        const auto fill = [&](const std::string& text) { return with_names(text, texts); };
        line.points.push_back({x.label, with_seeds(fill(series.command)), with_seeds(fill(series.against)),
                               fill(series.value), place_text(figure.file, series.place),
                               place_text(figure.file, series.command_places.front())});
      }
      planned.series.push_back(std::move(line));
    }
  }
  for (const AxisValue& x : xs) planned.xs.push_back(x.label);
  return planned;
}

}  // namespace mneme
