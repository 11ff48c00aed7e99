#include "lab/laboratory.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "base/testing/test_directory.h"
#include "base/testing/test_effort.h"

namespace mneme::lab {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string read(const std::string& path) {
  std::ifstream file(std::string(MNEME_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Json ask(const Json& request) {
  const test::TemporaryDirectory folder;
  return Json::parse(answer(request.dump(), folder.path()));
}

Json lesson(const std::string& name, const std::string& schema) {
  const std::string presets = "lab/page/presets/" + name;
  return {{"setup", read(schema) + read(presets + "_rows.sql")}, {"calls", read(presets + "_calls.sql")}};
}
Json bank() {
  return lesson("bank", "tests/data/bank.sql");
}

std::set<std::string> kinds(const Json& steps) {
  std::set<std::string> kinds;
  for (const Json& step : steps) kinds.insert(step["kind"].get<std::string>());
  return kinds;
}

// Behind whichever step the power fails: no statement whose client was told is lost, and all ways to recover
// agree.
void lose_power_everywhere(Json request, uint32_t step) {
  const size_t steps = ask(request)["forward"]["steps"].size();
  ASSERT_GT(steps, 40);
  for (size_t behind = 1; behind <= steps; behind += step) {
    SCOPED_TRACE(behind);
    request["crash"] = {{"behind", behind}, {"seed", behind}};
    for (const char* scheme : {"clr", "clr-p"}) {
      request["recovery"] = {{"scheme", scheme}, {"seed", behind}, {"threads", 3}, {"batch", 3}};
      const Json answered = ask(request);
      ASSERT_FALSE(answered.contains("error")) << answered["error"];
      const Json& verdict = answered["verdict"];
      EXPECT_TRUE(verdict["lost"].empty()) << verdict;
      EXPECT_TRUE(verdict["rows_are_as_they_were"]) << verdict;
      EXPECT_TRUE(verdict["agrees"]) << verdict;
    }
  }
}

TEST(Laboratory, TheBankSurvivesAnyCrash) {
  lose_power_everywhere(bank(), 2 * step_if_sanitized(9));
}

TEST(Laboratory, TheShopSurvivesAnyCrash) {
  lose_power_everywhere(lesson("shop", "examples/shop/shop.sql"), 6 + step_if_sanitized(20));
}

TEST(Laboratory, TpccSurvivesACrash) {
  lose_power_everywhere(lesson("tpcc", "workloads/tpcc/tpcc.sql"), 11 * step_if_sanitized(3));
}

TEST(Laboratory, TheSameRequestGivesTheSameAnswer) {
  Json request = bank();
  request["crash"] = {{"behind", 60}};
  request["recovery"] = {{"seed", 7}};
  const Json first = ask(request);
  EXPECT_EQ(first, ask(request));
  request["recovery"]["seed"] = 8;
  const Json other = ask(request);
  EXPECT_NE(first["recovery"]["steps"], other["recovery"]["steps"]) << "another schedule";
  EXPECT_EQ(first["recovery"]["digest"], other["recovery"]["digest"]);
}

TEST(Laboratory, ShowsEachStep) {
  Json request = bank();
  request["calls"] = request["calls"].get<std::string>() +
                     "CHECKPOINT;\nCALL deposit('amy', 1, 1);\nSELECT value FROM saving WHERE name = 'bob';";
  const Json answered = ask(request);
  ASSERT_FALSE(answered.contains("error")) << answered["error"];
  EXPECT_THAT(kinds(answered["forward"]["steps"]),
              testing::UnorderedElementsAre("begin", "reserve", "fill", "answer", "write", "sector", "synced",
                                            "durable", "checkpoint", "end"));
  const Json& last = answered["forward"]["steps"].at(answered["forward"]["steps"].size() - 2);
  EXPECT_EQ(last["rows"], Json({{"201.00"}})) << last;
}

TEST(Laboratory, ACheckpointIsWhereRecoveryBegins) {
  Json request = bank();
  request["calls"] = "CALL transfer('amy', 10);\nCHECKPOINT;\nCALL transfer('bob', 5);\nSYNC;";
  const size_t steps = ask(request)["forward"]["steps"].size();
  request["crash"] = {{"behind", steps}};
  request["recovery"] = {{"scheme", "clr"}};
  const Json answered = ask(request);
  ASSERT_FALSE(answered.contains("error")) << answered["error"];
  EXPECT_EQ(answered["recovery"]["steps"].size(), 1);
  EXPECT_TRUE(answered["verdict"]["rows_are_as_they_were"]);
}

// A record can be larger than a sector. Then some of its sectors may reach the medium without the others.
TEST(Laboratory, AWriteMayBeTorn) {
  std::string text(3000, 'x');
  Json request = {{"setup", "CREATE TABLE note (id INT PRIMARY KEY, said VARCHAR(4000) NOT NULL);"},
                  {"calls", "INSERT INTO note VALUES (1, '" + text + "'); SYNC;"}};
  const Json steps = ask(request)["forward"]["steps"];
  const auto written = std::ranges::find_if(steps, [](const Json& step) { return step["kind"] == "write"; });
  ASSERT_NE(written, steps.end());
  const auto behind = static_cast<size_t>(written - steps.begin()) + 1;
  std::set<std::string> states;
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    request["crash"] = {{"behind", behind}, {"seed", seed}};
    request["recovery"] = {{"scheme", "clr"}};
    const Json answered = ask(request);
    ASSERT_FALSE(answered.contains("error")) << answered["error"];
    states.insert(answered["recovery"]["disk"].back()["blocks"][0]["state"].get<std::string>());
    EXPECT_TRUE(answered["verdict"]["rows_are_as_they_were"]);
  }
  EXPECT_THAT(states, testing::Contains("torn"));
}

TEST(Laboratory, PiecesOfSeveralLanesAreWaitedFor) {
  Json request = bank();
  request["crash"] = {{"behind", ask(request)["forward"]["steps"].size()}};
  bool has_waited = false;
  std::set<std::string> digests;
  for (const char* level : {"pipelined", "synchronous", "static"}) {
    for (uint32_t seed = 1; seed <= 3; ++seed) {
      request["recovery"] = {{"level", level}, {"seed", seed}};
      const Json answered = ask(request);
      ASSERT_FALSE(answered.contains("error")) << answered["error"];
      EXPECT_TRUE(answered["verdict"]["rows_are_as_they_were"]) << level;
      digests.insert(answered["recovery"]["digest"].get<std::string>());
      for (const Json& step : answered["recovery"]["steps"]) {
        if (step["kind"] != "arrive") continue;
        const auto is_of_lane = [&](const Json& wait) {
          return wait["what"] == "lane" && wait["block"] == step["block"] && wait["lane"] == step["lane"];
        };
        EXPECT_TRUE(std::ranges::any_of(step["waiting"], is_of_lane)) << step;
        has_waited = true;
      }
    }
  }
  EXPECT_TRUE(has_waited);
  EXPECT_EQ(digests.size(), 1);
}

TEST(Laboratory, RefusesWhatItCantDo) {
  const auto error = [](const Json& request) { return ask(request).value("error", ""); };
  EXPECT_THAT(error(Json::array()), HasSubstr("no JSON object"));
  EXPECT_THAT(error({{"setup", "CREATE TABLE a (b INT);\nCREATE TABEL c (d INT);"}}), HasSubstr("line 2"));
  EXPECT_THAT(error({{"calls", "\nCREATE TABLE a (b INT)"}}),
              HasSubstr("line 2: the tables and procedures are made before"));
  EXPECT_THAT(error({{"group", 0}}), HasSubstr("group is no number from 1 to 1000"));
  EXPECT_THAT(error({{"crash", {{"behind", 5}}}}), HasSubstr("there are 1"));
  Json request = bank();
  request["crash"] = {{"behind", 5}};
  request["recovery"] = {{"scheme", "llr"}};
  EXPECT_THAT(error(request), HasSubstr("not by llr"));
  const test::TemporaryDirectory folder;
  EXPECT_THAT(answer(std::string(kMostRequestBytes + 1, ' '), folder.path()), HasSubstr("more than"));
}

TEST(Laboratory, AFailedStatementIsAnAnswer) {
  Json request = bank();
  request["calls"] = "CALL nobody(1); SELEC; CALL transfer('amy', 1, 2); INSERT INTO stats VALUES (1, 1);";
  const Json answered = ask(request);
  ASSERT_FALSE(answered.contains("error")) << answered["error"];
  size_t failed = 0;
  for (const Json& step : answered["forward"]["steps"])
    failed += step["kind"] == "answer" && step["ok"] == false ? 1 : 0;
  EXPECT_EQ(failed, 4);
}

}  // namespace
}  // namespace mneme::lab
