// Goal: constants are computed when a statement is planned, as PostgreSQL 15 does, and conditions are
// evaluated in its order. Method: a table of statements on one row whose z is 0, so that 1 / z raises where
// it is evaluated, with what PostgreSQL 15.20 answered; and of expressions of PL/pgSQL.
#include "procedures/typing/constant_folding.h"

#include <gtest/gtest.h>

#include "engine/testing/test_database.h"
#include "procedures/session/sql_session.h"

namespace mneme {
namespace {

struct Folding {
  const char* sql;
  const char* answer;  // the rows' first columns, each in brackets; or the sqlstate
};

constexpr Folding kFoldedStatements[] = {
    // A constant raises, be it in a branch that is not taken or for no row at all.
    {"SELECT 1 / 0 FROM t WHERE FALSE", "22012"},
    {"SELECT k FROM t WHERE k = 7 AND 1 / 0 = 1", "22012"},
    {"SELECT CASE WHEN z = 0 THEN 5 ELSE 1 / 0 END FROM t", "22012"},
    {"SELECT coalesce(z, 1 / 0) FROM t", "22012"},
    {"SELECT k FROM t WHERE b OR 1 / 0 = 1", "22012"},
    {"SELECT NULL::INT + 1 / 0 FROM t", "22012"},
    {"SELECT k FROM t WHERE z IN (5, 1 / 0)", "22012"},
    {"SELECT k FROM t LIMIT 1 / 0", "22012"},
    {"SELECT k FROM t ORDER BY z + 1 / 0", "22012"},
    {"SELECT sum(1 / 0) FROM t WHERE k = 7", "22012"},
    {"UPDATE t SET z = 100000000000 WHERE k = 7", "22003"},
    {"UPDATE t SET z = 1 / 0 WHERE FALSE", "22012"},
    {"DELETE FROM t WHERE k = 7 RETURNING 1 / 0", "22012"},
    {"INSERT INTO t VALUES (1, 1 / 0, TRUE, NULL)", "22012"},
    {"SELECT CAST('abc' || '' AS INT) FROM t WHERE FALSE", "22P02"},
    // Branches that constants rule out are not evaluated; PostgreSQL decides from the left.
    {"SELECT CASE WHEN FALSE THEN 1 / 0 ELSE z END FROM t", "[0]"},
    {"SELECT CASE WHEN NULL THEN 1 / 0 WHEN TRUE THEN 2 ELSE 1 / 0 END FROM t", "[2]"},
    {"SELECT CASE 1 WHEN 2 THEN 1 / 0 WHEN 1 THEN z END FROM t", "[0]"},
    {"SELECT coalesce(1, 1 / 0) FROM t", "[1]"},
    {"SELECT k FROM t WHERE TRUE OR 1 / 0 = 1", "[1]"},
    {"SELECT k FROM t WHERE b AND (TRUE OR 1 / 0 = 1)", "[1]"},
    {"SELECT k FROM t WHERE FALSE AND 1 / 0 = 1", ""},
    {"SELECT k FROM t WHERE 1 / z = 1 AND FALSE", ""},
    {"SELECT k FROM t WHERE 1 / z = 1 AND NULL", ""},
    {"SELECT k FROM t WHERE NOT (1 / z = 1 OR TRUE)", ""},
    {"SELECT (1 / z = 1) AND FALSE FROM t", "[f]"},
    {"SELECT 1 / z = 1 OR TRUE FROM t", "[t]"},
    {"SELECT (1 / z = 1) AND NULL FROM t", "22012"},
    // A strict operator or function with a constant NULL argument is NULL.
    {"SELECT 1 / z + NULL FROM t", "[]"},
    {"SELECT 'a' || NULL || (1 / z) FROM t", "[]"},
    {"SELECT power(1 / z, NULL::INT) FROM t", "[]"},
    {"SELECT k FROM t WHERE (1 / z)::SMALLINT <> NULL", ""},
    {"SELECT NULL BETWEEN 1 / z AND 2 FROM t", "[]"},
    {"SELECT k FROM t ORDER BY 1 / z + NULL", "[1]"},
    {"SELECT sum(1 / z) + NULL FROM t", "[]"},
    {"SELECT min(k) + NULL FROM t", "[]"},
    {"SELECT nullif(NULL::INT, 1 / z) FROM t", "[]"},
    {"SELECT nullif(1 / z, NULL::INT) FROM t", "22012"},
    {"SELECT greatest(NULL, 1 / z) FROM t", "22012"},
    {"SELECT (1 / z) IS DISTINCT FROM NULL FROM t", "22012"},
    // IN compares with an array of all that names no column, first.
    {"SELECT k FROM t WHERE (1 / z) IN (NULL)", ""},
    {"SELECT k FROM t WHERE NULL::INT IN (1 / z, 2)", ""},
    {"SELECT k FROM t WHERE 1 IN (1 / z, 1)", "[1]"},
    {"SELECT k FROM t WHERE 1 IN (1 / z, 1, 1)", "[1]"},
    {"SELECT k FROM t WHERE k IN (1 / z, 1, 2)", "[1]"},
    {"SELECT k FROM t WHERE k IN (1 / z, 1)", "22012"},
    {"SELECT k FROM t WHERE z IN (NULL, NULL, 1 / z)", "22012"},
    {"SELECT k FROM t WHERE 'x' IN (1, 2)", "22P02"},
    {"SELECT k FROM t WHERE 't' IN (TRUE, 'x')", "22P02"},
    // Conditions that cost less come first, and a NULL ends them.
    {"SELECT k FROM t WHERE 1 / z + 1 = 2 AND z = 5", ""},
    {"SELECT k FROM t WHERE z = NULL::INT + k AND 1 / z = 1", ""},
    {"SELECT k FROM t WHERE n <> z AND 1 / z = 1", ""},
    {"SELECT k FROM t WHERE NOT (1 / z = 1 OR n = z)", ""},
    {"SELECT k FROM t WHERE z NOT IN (1 / z, z)", ""},
    {"SELECT k FROM t WHERE 1 / z = 1 AND 'a' = 'b' || TIMESTAMP '2000-01-01'", ""},
    {"SELECT k FROM t WHERE 1 / z NOT IN (NULL, z)", ""},
    // A condition without a column is evaluated once, also for no row. A timestamp's text depends on settings
    // in PostgreSQL, and is no constant.
    {"SELECT CAST('abc' || '' AS TIMESTAMP) FROM t WHERE FALSE", ""},
    {"SELECT k FROM t WHERE k = 7 AND CAST('abc' || '' AS TIMESTAMP) = TIMESTAMP '2000-01-01'", "22007"},
};

class ConstantFoldingTest : public testing::Test {
 protected:
  static std::string answer(const std::string& sql) {
    const bool is_body = sql.ends_with(';');
    const auto program = *compile(
        "CREATE TABLE t (k INT PRIMARY KEY, z INT, b BOOLEAN, n INT);"
        "CREATE PROCEDURE p(v INT, INOUT r INT) LANGUAGE plpgsql AS $$ BEGIN " +
            (is_body ? sql : "NULL;") + " END $$;",
        "test.sql");
    CountingLog log;
    Database database(program->catalog, 1);
    SqlSession session(*program, database, WorkerId{0});
    database.attach_log(log, RecordContent::kLogical);
    EXPECT_TRUE(run(session, "INSERT INTO t VALUES (1, 0, TRUE, NULL)").ok());
    const StatementResult result = run(session, is_body ? "CALL p(0, NULL)" : sql);
    if (!result.ok()) return result.sqlstate;
    std::string text;
    for (const auto& row : result.rows) text += "[" + row[0].value_or("") + "]";
    return text;
  }

