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

TEST_F(HelpText, WordsAreListedWithAndWithoutTheirMeanings) {
  const auto texts = [&](const char* option) {
    const OptionRow& row = option_row(option);
    const CLI::App& run = *program_.get_subcommand("run");
    return std::pair(help_for(row, run, ""), short_help_for(row, run, ""));
  };
  EXPECT_EQ(texts("--cc"), std::pair(std::string("concurrency control: occ: optimistic; 2pl: two-phase "
                                                 "locking, with wait-die"),
                                     std::string("concurrency control: occ, 2pl")));
  EXPECT_EQ(texts("--replay"), std::pair(std::string("clr-p: pipelined, synchronous, static"),
                                         std::string("clr-p: pipelined, synchronous, static")));
}

TEST(OptionWords, AreAllThatAnOptionTakesIfItsRowSaysSo) {
  for (const OptionRow& row : option_table()) {
    if (row.words == nullptr) continue;
    const OptionWords words = row.words();
    EXPECT_FALSE(words.empty()) << row.name;
    // Each stands in the help, and no help tells of words that the row lacks.
    for (const OptionWord& each : words)
      EXPECT_NE(row.help_text().find(each.word), std::string::npos) << row.name;
    if (!row.has_words_alone) continue;
    CLI::App app;
    std::string text;
    OptionTaker{app}(row.name, text);
    const std::string name(row.name);
    if (!name.starts_with('-')) continue;  // one by its position is no option of a command alone
    for (const OptionWord& each : words) EXPECT_NO_THROW(app.parse(name + " " + each.word)) << row.name;
    EXPECT_THROW(app.parse(name + " none-such"), CLI::ValidationError) << row.name;
  }
}

TEST(FirstLine, EndsWithAPartOrAWord) {
  EXPECT_EQ(first_line("short", 20), "short");
  EXPECT_EQ(first_line("one part; another part", 15), "one part");
  EXPECT_EQ(first_line("no border at all in here", 15), "no border ...");
  EXPECT_EQ(first_line("averyveryverylongword", 12), "averyver ...");
}

}  // namespace
}  // namespace mneme
