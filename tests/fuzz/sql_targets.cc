// Text: schemas and procedures, a session's statements, arguments of calls.
#include <array>

#include "analyzer/dependency_graph.h"
#include "base/check.h"
#include "engine/testing/test_database.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/native/compiled_units.h"
#include "procedures/native/emitter.h"
#include "procedures/parser/statement_splitter.h"
#include "procedures/session/sql_session.h"
#include "procedures/testing/test_program.h"
#include "tests/fuzz/target.h"

namespace mneme::fuzz {
namespace {

// An accepted text can be analysed and emitted as C++, and is accepted again in the form in which it is kept.
void hold_sql(ByteSpan input) {
  const Result<std::unique_ptr<Program>> program = compile(as_text(input), "input.sql");
  if (!accepted(program)) return;
  const auto again = compile((*program)->text(), "kept.sql");
  CHECK(again.ok());
  CHECK((*again)->hash() == (*program)->hash());
  analyze(**program).verify();
  const Schema schema((*program)->catalog);
  CHECK(!emit_cpp(**program, schema, procedure_units(**program)).empty());
}

constexpr std::array kBodies = {
    "SELECT balance INTO n FROM account WHERE id = p_id; IF NOT FOUND THEN RAISE EXCEPTION 'no % here', "
    "p_id; END IF;",
    "UPDATE account SET balance = balance + 1.5, code = 'x' WHERE branch = 3 AND name >= 'a' RETURNING id "
    "INTO v;",
    "INSERT INTO entry VALUES (p_id, 1, 2.50, 'n' || p_name); DELETE FROM entry WHERE account = p_id;",
    "FOR i IN 1..cardinality(p_ids) LOOP v := p_ids[i]; CONTINUE WHEN v IS NULL; EXIT WHEN v > 9; END LOOP;",
    "FOR r IN SELECT id, name FROM account WHERE branch = k ORDER BY name DESC LIMIT 3 LOOP t := r.name; END "
    "LOOP;",
    "WHILE v < 3 LOOP v := v + 1; END LOOP; CASE v WHEN 1 THEN b := true; ELSE b := NOT b AND (v % 2 = 0); "
    "END CASE;",
    "SELECT count(*), sum(amount), max(number) INTO v, n, w FROM entry WHERE account = p_id AND number "
    "BETWEEN 1 AND 5;",
    "d := 1.5::double precision * v; s := now(); c := substr(t, 1, 2); w := -w / 2 + abs(v); n := round(n, "
    "1);",
};

std::vector<Bytes> sql_seeds() {
  std::vector<Bytes> seeds;
  for (const char* body : kBodies) seeds.push_back(bytes_of(test_procedure(body)));
  seeds.push_back(
      bytes_of("CREATE TABLE t (a INT NOT NULL, \"B\" CHAR(2) COLLATE \"C\", UNIQUE (a)); -- a comment\n"
               "CREATE UNIQUE INDEX i ON t (a);\nCREATE OR REPLACE PROCEDURE q(INOUT x BIGINT) AS $b$ BEGIN "
               "NULL; END $b$ "
               "LANGUAGE plpgsql; /* and /* one */ more */"));
  return seeds;
}

constexpr size_t kMostStatements = 16;

void run_statement(SqlSession& session, const std::string& text) {
  const ParsedStatement parsed = parse_statement(text);
  if (!parsed.command) {
    CHECK(!parsed.failure.ok() && !parsed.failure.message.empty());
    return session.fail_block();
  }
  if (parsed.command->changes_schema()) return;
  const StatementResult result = session.run(*parsed.command);
  CHECK(result.ok() ? !result.tag.empty() || !result.columns.empty() : !result.message.empty());
  for (const auto& row : result.rows) CHECK(row.size() == result.columns.size());
}

void hold_statements(ByteSpan input) {
  static const std::unique_ptr<Program> program =
      *compile(std::string(kTestSchema) +
                   "CREATE PROCEDURE deposit(p_id INT, p_amount NUMERIC(12,2), INOUT r NUMERIC(12,2)) "
                   "LANGUAGE plpgsql AS $$ "
                   "BEGIN UPDATE account SET balance = balance + p_amount WHERE id = p_id RETURNING balance "
                   "INTO r; END $$;",
               "test.sql");
  CountingLog log;
  Database database(program->catalog, 1, PageSize::kSmall);
  database.attach_log(log, RecordContent::kLogical);
  SqlSession session(*program, database, WorkerId{0});
  run_statement(session, "INSERT INTO account VALUES (1, 1, 'a', NULL, 10.00, 0.5, 1, 1, true, NULL)");
  run_statement(session, "INSERT INTO entry VALUES (1, 1, 2.50, 'note')");
  StatementSplitter splitter;
  size_t count = 0;
  for (std::string_view rest = as_text(input); !rest.empty() && count < kMostStatements;) {
    const size_t line = std::min(rest.find('\n'), rest.size() - 1) + 1;
    splitter.add(rest.substr(0, line));
    rest.remove_prefix(line);
    while (const auto statement = splitter.next()) {
      if (++count > kMostStatements) break;
      run_statement(session, statement->text);
    }
  }
  if (const auto last = splitter.finish()) run_statement(session, last->text);
}

std::vector<Bytes> statements_seeds() {
  return {
      bytes_of("INSERT INTO account VALUES (2, 1, 'b', 'cc', 1.25, 2.5, 3, 4, false, TIMESTAMP '2024-02-29 "
               "12:00:00');\n"
               "SELECT id, name || code, balance * 2, since FROM account WHERE branch = 1 ORDER BY id DESC "
               "LIMIT 5;\n"),
      bytes_of("BEGIN;\nUPDATE account SET balance = balance / 1 + 3, small = small + 1 WHERE id BETWEEN 1 "
               "AND 2;\n"
               "DELETE FROM entry WHERE account = 1 RETURNING note, amount;\nROLLBACK; COMMIT"),
      bytes_of(
          "CALL deposit(1, 2.5, NULL);\nSELECT count(*), sum(balance), min(name), max(rate), avg(big) FROM "
          "account;\n"
          "/* a comment; */ SELECT 'it''s' FROM journal -- another;\n WHERE line LIKE 'a%' OR line IS NULL;"),
      bytes_of(
          "SELECT a.id, e.amount FROM account a JOIN entry e ON e.account = a.id WHERE a.id = 1;\n"
          "INSERT INTO tally VALUES (1, 2147483647); UPDATE tally SET amount = amount + 1 WHERE kind = 1;\n"
          "SELECT CASE WHEN open THEN rate ELSE -rate END, coalesce(code, 'x'), cast(balance as int) FROM "
          "account"),
  };
}

// u8 of the type, then its text. What is read is printed, and then read as the same.
void hold_arguments(ByteSpan input) {
  static const std::unique_ptr<Program> program = *compile(
      "CREATE PROCEDURE p(a INT, b BIGINT, c SMALLINT, d BOOLEAN, e NUMERIC(12,2), f NUMERIC(30,4), g DOUBLE "
      "PRECISION, h TIMESTAMP, i CHAR(4), j VARCHAR(20), k INT[], l NUMERIC(12,2)[], m VARCHAR(5)[]) "
      "LANGUAGE "
      "plpgsql AS $$ BEGIN NULL; END $$;",
      "test.sql");
  if (input.empty()) return;
  const ir::Procedure& procedure = program->procedures[0];
  const size_t number = static_cast<size_t>(input[0]) % procedure.parameters.size();
  const Type& type = procedure.variables[procedure.parameters[number].variable.value].type;
  Arena arena;
  const Result<Argument> argument = parse_argument(type, as_text(input.subspan(1)), arena);
  if (!accepted(argument)) return;
  const std::optional<std::string> text = print_argument(type, *argument);
  CHECK(text.has_value());
  const Result<Argument> again = parse_argument(type, *text, arena);
  CHECK(again.ok());
  CHECK(print_argument(type, *again) == text);
  CHECK(!sql_literal(type, *argument).empty());
}

std::vector<Bytes> arguments_seeds() {
  constexpr std::array kTexts = {"-17",
                                 "9223372036854775807",
                                 "32767",
                                 "true",
                                 "1234567890.25",
                                 "-0.00005",
                                 "1.5e300",
                                 "2024-02-29 12:34:56.789012",
                                 "ab",
                                 "a name",
                                 "{1,NULL,-3}",
                                 "{1.5,2.25}",
                                 "{\"a,\\\"b\",c}"};
  std::vector<Bytes> seeds;
  for (size_t i = 0; i < kTexts.size(); ++i) {
    seeds.push_back(bytes_of(std::string(1, static_cast<char>(i)) + kTexts[i]));
  }
  return seeds;
}

}  // namespace

const Target kSqlTarget{.name = "sql", .hold = hold_sql, .seeds = sql_seeds};
const Target kStatementsTarget{.name = "statements", .hold = hold_statements, .seeds = statements_seeds};
const Target kArgumentsTarget{.name = "arguments", .hold = hold_arguments, .seeds = arguments_seeds};

}  // namespace mneme::fuzz
