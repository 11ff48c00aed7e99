#include "experiments/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "measurement/result/value.h"
#include "measurement/statistics/bootstrap.h"

namespace mneme {
namespace {

using Json = nlohmann::ordered_json;

// The rounds of a command, none where it was not run.
const std::vector<Json>& rounds_of(const std::string& command, const Measurements& measured) {
  static const std::vector<Json> none;
  const auto found = measured.find(command);
  return found == measured.end() ? none : found->second;
}

Result<std::vector<double>> runs_of(const PlannedPoint& point, const Measurements& measured) {
  std::vector<double> runs;
  const std::vector<Json>& own = rounds_of(point.command, measured);
  const std::vector<Json>& others = rounds_of(point.against, measured);
  for (size_t round = 0; round < own.size(); ++round) {
    const Result<double> value = value_of(point.value, own[round]["result"]);
    if (!value) return failed("{}: {}", point.command, value.error().message);
    double divisor = 1;
    if (!point.against.empty()) {
      if (round >= others.size()) break;
      const Result<double> other = value_of(point.value, others[round]["result"]);
      if (!other) return failed("{}: {}", point.against, other.error().message);
      divisor = *other;
    }
    runs.push_back(divisor == 0 ? 0 : *value / divisor);
  }
  return runs;
}

Result<Json> points_json(const PlannedSeries& series, const Measurements& measured) {
  Json points = Json::array();
  for (const PlannedPoint& point : series.points) {
    const Result<std::vector<double>> runs = runs_of(point, measured);
    if (!runs) return runs.error();
    if (runs->empty()) continue;
    const Spread spread = spread_of(*runs);
    const std::optional<MedianInterval> interval = median_interval(*runs);
    Json json = {{"x", point.x},
                 {"median", spread.median},
                 {"low", interval ? Json(interval->low) : Json()},
                 {"high", interval ? Json(interval->high) : Json()},
                 {"min", spread.min},
                 {"max", spread.max},
                 {"runs", *runs},
                 {"command", typed_text(point.command)}};
    if (!point.against.empty()) json["against"] = typed_text(point.against);
    points.push_back(std::move(json));
  }
  return points;
}

// Adds a figure drawn over time: the run with the median mean.
Result<void> add_timeline(const PlannedSeries& series, const Measurements& measured, Json& json) {
  const PlannedPoint& point = series.points.front();
  std::vector<std::pair<double, std::vector<double>>> runs;
  const std::vector<Json>& own = rounds_of(point.command, measured);
  json["seconds"] = Json::array();
  json["checkpoints"] = Json::array();
  json["command"] = typed_text(point.command);
  if (own.empty()) return {};
  for (const Json& each : own) {
    Result<std::vector<double>> list = list_of(point.value, each["result"]);
    if (!list) return failed("{}: {}", point.command, list.error().message);
    double sum = 0;
    for (const double value : *list) sum += value;
    runs.emplace_back(sum / static_cast<double>(std::max<size_t>(list->size(), 1)), std::move(*list));
  }
  std::vector<size_t> order(runs.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return runs[i].first; });
  const size_t middle = order[(order.size() - 1) / 2];
  json["seconds"] = runs[middle].second;
  // They stand beside the list, also where it is one of several commands'.
  const size_t dot = point.value.rfind('.');
  const std::string beside =
      dot == std::string::npos ? "checkpoints" : point.value.substr(0, dot) + ".checkpoints";
  const Json* const of_run = part_of(own[middle]["result"], beside);
  Json checkpoints = Json::array();
  for (const Json& each : of_run == nullptr ? Json::array() : *of_run) {
    if (!each.is_object()) continue;
    const double begin = each.value("begin_seconds", 0.0);
    checkpoints.push_back({{"begin", begin}, {"end", begin + each.value("seconds", 0.0)}});
  }
  json["checkpoints"] = std::move(checkpoints);
  return {};
}

Result<Json> panel_json(const PlannedPanel& planned, const Measurements& measured) {
  const FigurePanel& panel = *planned.definition;
  Json json = {
      {"name", panel.name},  {"title", panel.title}, {"chart", kChartNames[static_cast<size_t>(panel.chart)]},
      {"x", panel.x},        {"xs", planned.xs},     {"unit", panel.unit},
      {"log_y", panel.log_y}};
  Json all = Json::array();
  for (const PlannedSeries& series : planned.series) {
    Json one = {{"name", series.name}, {"simulated", series.simulated}};
    if (panel.chart == Chart::kTimeline) {
      RETURN_IF_ERROR(add_timeline(series, measured, one));
    } else {
      Result<Json> points = points_json(series, measured);
      if (!points) return points.error();
      one["points"] = std::move(*points);
    }
    all.push_back(std::move(one));
  }
  json["series"] = std::move(all);
  Json paper = Json::array();
  for (const PaperValue& value : panel.paper) {
    paper.push_back({{"series", value.series}, {"x", value.x}, {"value", value.value}});
  }
  json["paper"] = std::move(paper);
  return json;
}

const Json* find_named(const Json& list, const std::string& name) {
  const auto found = std::ranges::find_if(list, [&](const Json& each) { return each["name"] == name; });
  return found == list.end() ? nullptr : &*found;
}

// The points that a cell of a claim stands for.
std::vector<const Json*> points_of(const Json& series, const std::string& x) {
  std::vector<const Json*> points;
  const Json& all = series["points"];
  if (all.empty()) return points;
  if (x == "first") return {&all.front()};
  if (x == "last") return {&all.back()};
  for (const Json& point : all) {
    if (x == "each" || point["x"] == x) points.push_back(&point);
  }
  return points;
}

struct Comparison {
  double left = 0, right = 0;
  bool holds = false, apart = false;
  std::string text;
};

Comparison compare(const FigureClaim& claim, const Json& left, const Json* right,
                   const std::string& right_name) {
  const auto of = [&](const char* field) { return right == nullptr ? 1.0 : (*right)[field].get<double>(); };
  const bool above = claim.relation == FigureClaim::Relation::kAbove;
  Comparison found;
  found.left = left["median"].get<double>();
  found.right = claim.times * of("median");
  found.holds = above ? found.left > found.right : found.left < found.right;
  const double left_least = left["min"].get<double>(), left_most = left["max"].get<double>();
  found.apart = left_least > claim.times * of("max") || left_most < claim.times * of("min");
  const std::string at = left["x"].get<std::string>();
  found.text =
      fmt::format("{} against {}{} at {}", number_text(found.left), number_text(found.right), right_name, at);
  return found;
}

std::vector<Comparison> comparisons(const FigureClaim& claim, const Json& panel) {
  std::vector<Comparison> all;
  const Json* const left = find_named(panel["series"], claim.left.series);
  if (left == nullptr) return all;
  std::vector<const Json*> others;
  if (claim.right.series == "*") {
    for (const Json& series : panel["series"]) {
      if (series["name"] != claim.left.series) others.push_back(&series);
    }
  } else if (const Json* const other = find_named(panel["series"], claim.right.series)) {
    others.push_back(other);
  }
  for (const Json* const point : points_of(*left, claim.left.x)) {
    if (claim.right.series.empty()) {
      all.push_back(compare(claim, *point, nullptr, ""));
      continue;
    }
    for (const Json* const other : others) {
      const bool each = claim.right.x == "each";
      for (const Json* const right :
           points_of(*other, each ? (*point)["x"].get<std::string>() : claim.right.x)) {
        if (right == point) continue;
        const std::string times =
            claim.times == 1
                ? ""
                : fmt::format(" ({} times {})", claim.times, number_text((*right)["median"].get<double>()));
        all.push_back(compare(claim, *point, right, times));
      }
    }
  }
  return all;
}

Json claim_json(const FigureClaim& claim, const Json& panels) {
  Json json = {{"says", claim.says}, {"panel", claim.panel}, {"holds", nullptr},
               {"apart", false},     {"found", ""},          {"reason", claim.reason}};
  const Json* const panel = find_named(panels, claim.panel);
  CHECK(panel != nullptr);
  const std::vector<Comparison> all = comparisons(claim, *panel);
  if (all.empty()) return json;
  // The one that speaks most against it.
  const auto worst = std::ranges::min_element(all, {}, [&](const Comparison& each) {
    const double quotient = each.right == 0 ? 1 : each.left / each.right;
    return claim.relation == FigureClaim::Relation::kAbove ? quotient : -quotient;
  });
  json["holds"] = std::ranges::all_of(all, &Comparison::holds);
  json["apart"] = worst->apart;
  json["found"] = worst->text + (all.size() > 1 ? fmt::format(", the closest of {}", all.size()) : "");
  return json;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string number_text(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 100) {
    std::string text = fmt::format("{:.0f}", value);
    const size_t first = text[0] == '-' ? 1 : 0;
    for (size_t at = text.size(); at > first + 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
  }
  const int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(size))), 0, 9);
  return fmt::format("{:.{}f}", value, decimals);
}

