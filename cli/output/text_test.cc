// Goal: numbers read as people write them. Method: a table of examples.
#include "cli/output/text.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

TEST(Text, CountsInSingularAndPlural) {
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(1234567, "row"), "1,234,567 rows");
  EXPECT_EQ(counted(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(counted(2, "entry", "entries"), "2 entries");
}

TEST(Text, GroupsThousands) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1000), "1,000");
}

TEST(Text, ChoosesUnits) {
  EXPECT_EQ(bytes_text(1), "1 byte");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(seconds_text(0.0123), "12.3 ms");
  EXPECT_EQ(seconds_text(2.5), "2.50 s");
}

}  // namespace
}  // namespace mneme
