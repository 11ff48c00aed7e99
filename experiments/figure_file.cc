#include "experiments/figure_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/file/file.h"
#include "base/words.h"
#include "experiments/catalog.h"
#include "experiments/claim_reader.h"
#include "experiments/plan.h"
#include "measurement/result/value.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;
using Kind = TomlValue::Kind;
using Words = std::vector<std::string>;

constexpr std::string_view kSuffix = ".toml";
constexpr std::string_view kNoSeed = "off";
const Words kTopKeys = {"title",   "asks",     "paper",  "paper_says", "scaled",    "not_here",
                        "in_tour", "repeats",  "warmup", "seed",       "databases", "axes",
                        "quick",   "commands", "plots",  "claims"};
// With not_here there are none of them.
const Words kMeasuringKeys = {"databases", "axes", "quick", "commands", "plots", "claims"};
const Words kPlotKeys = {"name",  "title",  "x",     "x_title",  "y",       "unit",        "scale",
                         "chart", "series", "where", "commands", "against", "paper_values"};
const Words kSeriesKeys = {"name", "commands", "y", "against", "x", "simulated"};
const Words kCommandKeys = {"name", "command"};
const Words kPaperKeys = {"series", "x", "value"};
const Words kScales = {"linear", "log"};
const Words kCharts(std::begin(kChartNames), std::end(kChartNames));

bool is_name(std::string_view text, std::string_view others = "_") {
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || others.find(c) != others.npos;
  });
}

// Commands of a plot or series, and where each stands.
struct Commands {
  std::string script;
  std::vector<FilePlace> places;
};

// What series take from their plot, where they don't have their own.
struct SeriesDefaults {
  Commands commands;
  const TomlValue* y = nullptr;
  std::string against;
};

class FigureFileReader {
 public:
  // `file`: empty for the program's own.
  FigureFileReader(const std::string& name, const std::string& file, const ExperimentScale& scale)
      : in_(file.empty() ? name + std::string(kSuffix) : file), scale_(scale) {
    figure_.name = name;
    figure_.file = file;
  }

  Result<Figure> read(const TomlValue& root, std::string_view text, const CommandLineCheck& check) {
    in_.check_keys(root, "an experiment", kTopKeys);
    figure_.title = in_.required_text(root, "title", "an experiment");
    figure_.asks = in_.prose(root, "asks");
    figure_.paper = in_.text(root, "paper");
    if (figure_.paper.empty()) figure_.paper = std::string(kOwnExperiments);
    figure_.paper_says = in_.prose_list(root, "paper_says");
    figure_.scaled = in_.prose(root, "scaled");
    figure_.not_here = in_.prose(root, "not_here");
    figure_.in_tour = in_.boolean(root, "in_tour");
    figure_.repeats = static_cast<uint32_t>(in_.number(root, "repeats", 3, 1, 1000));
    figure_.warmup_rounds = static_cast<uint32_t>(in_.number(root, "warmup", 0, 0, 100));
    const TomlValue* const seed = TomlReader::find(root, "seed");
    if (seed == nullptr || seed->kind != Kind::kText || seed->text != kNoSeed)
      figure_.seed = in_.number(root, "seed", 1, 0, uint64_t{1} << 62);
    figure_.declaration = text;
    if (!figure_.file.empty()) check_name(root.place);
    if (figure_.not_here.empty()) {
      read_what_is_measured(root, check);
    } else {
      for (const std::string& key : kMeasuringKeys) {
        const TomlValue* const needless = TomlReader::find(root, key);
        if (needless == nullptr) continue;
        in_.problem(needless->place,
                    fmt::format("not_here says that nothing is measured: leave {} out", key));
      }
    }
    if (in_.has_problems()) return in_.error();
    return figure_;
  }

