// Goal: medians, spreads and verdicts are what the measurements say. Method: a figure of made-up
// measurements, whose outcome is known.
#include "experiments/evaluation.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

using Json = nlohmann::ordered_json;
using enum FigureClaim::Relation;

Figure figure_of(std::vector<FigureClaim> claims) {
  return {.name = "figure",
          .axes = {{.name = "threads", .values = {{"1..cores", "1..cores"}}}},
          .panels = {{.name = "speed",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .unit = "a second",
                      .x_axis = "threads",
                      .series = {{.name = "fast", .command = "run fast {threads}", .value = "rate"},
                                 {.name = "slow", .command = "run slow {threads}", .value = "rate"},
                                 {.name = "gain",
                                  .command = "run fast {threads}",
                                  .value = "rate",
                                  .against = "run slow {threads}"}},
                      .paper = {{"fast", "40", 1000}}}},
          .claims = std::move(claims)};
}

std::vector<Json> rounds(const std::vector<double>& rates) {
  std::vector<Json> all;
  for (const double rate : rates) all.push_back({{"result", {{"rate", rate}}}});
  return all;
}

const Measurements kMeasured = {{"run fast 1", rounds({10, 30, 20})},
                                {"run fast 2", rounds({40, 41, 42})},
                                {"run slow 1", rounds({15, 16, 10})},
                                {"run slow 2", rounds({10, 10, 21})}};

Json evaluated(std::vector<FigureClaim> claims, uint32_t cores = 2) {
  const Figure figure = figure_of(std::move(claims));
  const Result<Json> json = evaluate(plan_of(figure, {cores, false}), kMeasured);
  EXPECT_TRUE(json.ok());
  return *json;
}

Json verdict(const FigureClaim& claim, uint32_t cores = 2) {
  return evaluated({claim}, cores)["claims"][0];
}

TEST(Evaluation, MediansAndSpreads) {
  const Json panel = evaluated({})["panels"][0];
  EXPECT_EQ(panel["xs"], Json({"1", "2"}));
  const Json& fast = panel["series"][0]["points"][0];
  EXPECT_EQ(fast["median"], 20);
  EXPECT_EQ(fast["min"], 10);
  EXPECT_EQ(fast["max"], 30);
  EXPECT_EQ(fast["runs"], Json({10.0, 30.0, 20.0}));
  EXPECT_EQ(fast["command"], "mneme run fast 1");
  EXPECT_EQ(fast["low"], 10);
  EXPECT_EQ(fast["high"], 30);
  // Round by round: 40/10, 41/10, 42/21.
  EXPECT_EQ(panel["series"][2]["points"][1]["median"], 4);
}

TEST(Evaluation, VerdictsGoByMedians) {
  const FigureClaim at_most_threads = {
      .says = "", .panel = "speed", .left = {"fast"}, .relation = kAbove, .right = {"slow"}};
  Json found = verdict(at_most_threads);
  EXPECT_EQ(found["holds"], true);
  EXPECT_EQ(found["apart"], true);
  FigureClaim claim = at_most_threads;
  claim.left.x = claim.right.x = "1";
  found = verdict(claim);
  EXPECT_EQ(found["holds"], true);
  EXPECT_EQ(found["apart"], false);
  claim.relation = kBelow;
  EXPECT_EQ(verdict(claim)["holds"], false);
  claim = at_most_threads;
  claim.times = 5;
  EXPECT_EQ(verdict(claim)["holds"], false);
}

TEST(Evaluation, AllPointsMustHold) {
  FigureClaim claim = {.says = "",
                       .panel = "speed",
                       .left = {"fast", "each"},
                       .relation = kAbove,
                       .times = 1.5,
                       .right = {"slow", "each"}};
  EXPECT_EQ(verdict(claim)["holds"], false);  // 20 against 1.5 times 15
  claim.times = 1.2;
  EXPECT_EQ(verdict(claim)["holds"], true);
  EXPECT_NE(verdict(claim)["found"].get<std::string>().find("at 1"), std::string::npos);
  claim = {.says = "", .panel = "speed", .left = {"fast"}, .relation = kAbove, .right = {"*"}};
  EXPECT_EQ(verdict(claim)["holds"], true);
}

TEST(Evaluation, AgainstANumber) {
  FigureClaim claim = {.says = "", .panel = "speed", .left = {"gain"}, .relation = kAbove, .times = 3.9};
  EXPECT_EQ(verdict(claim)["holds"], true);
  claim.times = 4.1;
  EXPECT_EQ(verdict(claim)["holds"], false);
}

