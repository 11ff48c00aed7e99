#include "experiments/claim_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/plan.h"

namespace mneme {
namespace {

using Kind = TomlValue::Kind;
using Words = std::vector<std::string>;

const Words kClaimKeys = {"says", "plot", "left", "is", "times", "right", "reason"};
const Words kCellKeys = {"series", "x"};
const Words kRelations = {"above", "below"};

class ClaimReader {
 public:
  ClaimReader(TomlReader& in, const ExperimentScale& scale, Figure& figure)
      : in_(in), scale_(scale), figure_(figure) {}

  void read(const TomlValue& root) {
    const bool can_judge = !in_.has_problems();
    for (const TomlValue* const each : in_.tables(root, "claims", "claims (written [[claims]])", "a claim"))
      read_claim(*each, can_judge);
  }

 private:
  void read_claim(const TomlValue& each, bool can_judge) {
    in_.check_keys(each, "a claim", kClaimKeys);
    FigureClaim claim;
    claim.says = in_.required_text(each, "says", "a claim");
    claim.reason = in_.prose(each, "reason");
    claim.relation = in_.choice(each, "is", kRelations, "above") == "above" ? FigureClaim::Relation::kAbove
                                                                            : FigureClaim::Relation::kBelow;
    if (TomlReader::find(each, "is") == nullptr)
      in_.problem(each.place, "a claim needs is = \"above\" or is = \"below\"");
    if (TomlReader::find(each, "left") == nullptr)
      in_.problem(each.place,
                  "a claim needs left = { series = ..., x = ... }, the side that is above or below");
    const TomlValue* const times = TomlReader::find(each, "times");
    const TomlValue* const right = TomlReader::find(each, "right");
    if (times != nullptr && times->kind != Kind::kInteger && times->kind != Kind::kFloat)
      in_.problem(times->place, fmt::format("times must be a number, and is {}", times->kind_name()));
    if (times != nullptr) claim.times = times->number;
    if (times == nullptr && right == nullptr) {
      in_.problem(each.place,
                  "a claim needs right = { series = ..., x = ... }, or times = the number to compare with");
    }
    if (!can_judge) return;
    const FigurePanel* const panel = panel_of(each);
    if (panel == nullptr) return;
    if (panel->chart == Chart::kTimeline) {
      in_.problem(each.place, "a claim compares points, and a timeline has none");
      return;
    }
    claim.panel = panel->name;
    claim.left = read_cell(each, "left", *panel);
    if (right != nullptr) claim.right = read_cell(each, "right", *panel);
    figure_.claims.push_back(std::move(claim));
  }

  const FigurePanel* panel_of(const TomlValue& claim) {
    Words names;
    for (const FigurePanel& panel : figure_.panels) names.push_back(panel.name);
    const TomlValue* const plot = TomlReader::find(claim, "plot");
    const std::string name = in_.text(claim, "plot");
    if (plot == nullptr && names.size() == 1) return &figure_.panels[0];
    const auto found = std::ranges::find(figure_.panels, name, &FigurePanel::name);
    if (found != figure_.panels.end()) return &*found;
    in_.problem(plot == nullptr ? claim.place : plot->place,
                fmt::format("the claim needs plot = the name of one{}", TomlReader::advice(name, names)));
    return nullptr;
  }

  FigureCell read_cell(const TomlValue& claim, std::string_view key, const FigurePanel& panel) {
    FigureCell cell;
    const TomlValue* const value = TomlReader::find(claim, key);
    if (panel.series.size() == 1 && panel.series_axis.empty()) cell.series = panel.series[0].name;
    if (value == nullptr || !in_.is(*value, Kind::kTable, key)) return cell;
    in_.check_keys(*value, "a side of a claim", kCellKeys);
    if (TomlReader::find(*value, "series") != nullptr) cell.series = in_.text(*value, "series");
    const TomlValue* const x = TomlReader::find(*value, "x");
    if (x != nullptr && x->kind == Kind::kText) {
      cell.x = x->text;
    } else if (x != nullptr && (x->kind == Kind::kInteger || x->kind == Kind::kFloat)) {
      cell.x = fmt::format("{}", x->number);
    } else if (x != nullptr) {
      in_.problem(x->place, fmt::format("x must be a value of {}, and is {}", panel.x_axis, x->kind_name()));
      return cell;
    }
    const PlannedPanel planned = plan_of(figure_, panel, {scale_.cores, false});
    Words names, xs = planned.xs;
    for (const PlannedSeries& series : planned.series) names.push_back(series.name);
    if (cell.series.empty() || (!is_among(names, cell.series) && (cell.series != "*" || key == "left"))) {
      in_.problem(value->place, fmt::format("the plot {} has no series \"{}\"{}", panel.name, cell.series,
                                            TomlReader::advice(cell.series, names)));
    }
    const std::string filled = with_names(cell.x, fixed_texts(figure_, {}, scale_));
    xs.insert(xs.end(), {"first", "last", "each"});
    if (!is_among(xs, filled)) {
      in_.problem(value->place,
                  fmt::format("{} has no value {}{}", panel.x_axis, filled, TomlReader::advice(filled, xs)));
    }
    return cell;
  }

  TomlReader& in_;
  const ExperimentScale scale_;
  Figure& figure_;
};

}  // namespace

void read_claims(TomlReader& in, const TomlValue& root, const ExperimentScale& scale, Figure& figure) {
  ClaimReader(in, scale, figure).read(root);
}

}  // namespace mneme