 private:
  void read_what_is_measured(const TomlValue& root, const CommandLineCheck& check) {
    read_axes(root);
    read_databases(root);
    const Commands shared = read_commands(root);
    read_plots(root, shared);
    for (const FigureAxis& axis : figure_.axes) {
      for (const auto* const values : {&axis.values, &axis.quick}) {
        for (const AxisValue& value : *values) check_names(axis.place, value.text);
      }
    }
    // A misspelt name would make its axis look unused.
    if (!has_unknown_names_) check_uses(in_, figure_);
    read_claims(in_, root, scale_, figure_);
    if (!in_.has_problems()) check_plans(in_, figure_, scale_, check);
  }

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

  // A number as it is written, or a text; nullopt, with a problem, where it is neither.
  std::optional<std::string> axis_text(const TomlValue& value, std::string_view axis) {
    if (value.kind == Kind::kInteger) return std::to_string(value.integer);
    if (value.kind == Kind::kFloat && std::isfinite(value.number)) return fmt::format("{}", value.number);
    if (value.kind != Kind::kText) {
      in_.problem(value.place,
                  fmt::format("the values of {} are numbers or texts, and this is {}", axis,
                              value.kind == Kind::kFloat ? "none that can be written in a command"
                                                         : value.kind_name()));
      return std::nullopt;
    }
    if (value.text.find_first_of("\n\r") == std::string::npos) return value.text;
    in_.problem(value.place, fmt::format("a value of {} must be a text of one line, not empty", axis));
    return std::nullopt;
  }

  // A value that has a name may be an empty text: nothing stands for it then.
  std::vector<AxisValue> read_values(const TomlValue& value, const std::string& axis) {
    std::vector<AxisValue> values;
    const auto add = [&](const std::string& label, const TomlValue& from) {
      const std::optional<std::string> text = axis_text(from, axis);
      if (!text) return;
      const std::string name = label.empty() ? *text : label;
      if (name.empty()) {
        in_.problem(from.place, fmt::format("a value of {} must be a text of one line, not empty", axis));
      } else if (std::ranges::find(values, name, &AxisValue::label) != values.end()) {
        in_.problem(from.place, fmt::format("{} has the value {} twice", axis, name));
      } else {
        values.push_back({name, *text});
      }
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
      if (!is_name(member.name) || is_among(own_names(), member.name)) {
        in_.problem(member.place,
                    fmt::format("an axis can't be called \"{}\": small letters, digits and \"_\", and not {}",
                                member.name, fmt::join(own_names(), ", ")));
        continue;
      }
      figure_.axes.push_back({member.name,
                              read_values(member.value, member.name),
                              {},
                              member.value.kind == Kind::kTable,
                              member.place});
    }
    const TomlValue* const quick = TomlReader::find(root, "quick");
    if (quick == nullptr || !in_.is(*quick, Kind::kTable, "quick")) return;
    in_.check_keys(*quick, "[quick], which gives axes other values,", axis_names());
    for (FigureAxis& axis : figure_.axes) {
      const TomlValue* const values = TomlReader::find(*quick, axis.name);
      if (values != nullptr) axis.quick = read_values(*values, axis.name);
    }
  }

  void read_databases(const TomlValue& root) {
    const TomlValue* const databases = TomlReader::find(root, "databases");
    if (databases == nullptr || !in_.is(*databases, Kind::kTable, "databases")) return;
    for (const TomlValue::Member& member : databases->members) {
      if (!is_name(member.name, "_-")) {
        in_.problem(member.place,
                    fmt::format("a database can't be called \"{}\": small letters, digits, \"_\" "
                                "and \"-\"",
                                member.name));
      }
      const std::string command = in_.required_text(*databases, member.name, "databases");
      const Words words = words_of(command);
      if (command.empty()) continue;
      if (words.empty() || words[0] != "run" || command.find('@') != command.npos)
        in_.problem(member.value.place, "a database is made by one command, which begins with run");
      for (const std::string& name : own_names()) {
        if (name != kCoresName && is_among(names_in(command), name))
          in_.problem(member.value.place,
                      fmt::format("a database is made once for all points and rounds, and "
                                  "can't depend on {{{}}}",
                                  name));
      }
      check_names(member.value.place, command);
      figure_.databases.push_back({member.name, command, member.value.place});
    }
  }