TEST(Evaluation, NothingToCompareIsOpen) {
  const FigureClaim claim = {
      .says = "", .panel = "speed", .left = {"fast", "last"}, .relation = kAbove, .right = {"fast", "first"}};
  EXPECT_EQ(verdict(claim)["holds"], true);
  EXPECT_TRUE(verdict(claim, 1)["holds"].is_null());
}

TEST(Evaluation, WhatTheCommandDoesNotTell) {
  Figure figure = figure_of({});
  figure.panels[0].series[0].value = "speed";
  const Result<Json> json = evaluate(plan_of(figure, {2, false}), kMeasured);
  ASSERT_FALSE(json.ok());
  EXPECT_NE(json.error().message.find("run fast 1: the command's JSON has no number \"speed\""),
            std::string::npos)
      << json.error().message;
}

TEST(Evaluation, ATimelineShowsTheRunWithTheMedianMean) {
  const auto run = [](std::vector<double> seconds, double checkpoint) {
    const Json checkpoints = Json::array({{{"begin_seconds", checkpoint}, {"seconds", 0.5}}});
    return Json{{"result", {{"run", {{"each", std::move(seconds)}, {"checkpoints", checkpoints}}}}}};
  };
  const Figure figure = {
      .name = "figure",
      .panels = {
          {.name = "time",
           .chart = Chart::kTimeline,
           .series = {{.name = "s", .command = "run: run x\nrecover: recover y", .value = "run.each"}}}}};
  const Plan plan = plan_of(figure, {2, false});
  const Result<Json> json =
      evaluate(plan, {{plan.commands[0], {run({1, 1}, 1), run({5, 5}, 2), run({3, 2}, 3)}}});
  ASSERT_TRUE(json.ok()) << json.error().message;
  const Json& series = (*json)["panels"][0]["series"][0];
  EXPECT_EQ(series["seconds"], Json({3.0, 2.0}));
  EXPECT_EQ(series["checkpoints"], Json::array({{{"begin", 3.0}, {"end", 3.5}}}));
  EXPECT_TRUE(check_values(plan, plan.commands[0], {{"run", {{"each", {1.0}}}}}).ok());
  EXPECT_FALSE(check_values(plan, plan.commands[0], {{"run", {{"each", 1.0}}}}).ok());
}

TEST(Evaluation, ClaimsOfCoresAndOfAllOthers) {
  FigureClaim claim = {.says = "",
                       .panel = "speed",
                       .left = {"fast", "{cores}"},
                       .relation = kAbove,
                       .right = {"*", "{cores}"}};
  EXPECT_EQ(verdict(claim, 2)["holds"], true);
  EXPECT_EQ(verdict(claim, 1)["found"], "20.0 against 15.0 at 1, the closest of 2");
}

TEST(Evaluation, WhatWasInterruptedHasFewerRunsAndPoints) {
  const Figure figure = figure_of({{.says = "", .panel = "speed", .left = {"fast"}, .right = {"slow"}}});
  const Measurements some = {{"run fast 1", rounds({10, 30})}, {"run slow 1", rounds({20})}};
  const Result<Json> json = evaluate(plan_of(figure, {2, false}), some);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["partial"], true);
  EXPECT_EQ((*json)["measured"], 3);
  EXPECT_EQ((*json)["planned"], 12);
  const Json& series = (*json)["panels"][0]["series"];
  EXPECT_EQ(series[0]["points"].size(), 1u);
  EXPECT_EQ(series[0]["points"][0]["runs"], Json({10.0, 30.0}));
  EXPECT_TRUE(series[1]["points"][0]["low"].is_null());
  // Each round against the same one of the other command.
  EXPECT_EQ(series[2]["points"][0]["runs"], Json::array({0.5}));
  EXPECT_EQ((*json)["claims"][0]["holds"], false);
  EXPECT_EQ(evaluated({})["partial"], false);
}

TEST(Evaluation, Csv) {
  const std::string csv = csv_of(evaluated({}));
  EXPECT_TRUE(
      csv.starts_with("figure,panel,series,x,round,value,unit,command,seed\nfigure,speed,fast,1,1,10,a "
                      "second,mneme run fast 1,\n"))
      << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * 2 * 3);
}

TEST(Evaluation, Numbers) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1234567.8), "1,234,568");
  EXPECT_EQ(number_text(-1234), "-1,234");
  EXPECT_EQ(number_text(123), "123");
  EXPECT_EQ(number_text(12.345), "12.3");
  EXPECT_EQ(number_text(0.012345), "0.0123");
}

}  // namespace
}  // namespace mneme
