// Goal: every definition can be run and judged. Method: take each to machines of several sizes, and look
// whether all that it names is there.
#include "experiments/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "experiments/plan.h"

namespace mneme {
namespace {

bool has_series(const FigurePanel& panel, const std::string& name) {
  return std::ranges::find(panel.series, name, &FigureSeries::name) != panel.series.end();
}

TEST(Catalog, NamesAreThoseOfThePapers) {
  std::set<std::string> names;
  for (const Figure& figure : all_figures()) EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
  const auto expect = [&](const std::string& paper, const std::string& kind, int first, int last) {
    for (int number = first; number <= last; ++number) {
      const std::string name = paper + "-" + kind + "-" + std::to_string(number);
      EXPECT_EQ(names.erase(name), 1u) << name;
      ASSERT_NE(find_figure(name), nullptr);
      EXPECT_EQ(find_figure(name)->name, name);
    }
  };
  expect("pacman", "figure", 11, 21);
  expect("pacman", "table", 1, 3);
  expect("eleda", "figure", 8, 21);
  expect("aether", "figure", 3, 6);
  expect("aether", "figure", 9, 13);
  expect("nvm", "figure", 4, 8);
  expect("seplog", "figure", 3, 7);
  expect("seplog", "table", 1, 2);
  expect("mneme", "table", 1, 1);
  EXPECT_TRUE(names.empty()) << *names.begin();
  EXPECT_EQ(find_figure("pacman-figure-1"), nullptr);
}

TEST(Catalog, AFigureIsMeasuredOrToldWhyNot) {
  for (const Figure& figure : all_figures()) {
    EXPECT_FALSE(figure.title.empty() || figure.paper.empty() || figure.paper_says.empty()) << figure.name;
    EXPECT_EQ(figure.panels.empty(), !figure.not_here.empty()) << figure.name;
    if (figure.panels.empty()) continue;
    EXPECT_FALSE(figure.scaled.empty()) << figure.name;
    EXPECT_FALSE(figure.claims.empty()) << figure.name;
  }
}

TEST(Catalog, ClaimsNameWhatIsMeasured) {
  for (const Figure& figure : all_figures()) {
    std::set<std::string> panels;
    for (const FigurePanel& panel : figure.panels)
      EXPECT_TRUE(panels.insert(panel.name).second) << figure.name;
    for (const FigureClaim& claim : figure.claims) {
      const auto panel = std::ranges::find(figure.panels, claim.panel, &FigurePanel::name);
      ASSERT_NE(panel, figure.panels.end()) << figure.name << ": " << claim.says;
      EXPECT_TRUE(has_series(*panel, claim.left.series)) << figure.name << ": " << claim.says;
      if (!claim.right.series.empty() && claim.right.series != "*") {
        EXPECT_TRUE(has_series(*panel, claim.right.series)) << figure.name << ": " << claim.says;
      }
    }
  }
}

TEST(Catalog, PaperNumbersBelongToSeries) {
  for (const Figure& figure : all_figures()) {
    for (const FigurePanel& panel : figure.panels) {
      for (const PaperValue& value : panel.paper)
        EXPECT_TRUE(has_series(panel, value.series)) << figure.name << ": " << value.series;
    }
  }
}

TEST(Catalog, CommandsAreFilledIn) {
  const std::set<std::string> known = {"run", "recover", "logbench", "slice"};
  for (const uint32_t cores : {1u, 2u, 3u, 40u}) {
    for (const bool quick : {false, true}) {
      const ExperimentScale scale{cores, quick};
      for (const Figure& figure : all_figures()) {
        const Plan plan = plan_of(figure, scale);
        for (const std::string& command : plan.commands) {
          EXPECT_TRUE(known.contains(words_of(command).front())) << figure.name << ": " << command;
          const std::string rest = replaced(replaced(command, "$servers", ""), "$server", "");
          EXPECT_EQ(rest.find('$'), std::string::npos) << figure.name << ": " << command;
          EXPECT_GT(expected_seconds(command), 0) << command;
          if (const auto database = database_of(command)) {
            EXPECT_FALSE(database_command(*database).empty()) << figure.name << ": " << command;
          }
        }
        for (const PlannedPanel& panel : plan.panels) {
          for (const PlannedSeries& series : panel.series) {
            for (const PlannedPoint& point : series.points) {
              EXPECT_EQ(point.value.find('$'), std::string::npos) << figure.name << ": " << point.value;
            }
          }
        }
      }
    }
  }
}

TEST(Catalog, TheTourHasEveryPaperAndFits) {
  std::set<std::string> papers, toured;
  std::set<std::string> commands;
  double seconds = 0;
  for (const Figure& figure : all_figures()) {
    if (figure.paper != "Mneme") papers.insert(figure.paper);
    if (!figure.in_tour) continue;
    toured.insert(figure.paper);
    for (const std::string& command : plan_of(figure, {2, false}).commands) {
      if (commands.insert(command).second) seconds += 3 * expected_seconds(command);
    }
  }
  EXPECT_EQ(papers, toured);
  EXPECT_LT(seconds, 19 * 60);
}

}  // namespace
}  // namespace mneme
