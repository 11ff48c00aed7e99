// Goal: a TOML file's tree is in the file's order and knows its places, and what asks for too much is refused
// with its place.
#include "measurement/toml/toml_file.h"

#include <gtest/gtest.h>

#include <string>

#include "base/testing/test_refusal.h"

namespace mneme {
namespace {

TEST(TomlFile, BoundsWhatAFileMayAskFor) {
  const auto refused = [](const std::string& text, const std::string& told) {
    test::expect_refused(parse_toml(text, "f.toml"), ErrorKind::kInvalidArgument, told);
  };
  refused(std::string(65537, '#'), "f.toml has 65537 bytes, and a file in TOML may have 65536 at most");
  refused("a = " + std::string(60000, '['), "f.toml:1:");
  std::string inline_tables = "a = ";
  for (int i = 0; i < 10000; ++i) inline_tables += "{a=";
  refused(inline_tables, "f.toml:1:");
  std::string dots = "a";
  for (int i = 0; i < 32000; ++i) dots += ".a";
  refused(dots + " = 1", "nothing in a file in TOML may be nested so deep");
  refused("a = 1\nb = \xff\n", "f.toml:2:");
  refused("a = 1\na = 2\n", "f.toml:2:");
  EXPECT_TRUE(parse_toml("", "f.toml").ok());
}

TEST(TomlFile, KeepsTheFilesOrderAndPlaces) {
  const Result<TomlValue> root = parse_toml("z = 1\n  a = [ 2.5, true ]\n[m]\nb = \"x\"\n", "f.toml");
  ASSERT_TRUE(root.ok());
  ASSERT_EQ(root->members.size(), 3u);
  EXPECT_EQ(root->members[0].name, "z");
  EXPECT_EQ(root->members[1].name, "a");
  EXPECT_EQ(root->members[1].place, (FilePlace{2, 3}));
  EXPECT_EQ(root->members[1].value.items[1].place, (FilePlace{2, 14}));
  EXPECT_EQ(root->members[2].value.members[0].value.text, "x");
}

}  // namespace
}  // namespace mneme