 private:
  static StatementResult run(SqlSession& session, std::string_view text) {
    const ParsedStatement parsed = parse_statement(text);
    return parsed.command ? session.run(*parsed.command) : parsed.failure;
  }
};

TEST_F(ConstantFoldingTest, StatementsAnswerAsInPostgresql) {
  for (const Folding& row : kFoldedStatements) EXPECT_EQ(answer(row.sql), row.answer) << row.sql;
}

constexpr Folding kFoldedBodies[] = {
    {"r := CASE WHEN v = 0 THEN 1 ELSE 1 / 0 END;", "22012"},
    {"r := NULL + 1 / v;", "[]"},
    {"IF v = 1 THEN r := 1 / 0; END IF; r := 2;", "[2]"},
    {"IF v = 0 OR 1 / 0 = 1 THEN r := 1; END IF;", "22012"},
    {"CASE 1 WHEN 1 / v THEN r := 1; ELSE r := 2; END CASE;", "22012"},
    {"CASE NULL::INT WHEN 1 / v THEN r := 1; ELSE r := 2; END CASE;", "22012"},
    {"IF v IN (0, 1 / v) THEN r := 1; END IF;", "22012"},
    {"IF v IN (NULL, 1, 1 / v) THEN r := 1; END IF;", "22012"},
    {"FOR i IN 1 .. 0 LOOP r := 1 / 0; END LOOP; r := 3;", "[3]"},
    {"FOR i IN 1 .. 1 LOOP EXIT WHEN v = 0 OR 1 / 0 = 1; END LOOP;", "22012"},
    {"SELECT 1 / 0 INTO r FROM t WHERE k = 7;", "22012"},
    {"SELECT 100000 INTO r FROM t WHERE k = 7 AND 1 / z = 1; r := 4;", "[4]"},
    {"FOR r IN SELECT k FROM t WHERE k = 7 AND 1 / 0 = 1 LOOP NULL; END LOOP;", "22012"},
    {"UPDATE t SET z = 1 / 0 WHERE k = 7;", "22012"},
    {"UPDATE t SET n = 1 WHERE k = 7 AND 1 / v = 1;", "22012"},
    {"RAISE EXCEPTION '%', coalesce(v, 1 / 0);", "22012"},
};

TEST_F(ConstantFoldingTest, ProceduresAnswerAsInPostgresql) {
  for (const Folding& row : kFoldedBodies) EXPECT_EQ(answer(row.sql), row.answer) << row.sql;
}

}  // namespace
}  // namespace mneme