Result<Json> evaluate(const Plan& plan, const Measurements& measured) {
  const Figure& figure = *plan.figure;
  Json panels = Json::array();
  for (const PlannedPanel& panel : plan.panels) {
    Result<Json> json = panel_json(panel, measured);
    if (!json) return failed("{}, panel {}: {}", figure.name, panel.definition->name, json.error().message);
    panels.push_back(std::move(*json));
  }
  Json claims = Json::array();
  for (FigureClaim claim : figure.claims) {
    for (FigureCell* cell : {&claim.left, &claim.right})
      cell->x = with_names(cell->x, fixed_texts(figure, {}, plan.scale));
    claims.push_back(claim_json(claim, panels));
  }
  size_t done = 0;
  for (const std::string& command : plan.commands) done += rounds_of(command, measured).size();
  const size_t planned = plan.commands.size() * plan.rounds;
  Json json = {{"name", figure.name},         {"paper", figure.paper},
               {"title", figure.title},       {"paper_says", figure.paper_says},
               {"scaled", figure.scaled},     {"panels", std::move(panels)},
               {"claims", std::move(claims)}, {"commands", typed_commands(plan)},
               {"partial", done < planned},   {"measured", done},
               {"planned", planned}};
  if (!figure.file.empty()) {
    json["asks"] = figure.asks;
    json["file"] = figure.file;
    json["declaration"] = figure.declaration;
    json["warmup_rounds"] = plan.warmup_rounds;
  }
  Json seeds = Json::array();
  for (uint32_t round = 0; figure.seed && round < plan.rounds; ++round) seeds.push_back(*figure.seed + round);
  json["seeds"] = std::move(seeds);
  return json;
}

