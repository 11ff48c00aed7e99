// Goal: a comparison finds a planted loss, finds none where there is none, and says what differs besides.
//
// Method: made-up results with noise by fixed seeds, a hundred comparisons each. The losses and the noise are
// those that compare.h promises something about.
#include "measurement/comparison/compare.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

namespace mneme {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int kTries = 100;
constexpr int kRuns = 20;

class Noise {
 public:
  explicit Noise(uint64_t seed) : random_(seed) {}

  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * 3.14159265358979 * uniform()); }
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) / 9007199254740992.0; }

 private:
  std::mt19937_64 random_;
};

// A run: `speed` 1 is the usual one, `noise` its relative standard deviation. One run of ten, if `stalls`,
// is slowed by a neighbour.
ResultFields made_up_run(Noise& random, double speed, double noise, bool stalls = false) {
  const double slowed = stalls && random.uniform() < 0.1 ? 1 - 0.3 * random.uniform() : 1;
  const double tps = 50'000 * speed * (1 + noise * random.normal()) * slowed;
  Json latencies;
  latencies["p99"] = 200 / speed * (1 + 3 * noise * random.normal());
  return *result_fields(
      "a", {{"command", "run"}, {"throughput_tps", tps}, {"latency_us", latencies}, {"rate", nullptr}});
}

struct Outcomes {
  int worse = 0;
  int better = 0;
};

// Sides that took turns on a machine whose speed drifts: by a tenth up or down over some ten runs.
Outcomes outcomes_of_turns(double speed, double noise) {
  Noise random(2027);
  Outcomes outcomes;
  for (int i = 0; i < kTries; ++i) {
    std::vector<ResultFields> first;
    std::vector<ResultFields> second;
    double machine = 1;
    for (int run = 0; run < kRuns; ++run) {
      machine = 1 + 0.9 * (machine - 1) + 0.05 * random.normal();
      for (const bool of_first : {run % 2 == 0, run % 2 != 0}) {
        ResultFields result = made_up_run(random, machine * (of_first ? 1 : speed), noise);
        result.started = fmt::format("2026-01-01T00:{:02}:00Z", run);
        (of_first ? first : second).push_back(std::move(result));
      }
    }
    // Names of files need not be in the order of time.
    std::ranges::reverse(first);
    const ResultComparison comparison = *compare_results(first, second);
    EXPECT_TRUE(comparison.in_pairs);
    outcomes.worse += !comparison.losses().empty();
    outcomes.better += comparison.metrics.front().finding == Finding::kBetter;
  }
  return outcomes;
}

Outcomes outcomes_of(double speed, double noise, bool stalls = false) {
  Noise random(2026);
  Outcomes outcomes;
  for (int i = 0; i < kTries; ++i) {
    std::vector<ResultFields> first;
    std::vector<ResultFields> second;
    for (int run = 0; run < kRuns; ++run) {
      first.push_back(made_up_run(random, 1, noise, stalls));
      second.push_back(made_up_run(random, speed, noise, stalls));
    }
    const ResultComparison comparison = *compare_results(first, second);
    EXPECT_EQ(comparison.metrics.front().path, "throughput_tps");
    EXPECT_TRUE(comparison.can_judge);
    outcomes.worse += !comparison.losses().empty();
    outcomes.better += comparison.metrics.front().finding == Finding::kBetter;
  }
  return outcomes;
}

TEST(Compare, FindsALossOfThreePercent) {
  const Outcomes outcomes = outcomes_of(0.97, 0.02);
  EXPECT_GE(outcomes.worse, 95);
  EXPECT_EQ(outcomes.better, 0);
  EXPECT_GE(outcomes_of(0.97, 0.025).worse, 90);
}

