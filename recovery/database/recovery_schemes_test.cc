// Goal: the table of recovery schemes is the only place that names them all, and says which log each can
// read.
//
// Method: the production sources are searched for the schemes' names and makers; every scheme is asked about
// every kind of log.
#include "recovery/database/recovery_schemes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace mneme {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTableFile = "recovery/database/recovery_schemes.cc";
constexpr std::string_view kFolders[] = {"base",       "network",   "logging",  "engine",
                                         "procedures", "analyzer",  "recovery", "experiments",
                                         "embedding",  "workloads", "cli"};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_production(const fs::path& path) {
  const std::string text = path.string();
  return (path.extension() == ".cc" || path.extension() == ".h") && !text.ends_with("_test.cc") &&
         text.find("/testing/") == text.npos;
}

size_t schemes_named_in(const std::string& text) {
  size_t named = 0;
  for (const RecoveryScheme& scheme : recovery_schemes()) {
    const std::string quoted = '"' + std::string(scheme.name) + '"';
    named += text.find(quoted) != text.npos ? 1 : 0;
  }
  return named;
}

TEST(RecoverySchemes, StandInOneTable) {
  const fs::path root = MNEME_SOURCE_DIR;
  EXPECT_EQ(schemes_named_in(text_of(root / kTableFile)), recovery_schemes().size());
  for (const std::string_view folder : kFolders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!is_production(entry.path()) || entry.path() == root / kTableFile) continue;
      EXPECT_EQ(schemes_named_in(text_of(entry.path())), 0u) << entry.path();
    }
  }
}

TEST(RecoverySchemes, AreFoundByTheirNames) {
  for (const RecoveryScheme& scheme : recovery_schemes()) EXPECT_EQ(*recovery_scheme(scheme.name), &scheme);
  EXPECT_FALSE(recovery_scheme("magic").ok());
  EXPECT_EQ(scheme_that_shows_calls().name, "clr");
}

struct Served {
  RecordContent records;
  TupleImage image;
  std::vector<std::string_view> schemes;
  std::string_view by_default;
};

TEST(RecoverySchemes, ServeTheLogsThatHoldWhatTheyReplay) {
  const Served kServed[] = {
      {RecordContent::kCommand, TupleImage::kFull, {"clr", "clr-p"}, "clr-p"},
      {RecordContent::kLogical, TupleImage::kFull, {"llr", "llr-p"}, "llr-p"},
      {RecordContent::kLogical, TupleImage::kChanged, {"llr-p"}, "llr-p"},
      {RecordContent::kPhysical, TupleImage::kFull, {"plr"}, "plr"},
      {RecordContent::kPhysical, TupleImage::kChanged, {}, "plr"},
      {RecordContent::kAll, TupleImage::kFull, {"clr", "clr-p", "llr", "llr-p", "plr"}, "plr"},
      {RecordContent::kAll, TupleImage::kChanged, {"clr", "clr-p", "llr-p"}, "llr-p"},
  };
  for (const Served& each : kServed) {
    std::vector<std::string_view> served;
    for (const RecoveryScheme& scheme : recovery_schemes()) {
      if (check_served(scheme, each.records, each.image)) served.push_back(scheme.name);
    }
    EXPECT_EQ(served, each.schemes) << name_of(each.records) << ", " << name_of(each.image);
    EXPECT_EQ(default_scheme(each.records, each.image).name, each.by_default);
  }
}

TEST(RecoverySchemes, OpenForWorkOnlyWhatLiesWhereTheLogSays) {
  for (const RecoveryScheme& scheme : recovery_schemes()) {
    EXPECT_EQ(check_served_for_work(scheme, RecordContent::kAll, TupleImage::kFull).ok(),
              scheme.name == "plr");
  }
}

}  // namespace
}  // namespace mneme
