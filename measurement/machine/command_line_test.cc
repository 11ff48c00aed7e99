// Goal: a command line can be pasted into a shell, and be read back.
#include "measurement/machine/command_line.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

TEST(CommandLine, IsReadBack) {
  const std::vector<std::string> words = {"./mneme", "run",    "tpcc",         "--mix", "a=1,b=2", "",
                                          "a b",     "it's $", "back\\slash ", "'",     "\"",      "$(x)"};
  const std::string text = command_line_text(words);
  EXPECT_EQ(command_line_words(text), words) << text;
  EXPECT_TRUE(text.starts_with("./mneme run tpcc --mix a=1,b=2 '' 'a b' 'it'\\''s $'")) << text;
  EXPECT_TRUE(command_line_words("").empty());
}

TEST(CommandLine, IsThisProcesses) {
  EXPECT_NE(command_line().front().find("measurement_test"), std::string::npos) << command_line().front();
}

}  // namespace
}  // namespace mneme