TEST(Compare, FindsItInTurnsOnAMachineThatDrifts) {
  const Outcomes outcomes = outcomes_of_turns(0.97, 0.02);
  EXPECT_GE(outcomes.worse, 95);
  EXPECT_EQ(outcomes.better, 0);
  const Outcomes equal = outcomes_of_turns(1, 0.02);
  EXPECT_LE(equal.worse, 5);
  EXPECT_LE(equal.better, 5);
}

TEST(Compare, OnlyRunsBesideEachOtherArePairs) {
  const auto in_pairs = [](const std::vector<std::string>& before, const std::vector<std::string>& after) {
    const auto side = [](const std::vector<std::string>& times) {
      std::vector<ResultFields> results;
      for (const std::string& time : times)
        results.push_back(
            *result_fields("a", {{"command", "run"}, {"throughput_tps", 5}, {"started", time}}));
      return results;
    };
    return compare_results(side(before), side(after))->in_pairs;
  };
  std::vector<std::string> even;
  std::vector<std::string> odd;
  std::vector<std::string> late;
  for (int i = 0; i < 10; ++i) {
    even.push_back(fmt::format("{:02}", 2 * i));
    odd.push_back(fmt::format("{:02}", 2 * i + 1));
    late.push_back(fmt::format("{:02}", 20 + i));
  }
  EXPECT_TRUE(in_pairs(even, odd));
  EXPECT_TRUE(in_pairs(odd, even));
  EXPECT_FALSE(in_pairs(even, late));
  odd[3] = odd[4];
  EXPECT_FALSE(in_pairs(even, odd));
  odd.pop_back();
  EXPECT_FALSE(in_pairs(even, odd));
  EXPECT_FALSE(in_pairs(std::vector<std::string>(10, ""), std::vector<std::string>(10, "")));
}

// The second of each pair is 10% worse, while pairs differ by more.
TEST(Compare, AChangeInTurnsIsThatOfThePairs) {
  std::vector<ResultFields> first;
  std::vector<ResultFields> second;
  for (int i = 1; i <= 10; ++i) {
    const std::string time = fmt::format("{:02}", i);
    first.push_back(
        *result_fields("a", {{"command", "run"}, {"throughput_tps", 100 * i}, {"started", time}}));
    second.push_back(
        *result_fields("b", {{"command", "run"}, {"throughput_tps", 90 * i}, {"started", time}}));
  }
  const ResultComparison comparison = *compare_results(first, second);
  EXPECT_NEAR(*comparison.metrics[0].change, -0.1, 1e-12);
  EXPECT_NEAR(comparison.metrics[0].interval->high, -0.1, 1e-12);
  EXPECT_EQ(comparison.metrics[0].probability, 2.0 / 1024);
  EXPECT_THAT(comparison.losses(), ElementsAre("throughput_tps"));
}

TEST(Compare, FindsItBesideStalls) {
  EXPECT_GE(outcomes_of(0.97, 0.015, true).worse, 90);
}

TEST(Compare, FindsNoLossOfEqualSides) {
  for (const double noise : {0.02, 0.03}) {
    const Outcomes outcomes = outcomes_of(1, noise);
    EXPECT_LE(outcomes.worse, 5);
    EXPECT_LE(outcomes.better, 5);
  }
  EXPECT_LE(outcomes_of(1, 0.02, true).worse, 5);
}

TEST(Compare, AGainIsNoLoss) {
  const Outcomes outcomes = outcomes_of(1.03, 0.02);
  EXPECT_EQ(outcomes.worse, 0);
  EXPECT_GE(outcomes.better, 95);
}

std::vector<ResultFields> results(const std::vector<Json>& objects) {
  std::vector<ResultFields> fields;
  for (const Json& object : objects) fields.push_back(*result_fields("made up", object));
  return fields;
}

