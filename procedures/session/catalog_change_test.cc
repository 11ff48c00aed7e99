// Goal: a change of the schema compiles what it changes alone, and what it makes is the schema that one file
// of the definitions makes. Method: definitions are created, replaced and dropped one after the other.
// Procedures that do not depend on a change must be the same objects as before, or copies with other numbers,
// which share their texts: they have not been bound again. And compiling the source that is kept must give
// the same program: hash, lines, index kinds.
#include "procedures/session/catalog_change.h"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

#include "procedures/binder/ir_printer.h"
#include "procedures/ir/ir_walk.h"

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
    if (changed.program == nullptr) return changed.told.sqlstate + ": " + changed.told.message;
    before_ = std::move(program_);
    program_ = std::move(changed.program);
    return tag_of_change(*parsed.command);
  }

  static std::string procedure(const std::string& name, const std::string& condition = "id = 1") {
    return "CREATE PROCEDURE " + name +
           "() LANGUAGE plpgsql AS $$\nDECLARE x INT;\nBEGIN\n  SELECT v INTO x FROM t WHERE " + condition +
           ";\n  IF x > 1 THEN RAISE EXCEPTION 'x is %', length('text' || x); END IF; END $$";
  }

  // Whether all procedures that were there are the objects that they were.
  bool shares_procedures() const {
    for (size_t i = 0; i < before_->procedures.size(); ++i) {
      if (&before_->procedures.bound(i) != &program_->procedures.bound(i)) return false;
    }
    return true;
  }

  // Returns the lines of all statements and their expressions, in order.
  static std::vector<uint32_t> lines_of(std::span<const ir::Statement> statements) {
    std::vector<uint32_t> lines;
    for (const ir::Statement& statement : statements) {
      lines.push_back(statement.where.line);
      if (statement.expr)
        ir::walk(*statement.expr, [&](const ir::Expr& expr) { lines.push_back(expr.where.line); });
      for (const uint32_t line : lines_of(statement.body)) lines.push_back(line);
    }
    return lines;
  }

  // The names of the procedures that the last change has bound. A copy of a bound one shares its texts.
  std::set<std::string> bound() const {
    std::set<std::string> names;
    for (size_t i = 0; i < program_->procedures.size(); ++i) {
      const BoundProcedure& now = program_->procedures.bound(i);
      const ir::Procedure* former = before_->find_procedure(now.procedure.name);
      if (former == nullptr || before_->procedures.bound(former->id.value).strings != now.strings)
        names.insert(now.procedure.name);
    }
    return names;
  }

  static std::string select_from(const std::string& name, const std::string& table,
                                 const std::string& condition) {
    return "PROCEDURE " + name + "() LANGUAGE plpgsql AS $$\nDECLARE x INT; y INT := length('" + name +
           "' || 2);\nBEGIN\n  SELECT v INTO x FROM " + table + " WHERE " + condition +
           ";\n  IF x > y THEN UPDATE " + table + "\n SET w = x WHERE id = x + y; END IF; END $$";
  }

  void expect_as_if_compiled_at_once() const {
    const auto at_once = compile(program_->text(), "catalog.sql");
    ASSERT_TRUE(at_once.ok()) << at_once.error().message;
    EXPECT_EQ((*at_once)->hash(), program_->hash());
    EXPECT_EQ(print_program(**at_once), print_program(*program_));
    ASSERT_EQ((*at_once)->procedures.size(), program_->procedures.size());
    for (size_t i = 0; i < program_->procedures.size(); ++i) {
      EXPECT_EQ((*at_once)->procedures[i].where.line, program_->procedures[i].where.line);
      EXPECT_EQ((*at_once)->procedures[i].operations[0].where.line,
                program_->procedures[i].operations[0].where.line);
      EXPECT_EQ(program_->procedures[i].id.value, i);
      EXPECT_EQ((*at_once)->procedures[i].by_chance, program_->procedures[i].by_chance);
      EXPECT_EQ(lines_of((*at_once)->procedures[i].body), lines_of(program_->procedures[i].body));
    }
    for (size_t i = 0; i < program_->catalog.indexes().size(); ++i) {
      EXPECT_EQ((*at_once)->catalog.indexes()[i].ordered, program_->catalog.indexes()[i].ordered) << i;
    }
  }

  std::unique_ptr<Program> before_;
  std::unique_ptr<Program> program_ =
      *compile("-- a file\nCREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, name VARCHAR(9))", "test.sql");
};

