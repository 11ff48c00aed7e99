// Goal: every figure that is built in can be run and judged. Method: take each to machines of several sizes,
// and look whether all that it names is there.
#include "experiments/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/words.h"
#include "experiments/figure_file.h"
#include "experiments/plan.h"

namespace mneme {
namespace {

bool has_series(const Figure& figure, const FigurePanel& panel, const std::string& name) {
  const PlannedPanel planned = plan_of(figure, panel, {2, false});
  return std::ranges::find(planned.series, name, &PlannedSeries::name) != planned.series.end();
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

TEST(Catalog, EachFileIsRight) {
  EXPECT_EQ(kFigureFiles.size(), 50u);
  for (const FigureFile& file : kFigureFiles) {
    const Result<Figure> figure = built_in_figure(file.text, file.name);
    EXPECT_TRUE(figure.ok()) << figure.error().message;
  }
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
      EXPECT_TRUE(has_series(figure, *panel, claim.left.series)) << figure.name << ": " << claim.says;
      if (!claim.right.series.empty() && claim.right.series != "*") {
        EXPECT_TRUE(has_series(figure, *panel, claim.right.series)) << figure.name << ": " << claim.says;
      }
    }
  }
}

TEST(Catalog, PaperNumbersBelongToSeries) {
  for (const Figure& figure : all_figures()) {
    for (const FigurePanel& panel : figure.panels) {
      for (const PaperValue& value : panel.paper)
        EXPECT_TRUE(has_series(figure, panel, value.series)) << figure.name << ": " << value.series;
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
          // What remains is filled in as it is run.
          for (const std::string& name : names_in(command)) {
            EXPECT_TRUE(name == kServerName || name == kServersName) << figure.name << ": " << command;
          }
          EXPECT_GT(expected_seconds(command), 0) << command;
          EXPECT_EQ(plan.databases_of(command).size(), database_names_in(command).size()) << command;
        }
        for (const PlannedDatabase& database : plan.databases) {
          EXPECT_EQ(words_of(database.command).front(), "run") << database.command;
          EXPECT_TRUE(names_in(database.command).empty()) << database.command;
        }
        for (const PlannedPanel& panel : plan.panels) {
          for (const PlannedSeries& series : panel.series) {
            for (const PlannedPoint& point : series.points) {
              EXPECT_TRUE(names_in(point.value).empty()) << figure.name << ": " << point.value;
            }
          }
        }
      }
    }
  }
}

// A figure's runs depend on nothing but its file, and so do those of a figure that shares them.
TEST(Catalog, FiguresShareRunsAndDatabases) {
  const ExperimentScale scale{2, false};
  const Plan first = plan_of(*find_figure("pacman-figure-18"), scale);
  const Plan second = plan_of(*find_figure("pacman-figure-19"), scale);
  ASSERT_EQ(first.databases.size(), 1u);
  ASSERT_EQ(second.databases.size(), 1u);
  EXPECT_EQ(first.databases[0].command, "run tpcc --warehouses 2 --transactions 100000 --threads 2");
  EXPECT_EQ(first.databases[0].command, second.databases[0].command);
  const std::string shared =
      "recover @tpcc-command --scheme clr-p --conflicts table --replay static --threads 2";
  for (const Plan* const plan : {&first, &second})
    EXPECT_NE(std::ranges::find(plan->commands, shared), plan->commands.end());
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