TEST(Compare, SaysWhatDiffersBesides) {
  const std::vector<ResultFields> first =
      results({{{"command", "run"},
                {"throughput_tps", 5},
                {"threads", 2},
                {"rate", nullptr},
                {"started", "then"},
                {"command_line", "a/mneme run tpcc --data-dir /x --json=q"},
                {"build", {{"flags", "-O2"}}}}});
  const std::vector<ResultFields> second =
      results({{{"command", "run"},
                {"throughput_tps", 5},
                {"threads", 4},
                {"started", "now"},
                {"command_line", "b/mneme run tpcc --json r --data-dir=y"},
                {"build", {{"flags", "-O2"}, {"type", "Debug"}}}}});
  const ResultComparison comparison = *compare_results(first, second);
  ASSERT_EQ(comparison.settings.size(), 2u);
  EXPECT_EQ(comparison.settings[0].path, "build.type");
  EXPECT_EQ(comparison.settings[0].first, "-");
  EXPECT_EQ(comparison.settings[0].second, "Debug");
  EXPECT_EQ(comparison.settings[1].path, "threads");
  EXPECT_FALSE(comparison.can_judge);
  EXPECT_TRUE(comparison.losses().empty());
}

TEST(Compare, CallsAtARateAreJudgedByTheirLatency) {
  std::vector<Json> fast;
  std::vector<Json> slow;
  for (int i = 0; i < 6; ++i) {
    const Json run = {{"command", "run"}, {"rate", 100}, {"throughput_tps", 100 + i}};
    fast.push_back(run);
    slow.push_back(run);
    fast.back()["latency_us"] = {{"p50", 10 + i}, {"p99", 50 + i}};
    slow.back()["latency_us"] = {{"p50", 20 + i}, {"p99", 50 + i}};
  }
  EXPECT_THAT(compare_results(results(fast), results(slow))->losses(), ElementsAre("latency_us.p50"));
  EXPECT_TRUE(compare_results(results(slow), results(fast))->losses().empty());
}

TEST(Compare, EachCommandHasItsHeadline) {
  const auto losses = [](const Json& before, const Json& after) {
    return compare_results(results(std::vector<Json>(6, before)), results(std::vector<Json>(6, after)))
        ->losses();
  };
  EXPECT_THAT(losses({{"command", "recover"}, {"total_seconds", 1.0}},
                     {{"command", "recover"}, {"total_seconds", 1.1}}),
              ElementsAre("total_seconds"));
  EXPECT_TRUE(losses({{"command", "recover"}, {"total_seconds", 1.1}},
                     {{"command", "recover"}, {"total_seconds", 1.0}})
                  .empty());
  const auto buffers = [](double scan) {
    return Json{
        {"command", "logbench"},
        {"results",
         {{{"buffer", "scan"}, {"inserts_per_s", scan}}, {{"buffer", "mutex"}, {"inserts_per_s", 3}}}}};
  };
  EXPECT_THAT(losses(buffers(9), buffers(8)), ElementsAre("results.scan.inserts_per_s"));
  EXPECT_THAT(losses({{"command", "crash"}, {"schemes", {{"clr", {{"seconds", 1}}}}}},
                     {{"command", "crash"}, {"schemes", {{"clr", {{"seconds", 2}}}}}}),
              ElementsAre("schemes.clr.seconds"));
}

// Under the counter of instructions, times are the counter's.
TEST(Compare, CountedInstructionsDecideAlone) {
  for (const char* command : {"run", "recover"}) {
    const char* const time = command == std::string("run") ? "throughput_tps" : "total_seconds";
    std::vector<Json> before;
    std::vector<Json> after;
    for (int i = 0; i < 6; ++i) {
      before.push_back({{"command", command}, {time, 100}, {"instructions_per_call", 4000 + i}});
      after.push_back({{"command", command}, {time, 100}, {"instructions_per_call", 4120 + i}});
    }
    EXPECT_THAT(compare_results(results(before), results(after))->losses(),
                ElementsAre("instructions_per_call"));
    EXPECT_TRUE(compare_results(results(after), results(before))->losses().empty());
    for (Json& result : after) result.update({{time, 999}, {"instructions_per_call", 4000}});
    EXPECT_TRUE(compare_results(results(before), results(after))->losses().empty());
    EXPECT_TRUE(compare_results(results(after), results(before))->losses() ==
                std::vector<std::string>{"instructions_per_call"});
  }
}

