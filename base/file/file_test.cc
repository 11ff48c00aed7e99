// Goal: what is made or replaced survives a power failure.
// Method: the order of the steps that make it durable.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file/directory.h"
#include "base/testing/test_directory.h"
#include "base/testing/test_durable_steps.h"

namespace mneme {
namespace {

using Steps = std::vector<std::string>;

TEST(FileTest, ANewDirectoryIsDurableBeforeAnythingIsMadeInIt) {
  const test::TemporaryDirectory directory;
  const test::DurableSteps steps;
  ASSERT_TRUE(make_directories(directory.path() + "/a/b/c").ok());
  EXPECT_TRUE(std::filesystem::is_directory(directory.path() + "/a/b/c"));
  const std::string above = std::filesystem::path(directory.path()).parent_path().filename();
  EXPECT_EQ(steps.get(), (Steps{"sync " + above, "make a", "sync " + directory.name(), "make b", "sync a",
                                "make c", "sync b"}));
}

TEST(FileTest, ADirectoryThatIsThereMayYetHaveToBeMadeDurable) {
  const test::TemporaryDirectory directory;
  ASSERT_EQ(::mkdir((directory.path() + "/a").c_str(), 0777), 0);
  const test::DurableSteps steps;
  ASSERT_TRUE(make_directories(directory.path() + "/a/").ok());
  EXPECT_EQ(steps.get(), Steps{"sync " + directory.name()});
}

TEST(FileTest, NoDirectoryIsMadeInAFileOrInItsPlace) {
  const test::TemporaryDirectory directory;
  const std::string file = directory.path() + "/file";
  ASSERT_TRUE(replace_text_file(file, "text").ok());
  for (const std::string& path : {file, file + "/below"}) {
    const auto made = make_directories(path);
    ASSERT_FALSE(made.ok()) << path;
    EXPECT_EQ(made.error().message, "cannot make the directory " + file + ": File exists");
  }
}

TEST(FileTest, ATextFileIsSyncedBeforeItHasItsNameAndTheNameBehindIt) {
  const test::TemporaryDirectory directory;
  const test::DurableSteps steps;
  ASSERT_TRUE(replace_text_file(directory.path() + "/file", "text").ok());
  EXPECT_EQ(steps.get(), (Steps{"sync file.tmp", "rename file", "sync " + directory.name()}));
}

}  // namespace
}  // namespace mneme
