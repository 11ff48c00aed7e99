// Goal: long work reports how far it is: by lines for people, by objects for scripts, and by
// nothing at all where it was not asked for. Method: stages of known length; standard error is kept and read.
#include "cli/output/progress.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace mneme {
namespace {

std::vector<nlohmann::json> objects(const std::string& text) {
  std::vector<nlohmann::json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line));
  return objects;
}

std::string told(ProgressStyle style, std::chrono::milliseconds lasts = {}) {
  testing::internal::CaptureStderr();
  {
    Progress progress(style);
    progress.stage("recover", "replay", 400, "transactions");
    progress.update({.done = 100, .lsn = 77});
    std::this_thread::sleep_for(lasts);
    progress.stage("recover", "indexes", 2, "steps");
    progress.update({.done = 2});
    progress.result({{"event", "recovered"}, {"applied", 400}});
  }
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, TellsScriptsTheEndOfEachStage) {
  const auto lines = objects(told(ProgressStyle::kJson));
  // On a machine that is busy a stage may last long enough for more of them.
  std::map<std::string, nlohmann::json> last;
  for (const auto& line : lines) last[line.value("stage", "")] = line;
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(last["replay"]["event"], "progress");
  EXPECT_EQ(last["replay"]["done"], 100);
  EXPECT_EQ(last["replay"]["total"], 400);
  EXPECT_EQ(last["replay"]["lsn"], 77);
  EXPECT_GT(last["replay"]["seconds_left"], 0);
  EXPECT_EQ(last["indexes"]["event"], "progress");
  EXPECT_FALSE(last["indexes"].contains("lsn"));
  EXPECT_EQ(last[""]["applied"], 400);
}

TEST(Progress, TellsScriptsEachHalfSecond) {
  const auto lines = objects(told(ProgressStyle::kJson, std::chrono::milliseconds(1200)));
  // On a machine that is busy it may be late.
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(lines[0]["stage"], "replay");
  EXPECT_EQ(lines[1]["stage"], "replay");
  EXPECT_LT(lines[0]["seconds"], lines[1]["seconds"]);
}

TEST(Progress, CutsNoNumber) {
  const std::string line = "recover: replay 1,234 transactions, 5.0 threads busy, LSN 123456789";
  EXPECT_EQ(fitted_line(line, line.size()), line);
  EXPECT_EQ(fitted_line(line, line.size() - 1), "recover: replay 1,234 transactions, 5.0 threads busy");
  EXPECT_EQ(fitted_line(line, 40), "recover: replay 1,234 transactions");
  EXPECT_EQ(fitted_line(line, 10), "recover: r");
}

TEST(Progress, TellsPeopleInLines) {
  const std::string text = told(ProgressStyle::kLines);
  EXPECT_NE(text.find("recover: replay 25%, 100/400 transactions, "), std::string::npos) << text;
  EXPECT_NE(text.find(" threads busy, "), std::string::npos) << text;
  EXPECT_NE(text.find(", LSN 77\n"), std::string::npos) << text;
  EXPECT_NE(text.find("recover: indexes 100%, 2/2 steps, "), std::string::npos) << text;
  EXPECT_EQ(text.find("applied"), std::string::npos) << text;
}

TEST(Progress, TellsNobodyWhoDidNotAsk) {
  EXPECT_EQ(told(ProgressStyle::kOff), "");
  // Standard error is a file here.
  EXPECT_EQ(told(ProgressStyle::kAuto), "");
}

TEST(Progress, KnowsItsStylesByName) {
  EXPECT_EQ(*progress_style("json"), ProgressStyle::kJson);
  EXPECT_EQ(*progress_style("auto"), ProgressStyle::kAuto);
  EXPECT_FALSE(progress_style("loud").ok());
}

}  // namespace
}  // namespace mneme
