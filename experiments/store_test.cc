#include "experiments/store.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/testing/test_refusal.h"
#include "experiments/report.h"
#include "experiments/runner.h"

namespace mneme {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "mneme-results-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(StoreTest, KeepsMeasurementsByCommandAndRound) {
  const Json result = {{"result", {{"rate", 1.5}}}};
  {
    const Result<ResultStore> store = ResultStore::open(folder_);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(store->keep("run tpcb", 1, result).ok());
  }
  const Result<ResultStore> store = ResultStore::open(folder_);
  ASSERT_TRUE(store.ok());
  const auto found = store->find("run tpcb", 1);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((**found)["result"]["rate"], 1.5);
  EXPECT_FALSE(store->find("run tpcb", 0)->has_value());
  EXPECT_FALSE(store->find("run tpcc", 1)->has_value());
}

TEST_F(StoreTest, TellsOfDamage) {
  const Result<ResultStore> store = ResultStore::open(folder_);
  ASSERT_TRUE(store->keep("run tpcb", 0, {{"result", 1}}).ok());
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "measurements")) {
    std::ofstream(entry.path()) << "{\"key\": \"run";
  }
  const auto found = store->find("run tpcb", 0);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kDamaged);
}

TEST_F(StoreTest, TellsOfFiguresThatAreNoneOrGone) {
  const Result<ResultStore> store = ResultStore::open(folder_);
  for (const char* text : {"{}", "[1]", "nothing"}) {
    ASSERT_TRUE(store->write_figure("tpcb", "json", text).ok());
    test::expect_refused(store->read_figures(), ErrorKind::kDamaged, "tpcb.json holds no figure: remove it");
  }
  fs::remove_all(folder_ / "figures");
  test::expect_refused(store->read_figures(), ErrorKind::kFailed,
                       "cannot read " + (folder_ / "figures").string() + ": ");
}

TEST_F(StoreTest, ARunnerTellsOfADatabaseThatNobodyMakes) {
  const Result<ResultStore> store = ResultStore::open(folder_);
  ExperimentRunner runner(*store, {});
  const Figure figure{.name = "figure"};
  Plan plan;
  plan.figure = &figure;
  plan.commands = {"recover @nowhere"};
  test::expect_refused(runner.run(plan), ErrorKind::kFailed,
                       "figure recovers a database \"nowhere\", and there is none");
}

TEST_F(StoreTest, IsForOneProcess) {
  const Result<ResultStore> store = ResultStore::open(folder_);
  ASSERT_TRUE(store.ok());
  const Result<ResultStore> other = ResultStore::open(folder_);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("another process"), std::string::npos);
}

TEST_F(StoreTest, LeavesNoDatabases) {
  fs::create_directories(folder_ / "databases" / "left");
  {
    const Result<ResultStore> store = ResultStore::open(folder_);
    EXPECT_FALSE(fs::exists(store->databases() / "left"));
    fs::create_directories(store->databases() / "mine");
  }
  EXPECT_FALSE(fs::exists(folder_ / "databases"));
}

TEST(Report, NothingInTheDataEndsItsScript) {
  const Json data = {{"figures", Json::array()},
                     {"not_measured", Json::array({{{"title", "</script><!--"}}})}};
  const std::string page = report_html(data);
  EXPECT_EQ(page.find("</script><!--"), std::string::npos);
  const std::string begin = "id=\"data\">";
  const size_t at = page.find(begin) + begin.size();
  EXPECT_EQ(Json::parse(page.substr(at, page.find("</script>", at) - at)), data);
}

TEST_F(StoreTest, AReportTellsWhatWasNotMeasured) {
  const Result<ResultStore> store = ResultStore::open(folder_);
  const std::string path = folder_ / "page.html";
  const Result<bool> written = write_report_file(*store, path);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(*written, has_report());
  EXPECT_EQ(fs::exists(path), has_report());
  if (!has_report()) return;
  EXPECT_NE(read_text_file(path)->find("pacman-figure-16"), std::string::npos);
}

}  // namespace
}  // namespace mneme
