// Goal: a line of the help says what concerns the command and workload at hand, and ends at a border of
// words.
#include "cli/option/help_text.h"

#include <gtest/gtest.h>

#include "cli/command/commands.h"

namespace mneme {
namespace {

class HelpText : public testing::Test {
 protected:
  HelpText() { add_commands(program_, chosen_); }
  std::string help(std::string_view text, const char* command, std::string_view workload = "") const {
    return help_for({OptionGroup::kRun, "--option", text}, *program_.get_subcommand(command), workload);
  }

  CLI::App program_;
  Action chosen_;
};

TEST_F(HelpText, PartsOfOtherCommandsAndWorkloadsAreLeftOut) {
  constexpr std::string_view kText = "seconds: of it; crash, acid: how long; tpcc: warehouses; on: fast; off";
  EXPECT_EQ(help(kText, "run"), "seconds: of it; tpcc: warehouses; on: fast; off");
  EXPECT_EQ(help(kText, "acid"), "seconds: of it; crash, acid: how long; tpcc: warehouses; on: fast; off");
  EXPECT_EQ(help(kText, "run", "tpcc"), "seconds: of it; warehouses; on: fast; off");
  EXPECT_EQ(help(kText, "run", "ycsb"), "seconds: of it; on: fast; off");
  EXPECT_EQ(help("run: where it lives", "run"), "where it lives");
  EXPECT_EQ(help("serve --create: a workload", "run"), "");
}

TEST(ValuesAlone, AreListedWithoutTheirMeanings) {
  EXPECT_EQ(values_alone("control: occ: optimistic; 2pl: two-phase locking, with wait-die"),
            "control: occ, 2pl");
  EXPECT_EQ(values_alone("command: calls; off (run alone): nothing; all"), "command, off, all");
  EXPECT_EQ(values_alone("pipelined; sync: wait for each"), "pipelined, sync");
  for (const char* const text :
       {"seconds: of the run", "two words: a; b", "how they gather: a, b; or epoch: both"})
    EXPECT_EQ(values_alone(text), text);
}

TEST(FirstLine, EndsWithAPartOrAWord) {
  EXPECT_EQ(first_line("short", 20), "short");
  EXPECT_EQ(first_line("one part; another part", 15), "one part");
  EXPECT_EQ(first_line("no border at all in here", 15), "no border ...");
  EXPECT_EQ(first_line("averyveryverylongword", 12), "averyver ...");
}

}  // namespace
}  // namespace mneme
