// Goal: times are read with their unit, and everything else is refused with an example. Method: a table.
#include "cli/output/duration_text.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

TEST(DurationText, ReadsEveryUnit) {
  const struct {
    const char* text;
    int64_t ns;
  } cases[] = {{"0", 0},           {"0us", 0},         {"200ns", 200},       {"1.5us", 1500},
               {"100us", 100'000}, {"2ms", 2'000'000}, {"1s", 1'000'000'000}};
  for (const auto& each : cases) {
    const auto read = duration_of("--work", each.text);
    ASSERT_TRUE(read.ok()) << each.text;
    EXPECT_EQ(read->count(), each.ns) << each.text;
  }
}

TEST(DurationText, RefusesWhatIsNoTime) {
  for (const char* text : {"", "us", "100", "-1us", "1 us", "1m", "1us2", "2e9s", "nan"}) {
    const auto read = duration_of("--work", text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.error().message.find("--work"), std::string::npos);
  }
}

}  // namespace
}  // namespace mneme
