// Goal: no text ends the process, however deep it nests, however long its chains and lists are, on a small
// stack, too. Method: a thread with 512 KiB of stack compiles and runs the deepest text that is accepted of
// each kind; what is deeper is refused as too complex. Lists and chains that are not deep are accepted with
// thousands of members, and mean what short ones mean.
#include <gmock/gmock.h>

#include "base/function_ref.h"
#include "base/testing/test_effort.h"
#include "base/testing/test_small_stack.h"
#include "engine/testing/test_database.h"
#include "procedures/session/sql_session.h"
#include "procedures/testing/test_program.h"

namespace mneme::depth_test {
namespace {

using test::on_small_stack;

constexpr const char* kSchema =
    "CREATE TABLE t (id INT PRIMARY KEY, v INT, w NUMERIC(9,2), s VARCHAR(20), b BOOLEAN);\n";
constexpr const char* kTooComplex = "54001";

std::string many_times(std::string_view text, size_t times) {
  std::string all;
  for (; times > 0; --times) all += text;
  return all;
}

// "a, b, c", of member(0), member(1), ...
template <typename Member>
std::string listed(size_t count, std::string_view between, const Member& member) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += (i == 0 ? "" : std::string(between)) + member(i);
  return all;
}

// Returns the result of one statement on a table with one row (7, 7, 7, '7', true), on a small stack.
std::string deep_answer_of(const std::string& procedure, const std::string& statement) {
  std::string answer;
  on_small_stack([&] {
    const auto program = compile(kSchema + procedure, "test.sql");
    if (!program.ok()) {
      answer = program.error().message;
      return;
    }
    Database database((*program)->catalog, 1);
    CountingLog log;
    database.attach_log(log, RecordContent::kLogical);
    SqlSession session(**program, database, WorkerId{0});
    const auto run = [&](const std::string& text) {
      const ParsedStatement parsed = parse_statement(text);
      return parsed.command ? session.run(*parsed.command) : parsed.failure;
    };
    EXPECT_TRUE(run("INSERT INTO t VALUES (7, 7, 7, '7', true)").ok());
    const StatementResult result = run(statement);
    answer = result.ok() ? result.tag : result.sqlstate;
    for (const auto& row : result.rows) answer += "|" + row[0].value_or("null");
  });
  return answer;
}
std::string selected(const std::string& expression) {
  return deep_answer_of("", "SELECT " + expression + " FROM t");
}
// Whether the row is found.
std::string found(const std::string& condition) {
  return deep_answer_of("", "SELECT id FROM t WHERE " + condition);
}

std::string procedure_of(const std::string& declarations, const std::string& body) {
  return "CREATE PROCEDURE p(INOUT r INT) LANGUAGE plpgsql AS $$ DECLARE " + declarations + " BEGIN " + body +
         " END $$;";
}
std::string called(const std::string& body, const std::string& declarations = "") {
  return deep_answer_of(procedure_of(declarations, body), "CALL p(0)");
}

TEST(Depth, ChainsOfOperatorsUpToTheBound) {
  constexpr size_t kMost = 490;
  EXPECT_EQ(selected("v" + many_times(" + 1", kMost)), "SELECT 1|497");
  EXPECT_EQ(selected("w" + many_times(" + 1", kMost)), "SELECT 1|497.00");
  EXPECT_EQ(selected("length(s" + many_times(" || 'x'", kMost) + ")"), "SELECT 1|491");
  EXPECT_EQ(selected(many_times("- ", kMost) + "v"), "SELECT 1|7");
  EXPECT_EQ(selected(many_times("NOT ", kMost) + "b"), "SELECT 1|t");
  EXPECT_EQ(selected("v" + many_times("::bigint::int", kMost / 2)), "SELECT 1|7");
  EXPECT_EQ(selected("b" + many_times(" IS TRUE", kMost)), "SELECT 1|t");
}

TEST(Depth, LongerChainsAreTooComplex) {
  constexpr size_t kTooMany = 100'000;
  EXPECT_EQ(selected("v" + many_times(" + 1", kTooMany)), kTooComplex);
  EXPECT_EQ(selected("s" + many_times(" || 'x'", kTooMany)), kTooComplex);
  EXPECT_EQ(selected(many_times("- ", kTooMany) + "v"), kTooComplex);
  EXPECT_EQ(selected(many_times("NOT ", kTooMany) + "b"), kTooComplex);
  EXPECT_EQ(selected("v" + many_times("::int", kTooMany)), kTooComplex);
  EXPECT_EQ(selected("v" + many_times("[1]", kTooMany)), kTooComplex);
  EXPECT_EQ(selected("b" + many_times(" IS TRUE", kTooMany)), kTooComplex);
}

TEST(Depth, NestingUpToTheBound) {
  constexpr size_t kMost = 95;
  EXPECT_EQ(selected(many_times("(", kMost) + "v" + many_times(")", kMost)), "SELECT 1|7");
  EXPECT_EQ(selected(many_times("abs(", kMost) + "v" + many_times(")", kMost)), "SELECT 1|7");
  EXPECT_EQ(selected(many_times("coalesce(NULL, 1 + ", kMost) + "v" + many_times(")", kMost)),
            "SELECT 1|102");
  EXPECT_EQ(selected(many_times("(1 + ", kMost) + "v" + many_times(")", kMost)), "SELECT 1|102");
  EXPECT_EQ(selected(many_times("CASE WHEN b THEN ", kMost) + "v" + many_times(" END", kMost)), "SELECT 1|7");
  EXPECT_EQ(found(many_times("(false OR b AND ", kMost) + "b" + many_times(")", kMost)), "SELECT 1|7");
  EXPECT_EQ(called(many_times("IF true THEN ", kMost) + "r := 1;" + many_times(" END IF;", kMost)), "CALL|1");
  EXPECT_EQ(called(many_times("BEGIN ", kMost) + "r := 1;" + many_times(" END;", kMost)), "CALL|1");
  EXPECT_EQ(
      called(many_times("FOR i IN 1..1 LOOP ", kMost) + "r := r + 1;" + many_times(" END LOOP;", kMost)),
      "CALL|1");
}

TEST(Depth, DeeperNestingIsTooComplex) {
  constexpr size_t kTooDeep = 100'000;
  EXPECT_EQ(selected(many_times("(", kTooDeep) + "v" + many_times(")", kTooDeep)), kTooComplex);
  EXPECT_EQ(selected(many_times("CASE WHEN b THEN ", kTooDeep) + "v" + many_times(" END", kTooDeep)),
            kTooComplex);
  EXPECT_EQ(selected(many_times("(", kTooDeep)), kTooComplex);
  EXPECT_THAT(called(many_times("IF true THEN ", kTooDeep) + many_times(" END IF;", kTooDeep)),
              testing::HasSubstr("this stands in 100 others"));
}

// Each BETWEEN has what it compares twice: a short text, and as many parts as there are stars.
TEST(Depth, ExpressionsThatGrowWithoutEndAreTooComplex) {
  EXPECT_EQ(found(many_times("(", 60) + "b" + many_times(" BETWEEN false AND true)", 60)), kTooComplex);
  if (kIsSanitized) return;  // the other takes a minute there
  EXPECT_EQ(found(many_times("(", 60) + "b" + many_times(" IN (true, NULL, false))", 60)), kTooComplex);
}

TEST(Depth, ListsOfThousands) {
  constexpr size_t kMany = 5000;
  const auto number = [](size_t i) { return std::to_string(i + 3); };
  const auto mixed = [](size_t i) { return std::to_string(i + 3) + (i % 2 == 0 ? "" : ".0"); };
  const auto others = [](size_t i) { return std::to_string(i + 8) + (i % 2 == 0 ? "" : ".0"); };
  EXPECT_EQ(found("v IN (" + listed(kMany, ", ", number) + ")"), "SELECT 1|7");
  EXPECT_EQ(found("v IN (" + listed(kMany, ", ", mixed) + ")"), "SELECT 1|7");
  EXPECT_EQ(found("v NOT IN (" + listed(kMany, ", ", mixed) + ")"), "SELECT 0");
  EXPECT_EQ(found("v NOT IN (" + listed(kMany, ", ", others) + ")"), "SELECT 1|7");
  EXPECT_EQ(found("v NOT IN (" + listed(kMany, ", ", others) + ", NULL)"), "SELECT 0");
}

TEST(Depth, ChainsOfAndAndOr) {
  constexpr size_t kMany = 5000;
  EXPECT_EQ(found(listed(kMany, " OR ", [](size_t i) { return "v = " + std::to_string(i); })), "SELECT 1|7");
  EXPECT_EQ(found(listed(kMany, " AND ", [](size_t i) { return "v <> " + std::to_string(i + 8); })),
            "SELECT 1|7");
  EXPECT_EQ(found(listed(kMany, " AND ", [](size_t i) { return "v <> " + std::to_string(i); })), "SELECT 0");
  EXPECT_EQ(selected(listed(kMany, " OR ", [](size_t) { return "NULL"; }) + " OR b"), "SELECT 1|t");
  EXPECT_EQ(selected(listed(kMany, " AND ", [](size_t) { return "b"; }) + " AND NULL"), "SELECT 1|null");
  // The part that decides keeps those behind it from being evaluated.
  EXPECT_EQ(selected("v = 7 OR " + listed(kMany, " OR ", [](size_t) { return "1 / (v - 7) = 1"; })),
            "SELECT 1|t");
}

TEST(Depth, CasesOfThousands) {
  constexpr size_t kMany = 5000;
  const auto when = [](size_t i) {
    return "WHEN v = " + std::to_string(i) + " THEN " + std::to_string(i + 1);
  };
  const auto value = [](size_t i) { return "WHEN " + std::to_string(i) + " THEN " + std::to_string(i + 1); };
  EXPECT_EQ(selected("CASE " + listed(kMany, " ", when) + " END"), "SELECT 1|8");
  EXPECT_EQ(selected("CASE v " + listed(kMany, " ", value) + " END"), "SELECT 1|8");
  EXPECT_EQ(called("CASE r WHEN " + listed(kMany, ", ", [](size_t i) { return std::to_string(i); }) +
                   " THEN r := 5; END CASE;"),
            "CALL|5");
}

TEST(Depth, BranchesUpToTheBound) {
  constexpr size_t kMost = 490;
  const auto branch = [](size_t i) { return "r = -" + std::to_string(i + 1) + " THEN r := 2;"; };
  EXPECT_EQ(called("IF " + listed(kMost, " ELSIF ", branch) + " ELSE r := 9; END IF;"), "CALL|9");
  EXPECT_THAT(called("IF " + listed(5000, " ELSIF ", branch) + " ELSE r := 9; END IF;"),
              testing::HasSubstr("belong together here"));
}

TEST(Depth, ProceduresOfThousands) {
  constexpr size_t kMany = 2000;
  EXPECT_EQ(called(many_times("r := r + 1; ", kMany)), "CALL|2000");
  EXPECT_EQ(
      called("r := x1999;",
             listed(kMany, " ",
                    [](size_t i) { return "x" + std::to_string(i) + " INT := " + std::to_string(i) + ";"; })),
      "CALL|1999");
}

// A log's catalog must not depend on how a chain is kept in memory.
TEST(Depth, ChainsArePrintedToTheLeft) {
  EXPECT_EQ(bound_text("b := " + listed(20, " AND ", [](size_t) { return "b"; }) + ";"),
            "\nb := " + many_times("(", 19) + "b" + many_times(" and b)", 19) + "\n");
  EXPECT_EQ(bound_text("b := b OR (b OR b) OR b;"), "\nb := ((b or (b or b)) or b)\n");
}

TEST(Depth, TakesNoStackApart) {
  ir::Expr expr;
  for (size_t i = 0; i < 1'000'000; ++i) {
    ir::Expr outer;
    outer.args.push_back(std::move(expr));
    expr = std::move(outer);
  }
  ir::Statement statement;
  for (size_t i = 0; i < 100'000; ++i) {
    ir::Statement outer;
    outer.else_body.push_back(std::move(statement));
    statement = std::move(outer);
  }
  EXPECT_EQ(statement.else_body.size(), 1U);  // and both are destroyed
}

}  // namespace
}  // namespace mneme::depth_test
