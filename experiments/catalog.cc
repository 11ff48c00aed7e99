#include "experiments/catalog.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mneme {
namespace {

constexpr std::pair<std::string_view, std::string_view> kDatabases[] = {
    {"tpcc-command", "run tpcc --warehouses $W --transactions $calls --threads $cores"},
    {"tpcc-logical", "run tpcc --warehouses $W --transactions $calls --threads $cores --log logical"},
    {"tpcc-physical", "run tpcc --warehouses $W --transactions $calls --threads $cores --log physical"},
    {"tpcc-adhoc-25", "run tpcc --warehouses $W --transactions $calls --threads $cores --adhoc 25"},
    {"tpcc-adhoc-50", "run tpcc --warehouses $W --transactions $calls --threads $cores --adhoc 50"},
    {"tpcc-adhoc-75", "run tpcc --warehouses $W --transactions $calls --threads $cores --adhoc 75"},
    {"tpcc-adhoc-100", "run tpcc --warehouses $W --transactions $calls --threads $cores --adhoc 100"},
    {"smallbank-command", "run smallbank --transactions $calls --threads $cores --hotspot-percent 0"},
    {"smallbank-logical",
     "run smallbank --transactions $calls --threads $cores --hotspot-percent 0 --log logical"},
    {"smallbank-physical",
     "run smallbank --transactions $calls --threads $cores --hotspot-percent 0 --log physical"},
};

}  // namespace

const std::vector<Figure>& all_figures() {
  static const std::vector<Figure> figures = [] {
    std::vector<Figure> all;
    for (auto* part :
         {pacman_figures, eleda_figures, aether_figures, nvm_figures, seplog_figures, mneme_figures}) {
      std::ranges::move(part(), std::back_inserter(all));
    }
    return all;
  }();
  return figures;
}

const Figure* find_figure(std::string_view name) {
  const auto found = std::ranges::find(all_figures(), name, &Figure::name);
  return found == all_figures().end() ? nullptr : &*found;
}

std::string_view database_command(std::string_view name) {
  const auto found =
      std::ranges::find(kDatabases, name, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kDatabases) ? std::string_view() : found->second;
}

std::string_view name_of(Chart chart) {
  switch (chart) {
    case Chart::kLines:
      return "lines";
    case Chart::kBars:
      return "bars";
    case Chart::kStack:
      return "stack";
    case Chart::kQuantiles:
      return "quantiles";
    case Chart::kTimeline:
      return "timeline";
  }
  return "";
}

}  // namespace mneme