  Words axis_names() const {
    Words names;
    for (const FigureAxis& axis : figure_.axes) names.push_back(axis.name);
    return names;
  }

  // Names in braces are axes', or those that every command has.
  void check_names(FilePlace place, const std::string& text) {
    if (std::ranges::count(text, '{') != std::ranges::count(text, '}')) {
      in_.problem(place, fmt::format("\"{}\" has a brace that is not closed, or not opened", text));
      return;
    }
    const Words axes = axis_names();
    Words known = axes;
    for (const std::string& name : own_names()) known.push_back(name);
    for (const std::string& name : names_in(text)) {
      if (is_among(axes, axis_in(name)) || is_among(known, name)) continue;
      has_unknown_names_ = true;
      in_.problem(place, fmt::format("{{{}}} is no axis{}", name, TomlReader::advice(name, known)));
    }
  }

  Commands read_commands(const TomlValue& table) {
    Commands commands;
    const TomlValue* const given = TomlReader::find(table, "commands");
    if (given == nullptr) return commands;
    std::vector<TomlValue> items = {*given};
    if (given->kind == Kind::kArray) items = given->items;
    if (items.empty()) in_.problem(given->place, "commands has none");
    Words names;
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
      if (is_among(names, name)) {
        in_.problem(item.place, fmt::format("two commands have the name {}: give one another, as in "
                                            "{{ name = \"second\", command = \"{}\" }}",
                                            name, command));
      } else if (items.size() > 1 && !is_name(name)) {
        in_.problem(item.place, fmt::format("the command needs a name, of small letters, digits and \"_\": "
                                            "{{ name = \"first\", command = \"{}\" }}",
                                            command));
      }
      names.push_back(name);
      commands.script += commands.script.empty() ? "" : "\n";
      commands.script += items.size() > 1 ? fmt::format("{}: {}", name, command) : command;
      commands.places.push_back(item.place);
    }
    return commands;
  }

  // y of a plot or series: an expression, or a table of them by name.
  std::vector<FigureSeries> read_values_of(const TomlValue& y, const std::string& name,
                                           const FigurePanel& panel, const SeriesDefaults& its) {
    std::vector<FigureSeries> all;
    const auto add = [&](const std::string& called, const TomlValue& value) {
      if (!in_.is(value, Kind::kText, "y")) return;
      check_expression(value, panel.chart, its.commands);
      all.push_back({.name = called,
                     .command = its.commands.script,
                     .value = value.text,
                     .against = its.against,
                     .place = value.place,
                     .command_places = its.commands.places});
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

  void check_expression(const TomlValue& value, Chart chart, const Commands& commands) {
    check_names(value.place, value.text);
    const Result<Words> names = names_of_expression(value.text);
    if (!names) {
      in_.problem(value.place, fmt::format("y = \"{}\": {}", value.text, names.error().message));
      return;
    }
    if (chart == Chart::kTimeline && *names != Words{value.text})
      in_.problem(value.place, "y of a timeline is the name of a list, a number a second, and no expression");
    if (commands.places.size() < 2) return;
    Words steps;
    for (const PlannedStep& step : steps_of(commands.script)) steps.push_back(step.name);
    for (const std::string& name : *names) {
      const std::string first = name.substr(0, name.find('.'));
      if (first.starts_with('{') || is_among(steps, first)) continue;
      in_.problem(value.place, fmt::format("\"{}\" begins with none of the commands' names, as {}.{} would{}",
                                           name, steps[0], name, TomlReader::advice(first, steps)));
    }
  }

  void read_plots(const TomlValue& root, const Commands& shared) {
    const TomlValue* const plots = TomlReader::find(root, "plots");
    if (plots == nullptr)
      in_.problem(root.place, "an experiment needs a plot: [[plots]], with title, x and y");
    for (const TomlValue* const plot : in_.tables(root, "plots", "plots (written [[plots]])", "a plot"))
      read_plot(*plot, shared);
    if (plots != nullptr && plots->kind == Kind::kArray && plots->items.empty())
      in_.problem(plots->place, "plots has none");
  }

  std::string axis_of(const TomlValue& table, std::string_view key) {
    const std::string name = in_.text(table, key);
    if (!name.empty() && find_axis(figure_, name) == nullptr) {
      in_.problem(TomlReader::find(table, key)->place,
                  fmt::format("{} names an axis, and {} is none{}", key, name,
                              TomlReader::advice(name, axis_names())));
      return "";
    }
    return name;
  }

  void read_plot(const TomlValue& plot, const Commands& shared) {
    in_.check_keys(plot, "a plot", kPlotKeys);
    FigurePanel panel;
    panel.place = plot.place;
    panel.title = in_.required_text(plot, "title", "a plot");
    panel.name = in_.text(plot, "name");
    if (panel.name.empty()) panel.name = fmt::format("plot-{}", figure_.panels.size() + 1);
    if (std::ranges::find(figure_.panels, panel.name, &FigurePanel::name) != figure_.panels.end())
      in_.problem(plot.place, fmt::format("two plots have the name {}", panel.name));
    panel.x_axis = axis_of(plot, "x");
    panel.chart = chart_of(plot, panel.x_axis);
    const bool is_timeline = panel.chart == Chart::kTimeline;
    if (!is_timeline) in_.required_text(plot, "x", "a plot");
    panel.x = in_.text(plot, "x_title");
    if (panel.x.empty()) panel.x = is_timeline ? "seconds" : panel.x_axis;
    panel.unit = in_.text(plot, "unit");
    panel.log_y = in_.choice(plot, "scale", kScales, "linear") == "log";
    read_where(plot, panel);
    read_series(plot, panel, shared);
    read_paper_values(plot, panel);
    if (is_timeline && (!panel.x_axis.empty() || !panel.paper.empty() ||
                        std::ranges::any_of(panel.series, [](const FigureSeries& series) {
                          return !series.x_axis.empty() || !series.against.empty();
                        }))) {
      in_.problem(plot.place, "a timeline shows the seconds of a run: leave x, against and paper_values out");
    }
    figure_.panels.push_back(std::move(panel));
  }

  Chart chart_of(const TomlValue& plot, const std::string& x_axis) {
    const FigureAxis* const axis = find_axis(figure_, x_axis);
    const bool is_numeric = axis != nullptr && !axis->values.empty() &&
                            (is_range(axis->values[0].text) || number_in(axis->values[0].label).has_value());
    const std::string chart = in_.choice(plot, "chart", kCharts, is_numeric ? "lines" : "bars");
    return static_cast<Chart>(std::ranges::find(kCharts, chart) - kCharts.begin());
  }

  void read_where(const TomlValue& plot, FigurePanel& panel) {
    const TomlValue* const where = TomlReader::find(plot, "where");
    if (where == nullptr || !in_.is(*where, Kind::kTable, "where")) return;
    in_.check_keys(*where, "where, which chooses values of axes,", axis_names());
    for (const TomlValue::Member& member : where->members) {
      const FigureAxis* const axis = find_axis(figure_, member.name);
      const std::optional<std::string> label = axis_text(member.value, member.name);
      if (axis == nullptr || !label) continue;
      Words labels;
      for (const AxisValue& value : values_of(*axis, {scale_.cores, false})) labels.push_back(value.label);
      if (!is_among(labels, *label)) {
        in_.problem(member.value.place, fmt::format("{} has no value {}{}", member.name, *label,
                                                    TomlReader::advice(*label, labels)));
      }
      panel.where[member.name] = *label;
    }
  }

  void read_paper_values(const TomlValue& plot, FigurePanel& panel) {
    for (const TomlValue* const each :
         in_.tables(plot, "paper_values", "paper_values", "a number of the paper's")) {
      in_.check_keys(*each, "a number of the paper's", kPaperKeys);
      PaperValue paper;
      paper.series = in_.required_text(*each, "series", "a number of the paper's");
      const TomlValue* const x = TomlReader::find(*each, "x");
      const TomlValue* const value = TomlReader::find(*each, "value");
      if (x != nullptr) paper.x = axis_text(*x, "x").value_or("");
      const bool is_number =
          value != nullptr && (value->kind == Kind::kInteger || value->kind == Kind::kFloat);
      if (is_number) paper.value = value->number;
      if (x == nullptr || !is_number || !std::isfinite(paper.value))
        in_.problem(each->place, "a number of the paper's needs series, x and value, which is a number");
      panel.paper.push_back(std::move(paper));
    }
  }

  void read_series(const TomlValue& plot, FigurePanel& panel, const Commands& shared) {
    const TomlValue* const series = TomlReader::find(plot, "series");
    const SeriesDefaults of_plot = defaults_of(plot, {shared, nullptr, ""});
    if (series == nullptr || series->kind == Kind::kText) {
      if (series != nullptr) panel.series_axis = axis_of(plot, "series");
      if (of_plot.y == nullptr) {
        in_.problem(plot.place, "a plot needs y = \"...\", a name in the commands' JSON");
      } else if (!of_plot.commands.places.empty()) {
        panel.series = read_values_of(*of_plot.y, "", panel, of_plot);
      } else if (!in_.has_problems()) {
        in_.problem(plot.place, "the plot has no commands: give them here, or above for all plots");
      }
      if (panel.series.size() == 1 && panel.series[0].name.empty()) panel.series[0].name = panel.title;
      return;
    }
    for (const TomlValue* const each :
         in_.tables(plot, "series", "series (an axis, or [[plots.series]])", "a series")) {
      in_.check_keys(*each, "a series", kSeriesKeys);
      const std::string name = in_.required_text(*each, "name", "a series");
      const SeriesDefaults its = defaults_of(*each, of_plot);
      const std::string x_axis = axis_of(*each, "x");
      const bool is_simulated = in_.boolean(*each, "simulated");
      if (its.y == nullptr) {
        in_.problem(each->place, fmt::format("the series {} needs y, here or in its plot", name));
        continue;
      }
      if (its.commands.places.empty()) {
        if (!in_.has_problems())
          in_.problem(each->place,
                      fmt::format("the series {} needs commands, here, in its plot or above", name));
        continue;
      }
      for (FigureSeries& one : read_values_of(*its.y, name, panel, its)) {
        if (std::ranges::find(panel.series, one.name, &FigureSeries::name) != panel.series.end())
          in_.problem(each->place, fmt::format("two series have the name {}", one.name));
        one.x_axis = x_axis;
        one.simulated = is_simulated;
        panel.series.push_back(std::move(one));
      }
    }
  }

  // What the table has of its own, and else `above`.
  SeriesDefaults defaults_of(const TomlValue& table, SeriesDefaults above) {
    const Commands own = read_commands(table);
    const TomlValue* const y = TomlReader::find(table, "y");
    const TomlValue* const against = TomlReader::find(table, "against");
    if (!own.places.empty()) above.commands = own;
    if (y != nullptr) above.y = y;
    if (against == nullptr) return above;
    above.against = in_.text(table, "against");
    check_names(against->place, above.against);
    return above;
  }

  TomlReader in_;
  const ExperimentScale scale_;
  Figure figure_;
  bool has_unknown_names_ = false;
};

}  // namespace

bool is_figure_file(std::string_view name) {
  return name.ends_with(kSuffix);
}

Result<Figure> figure_in(std::string_view text, const std::string& path, const ExperimentScale& scale,
                         const CommandLineCheck& check) {
  const Result<TomlValue> root = parse_toml(text, path);
  if (!root) return root.error();
  return FigureFileReader(fs::path(path).stem().string(), path, scale).read(*root, text, check);
}

Result<Figure> built_in_figure(std::string_view text, std::string_view name) {
  const Result<TomlValue> root = parse_toml(text, name);
  if (!root) return root.error();
  return FigureFileReader(std::string(name), "", {}).read(*root, text, nullptr);
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
