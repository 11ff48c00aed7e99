// Goal: a program names its version and commit, or says that it has none.
#include "measurement/machine/build.h"

#include <gtest/gtest.h>

#include <regex>

namespace mneme {
namespace {

TEST(Build, NamesItsCommit) {
  EXPECT_EQ(version_text({.version = "1.2", .commit = "abc-modified"}), "mneme 1.2 (commit abc-modified)");
  EXPECT_EQ(commit_json({.commit = "abc"}), "abc");
}

TEST(Build, SaysThatItHasNoCommit) {
  EXPECT_EQ(version_text({.version = "1.2"}), "mneme 1.2 (built outside git)");
  EXPECT_TRUE(commit_json({}).is_null());
}

TEST(Build, IsDescribed) {
  const Build& build = this_build();
  EXPECT_FALSE(build.version.empty());
  EXPECT_TRUE(std::regex_match(std::string(build.commit), std::regex("([0-9a-f]{40}(-modified)?)?")))
      << build.commit;
  EXPECT_FALSE(build.compiler.empty());
  EXPECT_NE(build.flags.find("-ffp-contract=off"), std::string_view::npos) << build.flags;
  EXPECT_TRUE(std::regex_match(program_digest(), std::regex("[0-9a-f]{8}")));
}

}  // namespace
}  // namespace mneme
