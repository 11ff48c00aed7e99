// Goal: a program knows its catalog, its procedures, what each operation touches, and what it means to a log.
// Method: small files compiled; facts of the result compared.
#include "procedures/binder/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "procedures/testing/test_program.h"

namespace mneme {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Program> compiled(const std::string& text) {
  auto program = compile(text, "test.sql");
  EXPECT_TRUE(program.ok()) << program.error().message;
  return std::move(program).value();
}

TEST(Program, ReadsASchemaAsPostgresqlDoes) {
  const auto program = compiled(
      "create table T (a INTEGER CONSTRAINT k PRIMARY KEY, b DECIMAL(5), c CHARACTER(3) NOT NULL, d "
      "CHARACTER VARYING(7) "
      "NULL, e DOUBLE PRECISION, f TIMESTAMP(6) WITHOUT TIME ZONE, g BOOL, h INT8, i CHAR, j VARCHAR(5) "
      "COLLATE \"C\", "
      "k TEXT CHECK (length(k) <= 9), l INT NOT NULL UNIQUE, \"order\" INT2, CONSTRAINT z UNIQUE (c, l), "
      "UNIQUE (a, c));\n"
      "/* a comment /* inside one */ with \xc3\xa9 */ CREATE INDEX i ON t (e ASC, a) -- the end");
  EXPECT_EQ(print_catalog(program->catalog),
            "table t\n"
            "  a int not null\n"
            "  b numeric(5,0)\n"
            "  c char(3) not null\n"
            "  d varchar(7)\n"
            "  e double precision\n"
            "  f timestamp\n"
            "  g boolean\n"
            "  h bigint\n"
            "  i char(1)\n"
            "  j varchar(5)\n"
            "  k text(9)\n"
            "  l int not null\n"
            "  order smallint\n"
            "  unique primary key k(a)\n"
            "  unique index t_l_key(l)\n"
            "  unique index z(c, l)\n"
            "    made by 1\n"
            "  unique index t_a_c_key(a, c)\n"
            "  index i(e, a)\n");
}

TEST(Program, MarksIndexesThatAreReadInOrder) {
  const auto program =
      compiled(test_procedure("SELECT id INTO v FROM account WHERE id = 1; "
                              "SELECT count(*) INTO v FROM entry WHERE account = 1;"));
  EXPECT_FALSE(program->catalog.index(*program->catalog.find_table("account")->primary_key).ordered);
  EXPECT_TRUE(program->catalog.index(*program->catalog.find_table("entry")->primary_key).ordered);
}

TEST(Program, ListsTheVariablesThatAnOperationUsesAndDefines) {
  const auto program = compiled(test_procedure(
      "UPDATE account SET name = p_name WHERE id = p_ids[v] RETURNING balance INTO n; b := FOUND;"));
  const ir::Procedure& procedure = program->procedures[0];
  const ir::Operation& update = procedure.operations[0];
  const auto names = [&](const std::vector<VariableId>& variables) {
    std::vector<std::string> result;
    for (const VariableId variable : variables) result.push_back(procedure.variables[variable.value].name);
    return result;
  };
  EXPECT_THAT(names(update.uses), ElementsAre("p_name", "p_ids", "v"));
  EXPECT_THAT(names(update.defines), ElementsAre("n", "found"));
  EXPECT_TRUE(procedure.writes);
}

TEST(Program, UsesAnArrayThatAPathIteratesOver) {
  const auto program =
      compiled(test_procedure("SELECT count(*) INTO v FROM entry WHERE account = ANY (p_ids);"));
  const ir::Procedure& procedure = program->procedures[0];
  EXPECT_THAT(procedure.operations[0].uses, ElementsAre(procedure.parameters[2].variable));
  EXPECT_FALSE(procedure.writes);
  EXPECT_FALSE(procedure.found.valid());
}

TEST(Program, FindsProceduresByName) {
  const auto program = compiled(test_procedure("NULL;"));
  ASSERT_NE(program->find_procedure("p"), nullptr);
  EXPECT_EQ(program->find_procedure("p")->parameters.size(), 5u);
  EXPECT_TRUE(program->find_procedure("p")->parameters[3].inout);
  EXPECT_EQ(program->find_procedure("q"), nullptr);
}

TEST(Program, HashesMeaningAndNotLayout) {
  const std::string schema = "CREATE TABLE t (a INT PRIMARY KEY, b INT);";
  const auto hash = [&](const std::string& procedure) { return compiled(schema + procedure)->hash(); };
  const uint64_t first =
      hash("CREATE PROCEDURE p(x INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET b = 1 WHERE a = x; END $$;");
  EXPECT_EQ(
      first,
      hash("create or replace procedure P(X int) as $q$ -- why\nbegin\n update T set B = (1)\n where A = X;"
           " end; $q$ language plpgsql"));
  EXPECT_NE(
      first,
      hash("CREATE PROCEDURE p(x INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET b = 2 WHERE a = x; END $$;"));
  EXPECT_NE(first, hash("CREATE PROCEDURE p(x BIGINT) LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET b = 1 WHERE "
                        "a = x; END $$;"));
  EXPECT_NE(
      first,
      hash("CREATE PROCEDURE q(x INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET b = 1 WHERE a = x; END $$;"));
}

TEST(Program, PrintsWhatASliceDoesAboutItsOperations) {
  const auto program = compiled(test_procedure(
      "SELECT branch INTO v FROM account WHERE id = p_id; UPDATE account SET branch = v WHERE id = p_id;"));
  const ir::Procedure& procedure = program->procedures[0];
  ir::MarkedBody slice{{procedure.body.begin() + 1, procedure.body.end()}, {}};
  slice.mark(slice.statements[0], {.mode = ir::OperationMode::kRecall});
  slice.mark(slice.statements[1], {.mode = ir::OperationMode::kPerformAndRecord});
  EXPECT_EQ(print_body(*program, procedure, slice),
            "recall #0 into v\n"
            "record\n"
            "  #1 update account point account_pkey(id = p_id)\n"
            "      reads account(id)\n"
            "      writes account(branch)\n"
            "      set branch := v\n");
  const ir::Expr& key = procedure.operations[1].access[0].path.equalities[0].values[0];
  slice.mark(slice.statements[1], {.mode = ir::OperationMode::kLocate, .lane_key = {key}});
  slice.statements.erase(slice.statements.begin());
  EXPECT_EQ(print_body(*program, procedure, slice), "locate #1 account by (p_id)\n");
}

}  // namespace
}  // namespace mneme
