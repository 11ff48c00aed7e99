#include "cli/output/experiment_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/words.h"
#include "cli/output/text.h"
#include "experiments/evaluation.h"

namespace mneme {
namespace {

constexpr size_t kTextWidth = 100;

// Lines of at most kTextWidth, each behind `indent`.
std::string wrapped(const std::string& text, const std::string& indent) {
  std::string out;
  size_t column = 0;
  for (const std::string& word : words_of(text)) {
    if (column > 0 && column + 1 + word.size() > kTextWidth) {
      out += '\n';
      column = 0;
    }
    out += column == 0 ? indent : " ";
    column += (column == 0 ? indent.size() : 1) + word.size();
    out += word;
  }
  return out + "\n";
}

const Json* point_at(const Json& points, const std::string& x) {
  for (const Json& point : points) {
    if (point["x"] == x) return &point;
  }
  return nullptr;
}

std::string cell_text(const Json* point) {
  if (point == nullptr) return "";
  const std::string median = number_text((*point)["median"].get<double>());
  if ((*point)["runs"].size() < 2) return median;
  return fmt::format("{} ({} to {})", median, number_text((*point)["low"].get<double>()),
                     number_text((*point)["high"].get<double>()));
}

std::string timeline_text(const Json& panel) {
  std::string text;
  for (const Json& series : panel["series"]) {
    std::string seconds;
    for (const Json& value : series["seconds"]) seconds += " " + number_text(value.get<double>());
    text += fmt::format("  {}:{}{}\n", series["name"].get<std::string>(), seconds,
                        series["checkpoints"].empty()
                            ? ""
                            : fmt::format("; {}", counted(series["checkpoints"].size(), "checkpoint")));
  }
  return text;
}

std::string panel_text(const Json& panel) {
  std::string text = fmt::format("\n  {} ({}), by {}\n", panel["title"].get<std::string>(),
                                 panel["unit"].get<std::string>(), panel["x"].get<std::string>());
  if (panel["chart"] == "timeline") return text + timeline_text(panel);
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const Json& x : panel["xs"]) rows[0].push_back(x.get<std::string>());
  for (const Json& series : panel["series"]) {
    std::vector<std::string> row = {series["name"].get<std::string>()};
    for (const Json& x : panel["xs"])
      row.push_back(cell_text(point_at(series["points"], x.get<std::string>())));
    rows.push_back(std::move(row));
  }
  text += table_text(rows);
  std::string paper;
  for (const Json& value : panel["paper"]) {
    const std::string x = value["x"].get<std::string>();
    paper += fmt::format("{}{} at {}: {}", paper.empty() ? "" : "; ", value["series"].get<std::string>(), x,
                         number_text(value["value"].get<double>()));
  }
  if (!paper.empty())
    text += wrapped(fmt::format("the paper ({}): {}", panel["unit"].get<std::string>(), paper), "  ");
  return text;
}

std::string claim_text(const Json& claim) {
  const std::string says = claim["says"].get<std::string>();
  if (claim["holds"].is_null())
    return wrapped(fmt::format("open: {}: these runs have nothing to compare", says), "  ");
  const bool holds = claim["holds"].get<bool>();
  std::string text = fmt::format("{}: {}: {}", holds ? "yes" : "no", says, claim["found"].get<std::string>());
  if (!claim["apart"].get<bool>()) text += ", with runs that overlap";
  const std::string reason = claim["reason"].get<std::string>();
  if (!holds && !reason.empty()) text += ". " + reason;
  return wrapped(text, "  ");
}

}  // namespace

std::string experiment_text(const Json& figure) {
  std::string text = fmt::format("{}: {} ({})\n", figure["name"].get<std::string>(),
                                 figure["title"].get<std::string>(), figure["paper"].get<std::string>());
  for (const Json& sentence : figure["paper_says"])
    text += wrapped("The paper: " + sentence.get<std::string>(), "  ");
  const std::string asks = figure.value("asks", "");
  if (!asks.empty()) text += wrapped("Asked: " + asks, "  ");
  const std::string scaled = figure["scaled"].get<std::string>();
  if (!scaled.empty()) text += wrapped("Here: " + scaled, "  ");
  if (figure["partial"].get<bool>()) {
    text += fmt::format("  Partial: {} of {} runs have been made\n", figure["measured"].get<size_t>(),
                        figure["planned"].get<size_t>());
  }
  for (const Json& panel : figure["panels"]) text += panel_text(panel);
  if (!figure["claims"].empty())
    text += figure.contains("file") ? "\n  What is claimed, by medians\n"
                                    : "\n  The paper's orderings, by medians\n";
  for (const Json& claim : figure["claims"]) text += claim_text(claim);
  return text + "\n";
}

std::string rough_time(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  return fmt::format("{:.0f} min", std::round(seconds / 60));
}

std::string experiment_list(const std::vector<Plan>& plans, bool with_commands) {
  std::string text, paper;
  for (const Plan& plan : plans) {
    const Figure& figure = *plan.figure;
    if (figure.paper != paper) text += fmt::format("{}{}\n", paper.empty() ? "" : "\n", figure.paper);
    paper = figure.paper;
    const std::string time = plan.panels.empty() ? "not here" : rough_time(plan.expected_seconds());
    text +=
        fmt::format("  {:<18} {:>8}  {} {}\n", figure.name, time, figure.in_tour ? "*" : " ", figure.title);
    if (!figure.not_here.empty()) text += wrapped(figure.not_here, std::string(33, ' '));
    if (!with_commands) continue;
    for (const std::string& command : typed_commands(plan)) text += fmt::format("    {}\n", command);
  }
  return text +
         "\n* in the tour that --all takes. Figures that share runs share them when they are run into the "
         "same folder.\n";
}

}  // namespace mneme