Result<void> check_values(const Plan& plan, const std::string& command, const Json& result) {
  std::string problems;
  for (const PlannedPanel& panel : plan.panels) {
    for (const PlannedSeries& series : panel.series) {
      for (const PlannedPoint& point : series.points) {
        if (point.command != command && point.against != command) continue;
        std::string wrong;
        if (panel.definition->chart == Chart::kTimeline) {
          const Result<std::vector<double>> list = list_of(point.value, result);
          if (!list) wrong = list.error().message;
        } else if (const Result<double> value = value_of(point.value, result); !value) {
          wrong = value.error().message;
        }
        if (wrong.empty()) continue;
        const std::string problem = fmt::format("{}: {}", point.place, wrong);
        if (problems.find(problem) == problems.npos) problems += (problems.empty() ? "" : "\n") + problem;
      }
    }
  }
  if (!problems.empty()) return invalid_argument("{}", problems);
  return {};
}

std::string place_of_command(const Plan& plan, const std::string& command) {
  for (const PlannedPanel& panel : plan.panels) {
    for (const PlannedSeries& series : panel.series) {
      for (const PlannedPoint& point : series.points) {
        if (point.command == command || point.against == command) return point.command_place;
      }
    }
  }
  return "";
}

std::string csv_of(const Json& figure) {
  std::string text = "figure,panel,series,x,round,value,unit,command,seed\n";
  const auto line = [&](const Json& panel, const Json& series, const std::string& x, size_t round,
                        double value, const std::string& command) {
    const Json& seeds = figure["seeds"];
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{}\n", figure["name"].get<std::string>(),
                    csv_field(panel["name"].get<std::string>()), csv_field(series["name"].get<std::string>()),
                    csv_field(x), round, value, csv_field(panel["unit"].get<std::string>()),
                    csv_field(command), round <= seeds.size() ? seeds[round - 1].dump() : "");
  };
  for (const Json& panel : figure["panels"]) {
    for (const Json& series : panel["series"]) {
      if (series.contains("seconds")) {
        size_t second = 0;
        for (const Json& value : series["seconds"]) {
          ++second;
          line(panel, series, std::to_string(second), 1, value.get<double>(),
               series["command"].get<std::string>());
        }
        continue;
      }
      for (const Json& point : series["points"]) {
        size_t round = 0;
        for (const Json& value : point["runs"]) {
          ++round;
          line(panel, series, point["x"].get<std::string>(), round, value.get<double>(),
               point["command"].get<std::string>());
        }
      }
    }
  }
  return text;
}

}  // namespace mneme
