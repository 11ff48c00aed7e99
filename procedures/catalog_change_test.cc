// Goal: a schema made by N statements takes N compilations of one statement, and is the schema that one file of them makes.
// Method: definitions are created one after the other. Procedures that were there must be the same objects as before, so that nobody
// has bound them again; and compiling the source that is kept must give the same program: hash, lines, index kinds.
#include "procedures/catalog_change.h"

#include <gmock/gmock.h>

#include "procedures/ir_printer.h"

namespace mneme {
namespace {

using testing::StartsWith;

class CatalogChangeTest : public testing::Test {
 protected:
  // Returns the tag that PostgreSQL prints, or the code of the failure.
  std::string change(const std::string& text) {
    const ParsedStatement parsed = parse_statement(text);
    if (!parsed.command) return parsed.failure.sqlstate;
    ChangedProgram changed = changed_program(*program_, *parsed.command);
    if (changed.program == nullptr) return changed.failure.sqlstate + ": " + changed.failure.message;
    before_ = std::move(program_);
    program_ = std::move(changed.program);
    return tag_of_change(*parsed.command);
  }

  static std::string procedure(const std::string& name, const std::string& condition = "id = 1") {
    return "CREATE PROCEDURE " + name + "() LANGUAGE plpgsql AS $$\nDECLARE x INT;\nBEGIN\n  SELECT v INTO x FROM t WHERE " + condition +
           ";\n  IF x > 1 THEN RAISE EXCEPTION 'x is %', length('text' || x); END IF; END $$";
  }

  // Whether all procedures that were there are the objects that they were.
  bool shares_procedures() const {
    for (size_t i = 0; i < before_->procedures.size(); ++i) {
      if (&before_->procedures.bound(i) != &program_->procedures.bound(i)) return false;
    }
    return true;
  }

  void expect_as_if_compiled_at_once() const {
    const auto at_once = compile(program_->source.text(), "catalog.sql");
    ASSERT_TRUE(at_once.ok()) << at_once.error().message;
    EXPECT_EQ((*at_once)->hash, program_->hash);
    EXPECT_EQ(print_program(**at_once), print_program(*program_));
    ASSERT_EQ((*at_once)->procedures.size(), program_->procedures.size());
    for (size_t i = 0; i < program_->procedures.size(); ++i) {
      EXPECT_EQ((*at_once)->procedures[i].where.line, program_->procedures[i].where.line);
      EXPECT_EQ((*at_once)->procedures[i].operations[0].where.line, program_->procedures[i].operations[0].where.line);
      EXPECT_EQ(program_->procedures[i].id.value, i);
    }
    for (size_t i = 0; i < program_->catalog.indexes().size(); ++i) {
      EXPECT_EQ((*at_once)->catalog.indexes()[i].ordered, program_->catalog.indexes()[i].ordered) << i;
    }
  }

  std::unique_ptr<Program> before_;
  std::unique_ptr<Program> program_ = *compile("-- a file\nCREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, name VARCHAR(9))", "test.sql");
};

TEST_F(CatalogChangeTest, CompilesOnlyWhatIsNew) {
  EXPECT_EQ(change(procedure("first")), "CREATE PROCEDURE");
  for (const std::string& definition :
       {procedure("second", "v > 2"), std::string("CREATE TABLE u (id INT PRIMARY KEY,\n v INT UNIQUE NOT NULL)"),
        std::string("CREATE INDEX u_by_v ON u (v)"), procedure("third", "id > 5"), procedure("fourth")}) {
    const std::string answer = change(definition);
    EXPECT_THAT(answer, StartsWith("CREATE")) << answer;
    EXPECT_TRUE(shares_procedures()) << definition;
    expect_as_if_compiled_at_once();
  }
  EXPECT_EQ(program_->procedures.size(), 4U);
}

TEST_F(CatalogChangeTest, CompilesAnewWhatAnIndexMayChange) {
  EXPECT_EQ(change(procedure("first", "v = 2 AND id > 0")), "CREATE PROCEDURE");
  EXPECT_EQ(change("CREATE INDEX t_by_v ON t (v)"), "CREATE INDEX");
  EXPECT_FALSE(shares_procedures());
  expect_as_if_compiled_at_once();
  EXPECT_EQ(change("CREATE OR REPLACE" + procedure("first", "id > 7").substr(6)), "CREATE PROCEDURE");
  expect_as_if_compiled_at_once();
  EXPECT_EQ(change(procedure("second")), "CREATE PROCEDURE");
  EXPECT_EQ(change("CREATE TABLE u (id INT PRIMARY KEY)"), "CREATE TABLE");
  EXPECT_EQ(change("DROP PROCEDURE first"), "DROP PROCEDURE");
  expect_as_if_compiled_at_once();
  EXPECT_EQ(change("DROP TABLE u"), "DROP TABLE");
  expect_as_if_compiled_at_once();
}

TEST_F(CatalogChangeTest, TellsAPlaceInTheStatement) {
  EXPECT_EQ(change(procedure("first")), "CREATE PROCEDURE");
  EXPECT_THAT(change("CREATE PROCEDURE second() LANGUAGE plpgsql AS $$ BEGIN\n\n  PERFORM 1 FROM nothing; END $$"), StartsWith("42601: line 3:"));
  EXPECT_EQ(change("CREATE TABLE t (id INT)"), "42P07: relation \"t\" already exists");
  EXPECT_THAT(change("CREATE INDEX i ON nothing (v)"), StartsWith("42P01"));
  EXPECT_THAT(change(procedure("first")), StartsWith("42723"));
  EXPECT_EQ(program_->procedures.size(), 1U);
}

}  // namespace
}  // namespace mneme
