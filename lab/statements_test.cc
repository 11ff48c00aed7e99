#include "lab/statements.h"

#include <gmock/gmock.h>

namespace mneme::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(std::string_view script) {
  std::vector<std::string> texts;
  for (const ScriptStatement& statement : split_script(script)) texts.push_back(statement.text);
  return texts;
}

TEST(Statements, EndWithSemicolons) {
  EXPECT_THAT(texts("SELECT 1;\n SELECT 2 ;SELECT 3"), ElementsAre("SELECT 1", "SELECT 2", "SELECT 3"));
  EXPECT_THAT(texts(" ;; \n;"), IsEmpty());
}

TEST(Statements, ASemicolonWithinAPartEndsNone) {
  EXPECT_THAT(texts("SELECT 'a;''b;', \"c;d\" /* ; /* ; */ ; */ -- ;\n, 1; SELECT 2"),
              ElementsAre("SELECT 'a;''b;', \"c;d\" /* ; /* ; */ ; */ -- ;\n, 1", "SELECT 2"));
  EXPECT_THAT(texts("DO $$ BEGIN; $x$ END; $$; DO $x$ a; $$ b; $x$"),
              ElementsAre("DO $$ BEGIN; $x$ END; $$", "DO $x$ a; $$ b; $x$"));
  EXPECT_THAT(texts("SELECT $1; SELECT a$b; SELECT c$d"),
              ElementsAre("SELECT $1", "SELECT a$b", "SELECT c$d"));
}

TEST(Statements, WhatIsNotClosedReachesToTheEnd) {
  EXPECT_THAT(texts("SELECT 'a; b"), ElementsAre("SELECT 'a; b"));
  EXPECT_THAT(texts("SELECT $$a; b"), ElementsAre("SELECT $$a; b"));
  EXPECT_THAT(texts("SELECT 1 /* ; "), ElementsAre("SELECT 1"));
}

TEST(Statements, KnowTheirLines) {
  const auto statements = split_script("-- one\n\nSYNC;  -- two\n CheckPoint;\n'a\nb'; c");
  ASSERT_EQ(statements.size(), 4);
  EXPECT_EQ(statements[0].line, 3);
  EXPECT_TRUE(statements[0].is_sync());
  EXPECT_EQ(statements[1].line, 4);
  EXPECT_TRUE(statements[1].is_checkpoint());
  EXPECT_FALSE(statements[1].is_sync());
  EXPECT_EQ(statements[2].line, 5);
  EXPECT_EQ(statements[3].line, 6);
}

}  // namespace
}  // namespace mneme::lab
