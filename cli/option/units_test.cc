// Goal: values with units arrive in the option's own unit, and a wrong unit is told.
#include "cli/option/units.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

std::string converted(OptionUnit unit, std::string text, bool whole = false) {
  const std::string wrong = convert_to(unit, whole, text);
  return wrong.empty() ? text : "wrong: " + wrong;
}

TEST(Units, ANumberWithAUnitIsConverted) {
  EXPECT_EQ(converted(OptionUnit::kSeconds, "10s"), "10");
  EXPECT_EQ(converted(OptionUnit::kSeconds, "500ms"), "0.5");
  EXPECT_EQ(converted(OptionUnit::kSeconds, "2min"), "120");
  EXPECT_EQ(converted(OptionUnit::kMicroseconds, "2ms"), "2000");
  EXPECT_EQ(converted(OptionUnit::kMicroseconds, "0.1s"), "100000");
  EXPECT_EQ(converted(OptionUnit::kBytes, "64KiB"), "65536");
  EXPECT_EQ(converted(OptionUnit::kMebibytes, "2GiB"), "2048");
  EXPECT_EQ(converted(OptionUnit::kMebibytes, "512KiB"), "0.5");
  EXPECT_EQ(converted(OptionUnit::kSeconds, "500ns"), "5e-07");
  EXPECT_EQ(converted(OptionUnit::kSeconds, "replay:2min"), "replay:120");
}

TEST(Units, OtherTextsStay) {
  for (const char* const text : {"10", "0.25", "-1", "auto", "replay:5", "off", "", "0x1000"})
    EXPECT_EQ(converted(OptionUnit::kSeconds, text), text);
}

TEST(Units, AWrongUnitIsTold) {
  EXPECT_EQ(converted(OptionUnit::kSeconds, "10x"),
            "wrong: 10x has no unit that is known here: say 10, 10s, 500ms or 2min");
  EXPECT_TRUE(converted(OptionUnit::kBytes, "4ms").starts_with("wrong: "));
  EXPECT_EQ(converted(OptionUnit::kMebibytes, "512KiB", /*whole=*/true),
            "wrong: 512KiB is no whole number of MiB: say 64, 64MiB or 2GiB");
  EXPECT_EQ(converted(OptionUnit::kSeconds, "2min", /*whole=*/true), "120");
}

}  // namespace
}  // namespace mneme
