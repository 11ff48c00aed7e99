#include "experiments/figure_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/file/file.h"
#include "experiments/axes.h"
#include "experiments/catalog.h"
#include "experiments/claim_reader.h"
#include "experiments/toml_reader.h"
#include "experiments/value.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;
using Kind = TomlValue::Kind;
using Words = std::vector<std::string>;

constexpr std::string_view kSuffix = ".toml";
const Words kTopKeys = {"title", "asks",  "repeats",  "warmup", "seed",
                        "axes",  "quick", "commands", "plots",  "claims"};
const Words kPlotKeys = {"name",  "title", "x",      "x_title", "y",       "unit",
                         "scale", "chart", "series", "where",   "commands"};
const Words kSeriesKeys = {"name", "commands", "y", "against"};
const Words kCommandKeys = {"name", "command"};
const Words kScales = {"linear", "log"};
const Words kCharts = {"lines", "bars", "stack"};
// Those that end by themselves and report JSON.
const Words kCommands = {"run", "recover", "verify", "crash", "logbench", "slice", "bench"};
const Words kOwnNames = {std::string(kCoresName), std::string(kSeedName), std::string(kDirectoryName)};

bool is_name(std::string_view text) {
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool contains(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_number_text(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size();
}

// Commands of a plot or series, and where each stands.
struct Commands {
  std::string script;
  std::vector<FilePlace> places;
};

class FigureFileReader {
 public:
  FigureFileReader(const std::string& path, const ExperimentScale& scale, const CommandLineCheck& check)
      : in_(path), scale_(scale), check_(check) {
    figure_.name = fs::path(path).stem().string();
    figure_.file = path;
    figure_.paper = std::string(kOwnExperiments);
  }

  Result<Figure> read(const TomlValue& root, std::string_view text) {
    in_.check_keys(root, "an experiment", kTopKeys);
    figure_.title = in_.required_text(root, "title", "an experiment");
    figure_.asks = in_.text(root, "asks");
    figure_.repeats = static_cast<uint32_t>(in_.number(root, "repeats", 3, 1, 1000));
    figure_.warmup_rounds = static_cast<uint32_t>(in_.number(root, "warmup", 0, 0, 100));
    figure_.seed = in_.number(root, "seed", 1, 0, uint64_t{1} << 62);
    figure_.declaration = text;
    check_name(root.place);
    read_axes(root);
    const Commands shared = read_commands(root);
    read_plots(root, shared);
    check_use();
    read_claims(in_, root, scale_, figure_);
    if (!in_.has_problems()) check_plan();
    if (in_.has_problems()) return in_.error();
    return figure_;
  }

 private:
  void check_name(FilePlace place) {
    const bool plain = std::ranges::all_of(figure_.name, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    });
    if (!plain || figure_.name.empty()) {
      in_.problem(place,
                  "the file's name becomes the results' name, and has other characters than letters, digits, "
                  "\"_\", \"-\" and \".\": rename it");
    }
    if (find_figure(figure_.name) != nullptr) {
      in_.problem(place,
                  fmt::format("{} is the name of a figure that the program has already: rename the file",
                              figure_.name));
    }
  }

  // Empty, with a problem, where it is no text or number.
  std::string axis_text(const TomlValue& value, std::string_view axis) {
    std::string text;
    if (value.kind == Kind::kText) {
      text = value.text;
    } else if (value.kind == Kind::kInteger) {
      text = std::to_string(value.integer);
    } else if (value.kind == Kind::kFloat && std::isfinite(value.number)) {
      text = fmt::format("{}", value.number);
    } else {
      in_.problem(value.place,
                  fmt::format("the values of {} are numbers or texts, and this is {}", axis,
                              value.kind == Kind::kFloat ? "none that can be written in a command"
                                                         : value.kind_name()));
      return "";
    }
    if (text.empty() || text.find_first_of("\n\r") != std::string::npos) {
      in_.problem(value.place, fmt::format("a value of {} must be a text of one line, not empty", axis));
      return "";
    }
    return text;
  }

  std::vector<AxisValue> read_values(const TomlValue& value, const std::string& axis) {
    std::vector<AxisValue> values;
    const auto add = [&](const std::string& label, const TomlValue& from) {
      const std::string text = axis_text(from, axis);
      if (text.empty()) return;
      const std::string name = label.empty() ? text : label;
      if (std::ranges::find(values, name, &AxisValue::label) != values.end()) {
        in_.problem(from.place, fmt::format("{} has the value {} twice", axis, name));
        return;
      }
      values.push_back({name, text});
    };
    if (value.kind == Kind::kArray) {
      for (const TomlValue& item : value.items) add("", item);
    } else if (value.kind == Kind::kTable) {
      for (const TomlValue::Member& member : value.members) add(member.name, member.value);
    } else {
      add("", value);
    }
    if (values.empty() && !in_.has_problems()) in_.problem(value.place, fmt::format("{} has no value", axis));
    return values;
  }

  void read_axes(const TomlValue& root) {
    const TomlValue* const axes = TomlReader::find(root, "axes");
    if (axes == nullptr) {
      in_.problem(root.place, "an experiment needs [axes], with a line such as threads = [1, 2]");
      return;
    }
    if (!in_.is(*axes, Kind::kTable, "axes")) return;
    for (const TomlValue::Member& member : axes->members) {
      if (!is_name(member.name) || contains(kOwnNames, member.name)) {
        in_.problem(member.place,
                    fmt::format("an axis can't be called \"{}\": small letters, digits and \"_\", and not {}",
                                member.name, fmt::join(kOwnNames, ", ")));
        continue;
      }
      figure_.axes.push_back({member.name, read_values(member.value, member.name), {}});
      axis_places_.push_back(member.place);
    }
    const TomlValue* const quick = TomlReader::find(root, "quick");
    if (quick == nullptr || !in_.is(*quick, Kind::kTable, "quick")) return;
    in_.check_keys(*quick, "[quick], which gives axes other values,", axis_names());
    for (FigureAxis& axis : figure_.axes) {
      const TomlValue* const values = TomlReader::find(*quick, axis.name);
      if (values != nullptr) axis.quick = read_values(*values, axis.name);
    }
  }

  Words axis_names() const {
    Words names;
    for (const FigureAxis& axis : figure_.axes) names.push_back(axis.name);
    return names;
  }

  const FigureAxis* find_axis(std::string_view name) const {
    const auto found = std::ranges::find(figure_.axes, name, &FigureAxis::name);
    return found == figure_.axes.end() ? nullptr : &*found;
  }

  // Names in braces are axes', or those that every command has.
  void check_names(FilePlace place, const std::string& text) {
    if (std::ranges::count(text, '{') != std::ranges::count(text, '}')) {
      in_.problem(place, fmt::format("\"{}\" has a brace that is not closed, or not opened", text));
      return;
    }
    Words known = axis_names();
    known.insert(known.end(), kOwnNames.begin(), kOwnNames.end());
    for (const std::string& name : names_in(text)) {
      if (!contains(known, name)) {
        has_unknown_names_ = true;
        in_.problem(place, fmt::format("{{{}}} is no axis{}", name, TomlReader::advice(name, known)));
      }
    }
  }

  Commands read_commands(const TomlValue& table) {
    Commands commands;
    const TomlValue* const given = TomlReader::find(table, "commands");
    if (given == nullptr) return commands;
    std::vector<TomlValue> items = {*given};
    if (given->kind == Kind::kArray) items = given->items;
    if (items.empty()) in_.problem(given->place, "commands has none");
    std::vector<std::pair<std::string, std::string>> steps;
    for (const TomlValue& item : items) {
      std::string command, name;
      if (item.kind == Kind::kTable) {
        in_.check_keys(item, "a command", kCommandKeys);
        command = in_.required_text(item, "command", "a command");
        name = in_.required_text(item, "name", "a command");
      } else if (in_.is(item, Kind::kText, "a command")) {
        command = item.text;
      }
      const Words words = words_of(command);
      if (words.empty() || command.find_first_of("\n\r") != std::string::npos) {
        if (item.kind == Kind::kText)
          in_.problem(item.place, "a command must be a text of one line, not empty");
        continue;
      }
      check_names(item.place, command);
      if (name.empty()) name = words[0];
      const auto same = [&](const auto& step) { return step.first == name; };
      if (std::ranges::any_of(steps, same)) {
        in_.problem(item.place, fmt::format("two commands have the name {}: give one another, as in "
                                            "{{ name = \"second\", command = \"{}\" }}",
                                            name, command));
      } else if (items.size() > 1 && !is_name(name)) {
        in_.problem(item.place, fmt::format("the command needs a name, of small letters, digits and \"_\": "
                                            "{{ name = \"first\", command = \"{}\" }}",
                                            command));
      }
      steps.emplace_back(name, command);
      commands.places.push_back(item.place);
    }
    for (const auto& [name, command] : steps) {
      commands.script += commands.script.empty() ? "" : "\n";
      commands.script += items.size() > 1 ? fmt::format("{}: {}", name, command) : command;
    }
    return commands;
  }

  // y of a plot or series: an expression, or a table of them by name.
  std::vector<FigureSeries> read_values_of(const TomlValue& y, const std::string& name,
                                           const Commands& commands) {
    std::vector<FigureSeries> all;
    const auto add = [&](const std::string& called, const TomlValue& value) {
      if (!in_.is(value, Kind::kText, "y")) return;
      check_expression(value, commands);
      FigureSeries series{.name = called, .command = commands.script, .value = value.text};
      series.place = value.place;
      series.command_places = commands.places;
      all.push_back(std::move(series));
    };
    if (y.kind == Kind::kTable) {
      for (const TomlValue::Member& member : y.members) {
        add(name.empty() ? member.name : fmt::format("{}, {}", name, member.name), member.value);
      }
      if (y.members.empty()) in_.problem(y.place, "y has no values");
    } else {
      add(name, y);
    }
    return all;
  }

  void check_expression(const TomlValue& value, const Commands& commands) {
    check_names(value.place, value.text);
    const Result<Words> names = names_of_expression(value.text);
    if (!names) {
      in_.problem(value.place, fmt::format("y = \"{}\": {}", value.text, names.error().message));
      return;
    }
    if (commands.places.size() < 2) return;
    Words steps;
    for (const PlannedStep& step : steps_of(commands.script)) steps.push_back(step.name);
    for (const std::string& name : *names) {
      const std::string first = name.substr(0, name.find('.'));
      if (first.starts_with('{') || contains(steps, first)) continue;
      in_.problem(value.place, fmt::format("\"{}\" begins with none of the commands' names, as {}.{} would{}",
                                           name, steps[0], name, TomlReader::advice(first, steps)));
    }
  }

  void read_plots(const TomlValue& root, const Commands& shared) {
    const TomlValue* const plots = TomlReader::find(root, "plots");
    if (plots == nullptr) {
      in_.problem(root.place, "an experiment needs a plot: [[plots]], with title, x and y");
      return;
    }
    if (!in_.is(*plots, Kind::kArray, "plots (written [[plots]])")) return;
    for (const TomlValue& plot : plots->items) {
      if (!in_.is(plot, Kind::kTable, "a plot")) continue;
      read_plot(plot, shared);
    }
    if (plots->items.empty()) in_.problem(plots->place, "plots has none");
  }

  std::string axis_of(const TomlValue& plot, std::string_view key) {
    const std::string name = in_.text(plot, key);
    if (!name.empty() && find_axis(name) == nullptr) {
      in_.problem(TomlReader::find(plot, key)->place,
                  fmt::format("{} names an axis, and {} is none{}", key, name,
                              TomlReader::advice(name, axis_names())));
      return "";
    }
    return name;
  }

  void read_plot(const TomlValue& plot, const Commands& shared) {
    in_.check_keys(plot, "a plot", kPlotKeys);
    FigurePanel panel;
    panel.title = in_.required_text(plot, "title", "a plot");
    panel.name = in_.text(plot, "name");
    if (panel.name.empty()) panel.name = fmt::format("plot-{}", figure_.panels.size() + 1);
    if (std::ranges::find(figure_.panels, panel.name, &FigurePanel::name) != figure_.panels.end())
      in_.problem(plot.place, fmt::format("two plots have the name {}", panel.name));
    in_.required_text(plot, "x", "a plot");
    panel.x_axis = axis_of(plot, "x");
    panel.x = in_.text(plot, "x_title");
    if (panel.x.empty()) panel.x = panel.x_axis;
    panel.unit = in_.text(plot, "unit");
    panel.log_y = in_.choice(plot, "scale", kScales, "linear") == "log";
    panel.chart = chart_of(plot, panel.x_axis);
    read_where(plot, panel);
    const Commands own = read_commands(plot);
    const Commands& commands = own.places.empty() ? shared : own;
    read_series(plot, panel, commands);
    figure_.panels.push_back(std::move(panel));
    plot_places_.push_back(plot.place);
  }

  Chart chart_of(const TomlValue& plot, const std::string& x_axis) {
    const FigureAxis* const axis = find_axis(x_axis);
    const bool is_numeric = axis != nullptr && !axis->values.empty() &&
                            (is_range(axis->values[0].text) || is_number_text(axis->values[0].label));
    const std::string chart = in_.choice(plot, "chart", kCharts, is_numeric ? "lines" : "bars");
    return chart == "lines" ? Chart::kLines : chart == "bars" ? Chart::kBars : Chart::kStack;
  }

  void read_where(const TomlValue& plot, FigurePanel& panel) {
    const TomlValue* const where = TomlReader::find(plot, "where");
    if (where == nullptr || !in_.is(*where, Kind::kTable, "where")) return;
    in_.check_keys(*where, "where, which chooses values of axes,", axis_names());
    for (const TomlValue::Member& member : where->members) {
      const FigureAxis* const axis = find_axis(member.name);
      const std::string label = axis_text(member.value, member.name);
      if (axis == nullptr || label.empty()) continue;
      Words labels;
      for (const AxisValue& value : values_of(*axis, {scale_.cores, false})) labels.push_back(value.label);
      if (!contains(labels, label)) {
        in_.problem(member.value.place, fmt::format("{} has no value {}{}", member.name, label,
                                                    TomlReader::advice(label, labels)));
      }
      panel.where[member.name] = label;
    }
  }

  void read_series(const TomlValue& plot, FigurePanel& panel, const Commands& commands) {
    const TomlValue* const series = TomlReader::find(plot, "series");
    const TomlValue* const y = TomlReader::find(plot, "y");
    if (series == nullptr || series->kind == Kind::kText) {
      if (series != nullptr) panel.series_axis = axis_of(plot, "series");
      if (y == nullptr) {
        in_.problem(plot.place, "a plot needs y = \"...\", a name in the commands' JSON");
      } else if (commands.places.empty()) {
        if (!in_.has_problems())
          in_.problem(plot.place, "the plot has no commands: give them here, or above for all plots");
      } else {
        panel.series = read_values_of(*y, "", commands);
      }
      if (panel.series.size() == 1 && panel.series[0].name.empty()) panel.series[0].name = panel.title;
      return;
    }
    if (!in_.is(*series, Kind::kArray, "series (an axis, or [[plots.series]])")) return;
    for (const TomlValue& each : series->items) {
      if (!in_.is(each, Kind::kTable, "a series")) continue;
      in_.check_keys(each, "a series", kSeriesKeys);
      const std::string name = in_.required_text(each, "name", "a series");
      const Commands own = read_commands(each);
      const Commands& its = own.places.empty() ? commands : own;
      const TomlValue* const own_y = TomlReader::find(each, "y");
      const TomlValue* const its_y = own_y == nullptr ? y : own_y;
      if (its_y == nullptr) {
        in_.problem(each.place, fmt::format("the series {} needs y, here or in its plot", name));
        continue;
      }
      if (its.places.empty()) {
        if (!in_.has_problems())
          in_.problem(each.place,
                      fmt::format("the series {} needs commands, here, in its plot or above", name));
        continue;
      }
      const std::string against = in_.text(each, "against");
      if (!against.empty()) check_names(TomlReader::find(each, "against")->place, against);
      for (FigureSeries& one : read_values_of(*its_y, name, its)) {
        if (std::ranges::find(panel.series, one.name, &FigureSeries::name) != panel.series.end())
          in_.problem(each.place, fmt::format("two series have the name {}", one.name));
        one.against = against;
        panel.series.push_back(std::move(one));
      }
    }
  }

  // The axes that a series depends on, also by way of the values of others.
  std::set<std::string> axes_of(const FigureSeries& series) const {
    Words waiting;
    for (const std::string* const text : {&series.command, &series.against, &series.value}) {
      for (const std::string& name : names_in(*text)) waiting.push_back(name);
    }
    std::set<std::string> found;
    while (!waiting.empty()) {
      const std::string name = waiting.back();
      waiting.pop_back();
      const FigureAxis* const axis = find_axis(name);
      if (axis == nullptr || !found.insert(name).second) continue;
      for (const auto* const values : {&axis->values, &axis->quick}) {
        for (const AxisValue& value : *values) {
          for (const std::string& inner : names_in(value.text)) waiting.push_back(inner);
        }
      }
    }
    return found;
  }

  static bool has_several(const FigureAxis& axis) {
    return axis.values.size() > 1 || axis.quick.size() > 1 ||
           (axis.values.size() == 1 && is_range(axis.values[0].text));
  }

  void check_use() {
    for (size_t i = 0; i < figure_.axes.size(); ++i) {
      for (const auto* const values : {&figure_.axes[i].values, &figure_.axes[i].quick}) {
        for (const AxisValue& value : *values) check_names(axis_places_[i], value.text);
      }
    }
    // A misspelt name would make its axis look unused.
    if (has_unknown_names_) return;
    std::set<std::string> used;
    for (size_t i = 0; i < figure_.panels.size(); ++i) {
      const FigurePanel& panel = figure_.panels[i];
      std::set<std::string> by_any;
      for (const FigureSeries& series : panel.series) by_any.merge(axes_of(series));
      used.insert(by_any.begin(), by_any.end());
      if (panel.series.empty()) {
        // What it would have used isn't known: its own problem has been told.
        for (const std::string& name : axis_names()) used.insert(name);
        continue;
      }
      for (const std::string* const axis : {&panel.x_axis, &panel.series_axis}) {
        if (axis->empty() || by_any.contains(*axis)) continue;
        in_.problem(plot_places_[i],
                    fmt::format("the plot is drawn by {}, which stands in none of its commands: "
                                "put {{{}}} where its value belongs",
                                *axis, *axis));
      }
      for (const std::string& name : by_any) {
        const bool settled = name == panel.x_axis || name == panel.series_axis || panel.where.contains(name);
        if (settled || !has_several(*find_axis(name))) continue;
        in_.problem(
            plot_places_[i],
            fmt::format("{} has several values, and the plot leaves open which one: make it x or series, "
                        "or choose one by where = {{ {} = ... }}",
                        name, name));
      }
    }
    for (size_t i = 0; i < figure_.axes.size(); ++i) {
      const FigureAxis& axis = figure_.axes[i];
      if (used.contains(axis.name)) continue;
      in_.problem(
          axis_places_[i],
          fmt::format("the axis {} is not used: put {{{}}} into a command where its value belongs, or "
                      "remove it",
                      axis.name, axis.name));
    }
  }

  // Looks at each command line that would be run.
  void check_plan() {
    for (const bool quick : {false, true}) {
      for (const FigurePanel& panel : figure_.panels) {
        const PlannedPanel planned = plan_of_axes(figure_, panel, {scale_.cores, quick});
        for (size_t i = 0; i < planned.series.size(); ++i) {
          const FigureSeries& series = panel.series[i % panel.series.size()];
          for (const PlannedPoint& point : planned.series[i].points) {
            check_commands(point.command, series.command_places);
            if (!point.against.empty()) check_commands(point.against, series.command_places);
          }
        }
      }
    }
  }

  void check_commands(const std::string& command, const std::vector<FilePlace>& places) {
    const std::vector<PlannedStep> steps = steps_of(command);
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::string wrong = wrong_with(words_of(steps[i].command));
      if (wrong.empty()) continue;
      in_.problem(places[std::min(i, places.size() - 1)], fmt::format("\"{}\": {}", steps[i].command, wrong));
    }
  }

  std::string wrong_with(Words words) const {
    if (words.empty()) return "a command is empty";
    if (words[0] == "mneme") return "leave mneme out: commands begin with run, recover and so on";
    if (!contains(kCommands, words[0]))
      return fmt::format("{} can't be a part of an experiment{}", words[0],
                         TomlReader::advice(words[0], kCommands));
    for (const std::string& word : words) {
      if (word.starts_with("--json") || word == "--quiet")
        return fmt::format("leave {} out: the experiment gives it itself", word);
      if (word.starts_with('@')) return "a word begins with @, which is for the program's own figures";
      if (word.find('$') != word.npos) return "a word has a $: names of axes stand in braces, {threads}";
    }
    for (std::string& word : words) {
      word = with_names(word, {{std::string(kSeedName), "1"}, {std::string(kDirectoryName), "dir"}});
    }
    return check_(words);
  }

  TomlReader in_;
  const ExperimentScale scale_;
  const CommandLineCheck& check_;
  Figure figure_;
  std::vector<FilePlace> axis_places_;  // of figure_.axes
  bool has_unknown_names_ = false;
  std::vector<FilePlace> plot_places_;  // of figure_.panels
};

}  // namespace

bool is_figure_file(std::string_view name) {
  return name.ends_with(kSuffix);
}

Result<Figure> figure_in(std::string_view text, const std::string& path, const ExperimentScale& scale,
                         const CommandLineCheck& check) {
  const Result<TomlValue> root = parse_toml(text, path);
  if (!root) return root.error();
  return FigureFileReader(path, scale, check).read(*root, text);
}

Result<Figure> read_figure_file(const std::string& path, const ExperimentScale& scale,
                                const CommandLineCheck& check) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return invalid_argument(
        "there is no file {}: name a file that declares an experiment, or a figure of "
        "mneme experiment list",
        path);
  }
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  return figure_in(*text, path, scale, check);
}

}  // namespace mneme