// The headline decides; what else is worse is only reported.
TEST(Compare, OtherMetricsDoNotDecide) {
  const Json before = {
      {"command", "run"}, {"throughput_tps", 5}, {"peak_rss_bytes", 100}, {"log_records", 7}};
  Json after = before;
  after["peak_rss_bytes"] = 200;
  after["log_records"] = 9;
  const ResultComparison comparison =
      *compare_results(results(std::vector<Json>(6, before)), results(std::vector<Json>(6, after)));
  EXPECT_TRUE(comparison.losses().empty());
  const Json json = json_of(comparison);
  EXPECT_EQ(json["metrics"]["peak_rss_bytes"]["verdict"], "worse");
  EXPECT_EQ(json["metrics"]["peak_rss_bytes"]["change_percent"], 100);
  EXPECT_EQ(json["metrics"]["throughput_tps"]["verdict"], "no difference");
  EXPECT_TRUE(json["metrics"]["log_records"]["verdict"].is_null());
  EXPECT_EQ(json["worse"], Json::array());
}

class ResultFiles : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("result_files_" + std::to_string(::getpid()));
};

TEST_F(ResultFiles, AFolderHoldsManyResults) {
  put("b.json", R"({"command": "recover", "total_seconds": 2})");
  put("a.json",
      R"({"command": "recover", "total_seconds": 1, "list": [1, 2], "host": {"load_before": 0.5}})");
  put("notes.txt", "not a result");
  const Result<std::vector<ResultFields>> read = read_results(folder_);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].measured,
            (std::map<std::string, double>{{"total_seconds", 1}, {"host.load_before", 0.5}}));
  EXPECT_EQ((*read)[1].measured.at("total_seconds"), 2);
}

TEST_F(ResultFiles, RefusesWhatIsNoResult) {
  const auto refusal = [](const std::string& path) {
    const Result<std::vector<ResultFields>> read = read_results(path);
    return read.ok() ? "" : read.error().message;
  };
  EXPECT_THAT(refusal(folder_ / "nothing"), HasSubstr("there is no file or folder"));
  EXPECT_THAT(refusal(folder_), HasSubstr("holds no .json file"));
  fs::create_symlink(folder_ / "gone", folder_ / "link.json");
  EXPECT_THAT(refusal(folder_), HasSubstr("link.json: check that it is a file"));
  fs::remove(folder_ / "link.json");
  EXPECT_THAT(refusal(put("a", "[1, 2")), HasSubstr("holds no JSON object"));
  EXPECT_THAT(refusal(put("a", R"({"command": "slice"})")), HasSubstr("holds no result of run, recover"));
  EXPECT_THAT(refusal(put("a", "{}")), HasSubstr("holds no result of run, recover"));
  EXPECT_THAT(refusal(put("a", R"({"command": "run", "partial": true})")),
              HasSubstr("when it was interrupted"));
  put("1.json", R"({"command": "run"})");
  put("2.json", R"({"command": "recover"})");
  EXPECT_THAT(refusal(folder_), HasSubstr("compare those of one command"));
}

TEST_F(ResultFiles, RefusesSidesThatCannotBeCompared) {
  const auto refusal = [](const Json& first, const Json& second) {
    const Result<ResultComparison> comparison = compare_results(results({first}), results({second}));
    return comparison.ok() ? "" : comparison.error().message;
  };
  EXPECT_THAT(refusal({{"command", "run"}}, {{"command", "crash"}}),
              HasSubstr("compare those of one command"));
  EXPECT_THAT(refusal({{"command", "run"}, {"throughput_tps", 1}}, {{"command", "run"}}),
              HasSubstr("have no metric in common"));
}

}  // namespace
}  // namespace mneme