TEST_F(CatalogChangeTest, CompilesOnlyWhatIsNew) {
  EXPECT_EQ(change(procedure("first")), "CREATE PROCEDURE");
  for (const std::string& definition :
       {procedure("second", "v > 2"),
        std::string("CREATE TABLE u (id INT PRIMARY KEY,\n v INT UNIQUE NOT NULL)"),
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

TEST_F(CatalogChangeTest, BindsOnlyWhatDependsOnAChange) {
  for (const std::string table : {"a", "b", "c"}) {
    EXPECT_EQ(change("CREATE TABLE " + table + " (id INT PRIMARY KEY,\n v INT, w INT)"), "CREATE TABLE");
    EXPECT_EQ(change("CREATE " + select_from("first_" + table, table, "v = 5")), "CREATE PROCEDURE");
    EXPECT_EQ(change("CREATE " + select_from("second_" + table, table, "id = 5")), "CREATE PROCEDURE");
  }
  const auto expect_bound = [&](const std::string& text, const std::set<std::string>& names) {
    const std::string answer = change(text);
    EXPECT_TRUE(text.starts_with(answer)) << text << ": " << answer;
    EXPECT_EQ(bound(), names) << text;
    expect_as_if_compiled_at_once();
  };
  expect_bound("CREATE INDEX b_by_v ON b (v)", {"first_b", "second_b"});
  expect_bound("CREATE INDEX c_by_v ON c (v)", {"first_c", "second_c"});
  expect_bound("DROP INDEX b_by_v", {"first_b", "second_b"});
  expect_bound("DROP PROCEDURE first_a", {});
  expect_bound("DROP PROCEDURE second_a", {});
  expect_bound("DROP TABLE a", {});
  EXPECT_EQ(change("CREATE TABLE d (id INT PRIMARY KEY, v INT, w INT)"), "CREATE TABLE");
  EXPECT_EQ(change("CREATE OR REPLACE " + select_from("first_b", "d", "v > 1 OR v < 7")), "CREATE PROCEDURE");
  EXPECT_EQ(bound(), std::set<std::string>{"first_b"});
  expect_as_if_compiled_at_once();
}

TEST_F(CatalogChangeTest, ManyChangesMakeWhatTheirSourceMakes) {
  std::mt19937 random(11);
  const auto number = [&](const char* kind, size_t most) { return kind + std::to_string(random() % most); };
  std::map<std::string, int> done;
  for (int step = 0; step < 400; ++step) {
    const std::string table = number("t", 6), index = number("i", 8), name = number("p", 8);
    const std::string conditions[] = {"v = 5", "id = 5", "w > 2 AND v = 1", "v > 3 ORDER BY v, id LIMIT 1",
                                      "w = 1 LIMIT 1"};
    const std::string& condition = conditions[random() % std::size(conditions)];
    const std::string texts[] = {
        "CREATE TABLE " + table + " (id INT PRIMARY KEY, v INT NOT NULL, w INT" +
            (random() % 2 == 0 ? ",\n UNIQUE (v))" : ")"),
        "CREATE INDEX " + index + " ON " + table + (random() % 2 == 0 ? " (v)" : " (w,\n id)"),
        "CREATE UNIQUE INDEX " + index + " ON " + table + " (v, id)",
        "CREATE " + select_from(name, table, condition),
        "CREATE OR REPLACE " + select_from(name, table, condition),
        "DROP TABLE " + table,
        "DROP INDEX " + index,
        "DROP PROCEDURE " + name,
    };
    const std::string& text = texts[random() % std::size(texts)];
    const std::string answer = change(text);
    if (answer.find(':') != answer.npos) continue;
    ++done[answer];
    expect_as_if_compiled_at_once();
    if (HasFailure()) {
      FAIL() << "after " << text;
    }
  }
  for (const char* kind :
       {"CREATE TABLE", "CREATE INDEX", "CREATE PROCEDURE", "DROP TABLE", "DROP INDEX", "DROP PROCEDURE"}) {
    EXPECT_GT(done[kind], 5) << kind;
  }
}

TEST_F(CatalogChangeTest, OneNameInTwoSchemasIsTwoObjects) {
  EXPECT_EQ(change("CREATE TABLE s.t (id INT)"), "3F000: schema \"s\" does not exist");
  for (const std::string& text :
       {std::string("CREATE SCHEMA s"),
        std::string("CREATE TABLE s.t (id INT PRIMARY KEY, v INT NOT NULL, w INT, UNIQUE (v))"),
        std::string("CREATE INDEX by_v ON s.t (v, id)"),
        std::string("CREATE INDEX by_v ON t (v)"),
        std::string("CREATE SEQUENCE s.q"),
        std::string("CREATE TYPE s.mood AS ENUM ('a', 'b')"),
        std::string("CREATE TABLE s.u (id INT PRIMARY KEY, t INT REFERENCES s.t, m s.mood DEFAULT 'a', n "
                    "BIGINT DEFAULT nextval('s.q'), CHECK (u.id > 0))"),
        "CREATE " + select_from("s.first", "s.t", "id = 1"),
        procedure("first"),
        std::string("ALTER TABLE s.t ADD COLUMN more INT"),
        std::string("ALTER TABLE s.u ADD CONSTRAINT twice UNIQUE (t)"),
        std::string("ALTER TABLE s.u RENAME CONSTRAINT twice TO once"),
        std::string("ALTER TABLE s.u RENAME TO w"),
        std::string("CREATE SCHEMA other"),
        std::string("ALTER TABLE s.w SET SCHEMA other"),
        std::string("DROP INDEX s.by_v"),
        std::string("DROP PROCEDURE s.first"),
        std::string("DROP TABLE s.t CASCADE"),
        std::string("DROP TABLE other.w"),
        std::string("DROP SEQUENCE s.q"),
        std::string("DROP TYPE s.mood"),
        std::string("DROP SCHEMA other")}) {
    const std::string answer = change(text);
    EXPECT_EQ(answer.find(':'), answer.npos) << text << ": " << answer;
    expect_as_if_compiled_at_once();
  }
  EXPECT_NE(program_->catalog.find_index("by_v"), nullptr);
  EXPECT_NE(program_->find_procedure("first"), nullptr);
  EXPECT_EQ(change("CREATE TABLE s.t (id INT PRIMARY KEY)"), "CREATE TABLE");
  EXPECT_THAT(change("DROP SCHEMA s"), StartsWith("2BP01"));
  EXPECT_EQ(change("DROP SCHEMA s CASCADE"), "DROP SCHEMA");
  expect_as_if_compiled_at_once();
  EXPECT_EQ(change("CREATE SCHEMA s"), "CREATE SCHEMA");
  EXPECT_EQ(change("CREATE TABLE s.t (id INT PRIMARY KEY)"), "CREATE TABLE");
  expect_as_if_compiled_at_once();
  EXPECT_EQ(program_->schemas, std::vector<std::string>{"s"});
}

TEST_F(CatalogChangeTest, TellsAPlaceInTheStatement) {
  EXPECT_EQ(change(procedure("first")), "CREATE PROCEDURE");
  EXPECT_THAT(
      change("CREATE PROCEDURE second() LANGUAGE plpgsql AS $$ BEGIN\n\n  PERFORM 1 FROM nothing; END $$"),
      StartsWith("42P01: line 3:"));
  EXPECT_EQ(change("CREATE TABLE t (id INT)"), "42P07: relation \"t\" already exists");
  EXPECT_THAT(change("CREATE INDEX i ON nothing (v)"), StartsWith("42P01"));
  EXPECT_THAT(change(procedure("first")), StartsWith("42723"));
  EXPECT_EQ(program_->procedures.size(), 1U);
}

}  // namespace
}  // namespace mneme
