// Goal: a session's statements mean what they mean in PostgreSQL 15, and its blocks end as they do there.
// Method: a small schema with hashed and ordered indexes; statements one after the other, each held against
// what psql prints for it: rows, tags, sqlstates and messages. A second session stands in the way where
// conflicts are wanted.
#include "procedures/session/sql_session.h"

#include <gmock/gmock.h>

#include "engine/testing/test_database.h"
#include "procedures/parser/statement_splitter.h"

namespace mneme {
namespace {

constexpr const char* kSessionSql = R"sql(
CREATE TABLE account (id INT PRIMARY KEY, branch INT NOT NULL, name VARCHAR(20), balance NUMERIC(12,2) NOT NULL);
CREATE INDEX account_by_branch ON account (branch);
CREATE TABLE entry (account INT, number INT, amount NUMERIC(8,2) NOT NULL, PRIMARY KEY (account, number));
CREATE TABLE journal (line VARCHAR(10));
CREATE TABLE tally (kind INT NOT NULL, amount INT NOT NULL);
CREATE INDEX tally_by_kind ON tally (kind);
CREATE PROCEDURE deposit(p_id INT, p_amount NUMERIC(12,2), INOUT r_balance NUMERIC(12,2)) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance + p_amount WHERE id = p_id RETURNING balance INTO r_balance;
  IF p_amount < 0 THEN RAISE EXCEPTION 'no'; END IF;
END $$;
CREATE PROCEDURE count_of(p_ids INT[], p_name VARCHAR(5), INOUT r_count INT, INOUT r_ids INT[]) LANGUAGE plpgsql AS $$
BEGIN r_count := cardinality(p_ids); r_ids := p_ids; END $$;
)sql";

class SqlSessionTest : public testing::Test {
 protected:
  SqlSessionTest()
      : program_(*compile(kSessionSql, "test.sql")),
        database_(program_->catalog, 2),
        session_(*program_, database_, WorkerId{0}),
        other_(*program_, database_, WorkerId{1}) {
    database_.attach_log(log_, RecordContent::kLogical);
  }

  static StatementResult run(SqlSession& session, std::string_view text) {
    const ParsedStatement parsed = parse_statement(text);
    if (parsed.command) return session.run(*parsed.command);
    session.fail_block();
    return parsed.failure;
  }
  // Rows as psql prints them with -A: columns joined by |; of a failure its code and message.
  static std::string told(const StatementResult& result) {
    if (!result.ok()) return result.sqlstate + ": " + result.message;
    if (result.columns.empty())
      return result.tag + (result.warning.empty() ? "" : " (" + result.warning + ")");
    std::string text;
    for (size_t i = 0; i < result.columns.size(); ++i) text += (i == 0 ? "" : "|") + result.columns[i].name;
    for (const auto& row : result.rows) {
      text += "\n";
      for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : "|") + row[i].value_or("");
    }
    return text;
  }
  std::string sql(std::string_view text) { return told(run(session_, text)); }
  std::string sql_of_other(std::string_view text) { return told(run(other_, text)); }

  void fill() {
    for (int id = 1; id <= 5; ++id) {
      EXPECT_EQ(sql("INSERT INTO account VALUES (" + std::to_string(6 - id) + ", " + std::to_string(id % 2) +
                    ", 'n', " + std::to_string(id * 10) + ")"),
                "INSERT 0 1");
    }
  }

  std::unique_ptr<Program> program_;
  CountingLog log_;
  Database database_;
  SqlSession session_;
  SqlSession other_;
};

// The query in between takes nothing of its own from the account, and may not be known once for all.
TEST_F(SqlSessionTest, WhatASubqueryTakesFromFurtherOutIsLookedAtForEachRow) {
  fill();
  EXPECT_EQ(sql("INSERT INTO entry VALUES (2, 1, 5), (4, 1, 6)"), "INSERT 0 2");
  EXPECT_EQ(sql("SELECT a.id, (SELECT count(*) FROM account x WHERE EXISTS (SELECT 1 FROM entry e WHERE "
                "e.account = a.id)) AS n FROM account a ORDER BY a.id"),
            "id|n\n1|0\n2|5\n3|0\n4|5\n5|0");
}

// The first attempt reads a balance that another transaction changes behind it, and raises because of it. The
// second one inserts both rows, and must not report the former's error.
TEST_F(SqlSessionTest, TheErrorOfAnAttemptThatReadInconsistentlyIsForgotten) {
  fill();
  class ChangesAtTheFirstRow final : public ResultSink {
   public:
    explicit ChangesAtTheFirstRow(std::function<void()> change) : change_(std::move(change)) {}
    void begin(std::span<const ResultColumn>) override { ++attempts_; }
    void add(std::span<const Argument>) override {
      if (change_) std::exchange(change_, nullptr)();
    }
    int attempts() const { return attempts_; }

   private:
    std::function<void()> change_;
    int attempts_ = 0;
  };
  ChangesAtTheFirstRow rows([&] { sql_of_other("UPDATE account SET balance = 21 WHERE id = 4"); });
  const ParsedStatement parsed = parse_statement(
      "INSERT INTO entry SELECT id, 1, nullif(balance, 20) FROM account WHERE id IN (3, 4) "
      "ORDER BY id RETURNING amount");
  const BoundStatement bound(*program_, std::make_shared<syntax::Command>(*parsed.command));
  EXPECT_EQ(told(session_.execute(bound, {}, rows)), "INSERT 0 2");
  EXPECT_EQ(rows.attempts(), 2);
  EXPECT_EQ(sql("SELECT amount FROM entry"), "amount\n30.00\n21.00");
}

// A refusal of a session's statement does not speak of a procedure.
TEST_F(SqlSessionTest, RefusalsSpeakOfTheSession) {
  const std::pair<const char*, const char*> kRows[] = {
      {"CALL nothing", "a CALL is written CALL name(argument, ...)"},
      {"ROLLBACK TO here", "25P01: ROLLBACK TO SAVEPOINT can only be used in transaction blocks"},
      {"ROLLBACK PREPARED 'x'", "prepared transactions are not supported"},
      {"SAVEPOINT here", "25P01: SAVEPOINT can only be used in transaction blocks"},
      {"RELEASE here", "25P01: RELEASE SAVEPOINT can only be used in transaction blocks"},
      {"SELECT * FROM account JOIN random_rows(1) ON true", "function random_rows(integer) does not exist"},
      {"SELECT * FROM (SELECT 1)", "subquery in FROM must have an alias"},
      {"EXECUTE plan(1)", "prepared statements are not supported"},
      {"CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'x'; END $$",
       "EXECUTE (dynamic SQL) is not supported"},
      {"CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN ROLLBACK; END $$",
       "ROLLBACK is not supported inside a procedure"},
  };
  for (const auto& [statement, told] : kRows)
    EXPECT_THAT(sql(statement), testing::HasSubstr(told)) << statement;
}

TEST_F(SqlSessionTest, LiteralsTakeTheTypesOfWhatTheyMeet) {
  EXPECT_EQ(sql("INSERT INTO account VALUES (1, 1, nullif('   ', CAST('a' AS CHAR)), 0)"), "INSERT 0 1");
  EXPECT_EQ(sql("SELECT length(name) FROM account WHERE id = 1"), "length\n0");
  EXPECT_EQ(sql("SELECT power('1e-400', 2.5) FROM account").substr(0, 5), "0A000");
  EXPECT_EQ(sql("SELECT ceiling(- - -9223372036854775808) % 1 FROM account").substr(0, 5), "42883");
}

TEST_F(SqlSessionTest, SelectsByAnyIndexAndWithoutOne) {
  fill();
  EXPECT_EQ(sql("SELECT id, balance FROM account WHERE id = 2;"), "id|balance\n2|40.00");
  EXPECT_EQ(sql("SELECT id FROM account"), "id\n1\n2\n3\n4\n5");
  EXPECT_EQ(sql("SELECT id FROM account ORDER BY balance LIMIT 2 OFFSET 1"), "id\n4\n3");
  EXPECT_EQ(sql("SELECT id FROM account ORDER BY id DESC LIMIT 2"), "id\n5\n4");
  EXPECT_EQ(sql("SELECT id FROM account WHERE id > 3"), "id\n4\n5");
  EXPECT_EQ(sql("SELECT id FROM account WHERE branch = 1 AND balance > 10"), "id\n1\n3");
  EXPECT_EQ(sql("SELECT count(*), max(id), min(id), sum(balance) FROM account"),
            "count|max|min|sum\n5|5|1|150.00");
  EXPECT_EQ(sql("SELECT id + 1, id AS same, id FROM account WHERE id = 1"), "?column?|same|id\n2|1|1");
  EXPECT_EQ(sql("SELECT a.id, e.amount FROM account a JOIN entry e ON e.account = a.id"), "id|amount");
  EXPECT_EQ(sql("INSERT INTO entry VALUES (2, 1, 5)"), "INSERT 0 1");
  EXPECT_EQ(sql("SELECT a.id, e.amount FROM account a JOIN entry e ON e.account = a.id"),
            "id|amount\n2|5.00");
}

// Hash tables grow in rounds, and their chains get longer than a piece of a walk.
TEST_F(SqlSessionTest, WalksAllOfAHashTable) {
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(
        sql("INSERT INTO entry VALUES (" + std::to_string(i / 7) + ", " + std::to_string(i % 7) + ", 1)"),
        "INSERT 0 1");
  }
  EXPECT_EQ(sql("SELECT count(*), sum(amount) FROM entry"), "count|sum\n3000|3000.00");
  EXPECT_EQ(sql("SELECT number FROM entry WHERE account = 3"), "number\n0\n1\n2\n3\n4\n5\n6");
  EXPECT_EQ(sql("SELECT count(*) FROM entry WHERE account >= 100 AND account < 200"), "count\n700");
  EXPECT_EQ(sql("SELECT max(account) FROM entry"), "max\n428");
}

TEST_F(SqlSessionTest, ChangesTellHowManyAndReturnAll) {
  fill();
  EXPECT_EQ(sql("UPDATE account SET balance = balance + 1 WHERE branch = 1 RETURNING id, balance"),
            "id|balance\n1|51.00\n3|31.00\n5|11.00");
  EXPECT_EQ(sql("UPDATE account SET name = NULL"), "UPDATE 5");
  EXPECT_EQ(sql("SELECT name FROM account WHERE id = 1"), "name\n");
  EXPECT_EQ(sql("DELETE FROM account WHERE id > 3"), "DELETE 2");
  EXPECT_EQ(sql("DELETE FROM account WHERE id > 3"), "DELETE 0");
  EXPECT_EQ(sql("INSERT INTO account VALUES (9, 1, 'x', 1) RETURNING *"),
            "id|branch|name|balance\n9|1|x|1.00");
}

TEST_F(SqlSessionTest, FailuresHavePostgresCodesAndChangeNothing) {
  fill();
  EXPECT_EQ(sql("INSERT INTO account VALUES (1, 1, 'x', 1)"),
            "23505: duplicate key value violates unique constraint \"account_pkey\"");
  EXPECT_EQ(sql("UPDATE account SET balance = balance / 0 + id / 0").substr(0, 5), "22012");
  EXPECT_EQ(sql("UPDATE account SET branch = 1 / (id - 3)"), "22012: division by zero");
  EXPECT_EQ(sql("SELECT count(*) FROM account WHERE branch = 1"), "count\n3");
  EXPECT_EQ(sql("INSERT INTO account VALUES (7, NULL, 'x', 1)").substr(0, 5), "23502");
  EXPECT_EQ(sql("SELECT 1 WHERE true"), "?column?\n1");
  EXPECT_EQ(sql("SELECT nothing FROM account").substr(0, 5), "42703");
  EXPECT_EQ(sql("SELECT - -2147483648 FROM account WHERE id = 1"), "?column?\n2147483648");
  // A literal is read before anything runs, and fails as a cast does.
  EXPECT_EQ(sql("SELECT id FROM account WHERE id = 'x'"),
            "22P02: line 1:35: invalid input syntax for type integer: \"x\"");
  EXPECT_EQ(sql("INSERT INTO account VALUES ('2147483648', 1, 'x', 1)").substr(0, 5), "22003");
  EXPECT_EQ(sql("SELECT TIMESTAMP '2020-02-30' FROM account").substr(0, 5), "22008");
  EXPECT_EQ(sql("SELECT id FROM account WHERE name = CAST('maybe' AS BOOLEAN)::TEXT").substr(0, 5), "22P02");
  EXPECT_THAT(sql("FETCH x"), testing::HasSubstr("0A000"));
  EXPECT_THAT(sql("SELECT id FROM"), testing::HasSubstr("the statement ends too early"));
}

TEST_F(SqlSessionTest, RowsWithoutAKeyAreChangedWhereAnIndexLeadsToThem) {
  EXPECT_EQ(sql("INSERT INTO journal VALUES ('a')"), "INSERT 0 1");
  EXPECT_EQ(sql("INSERT INTO tally VALUES (1, 2)"), "INSERT 0 1");
  EXPECT_EQ(sql("SELECT amount FROM tally WHERE kind = 1 LIMIT 1"), "amount\n2");
  EXPECT_EQ(sql("UPDATE tally SET amount = 3 WHERE kind = 1"), "UPDATE 1");
  EXPECT_EQ(sql("SELECT amount FROM tally WHERE kind = 1"), "amount\n3");
  EXPECT_EQ(sql("DELETE FROM tally WHERE kind = 1"), "DELETE 1");
  EXPECT_THAT(sql("SELECT line FROM journal"), testing::HasSubstr("table journal has no primary key"));
}

TEST_F(SqlSessionTest, BlocksEndAsInPostgres) {
  fill();
  EXPECT_EQ(sql("COMMIT"), "COMMIT (there is no transaction in progress)");
  EXPECT_EQ(sql("BEGIN"), "BEGIN");
  EXPECT_EQ(sql("BEGIN WORK"), "BEGIN (there is already a transaction in progress)");
  EXPECT_EQ(sql("UPDATE account SET balance = 0 WHERE id = 1"), "UPDATE 1");
  EXPECT_EQ(sql("SELECT balance FROM account WHERE id = 1"), "balance\n0.00");
  EXPECT_EQ(sql_of_other("SELECT balance FROM account WHERE id = 1"), "balance\n50.00");
  EXPECT_EQ(sql("ROLLBACK"), "ROLLBACK");
  EXPECT_EQ(sql("SELECT balance FROM account WHERE id = 1"), "balance\n50.00");

  EXPECT_EQ(sql("START TRANSACTION"), "BEGIN");
  EXPECT_EQ(sql("UPDATE account SET balance = 0 WHERE id = 1"), "UPDATE 1");
  EXPECT_EQ(sql("SELECT id / 0 FROM account"), "22012: division by zero");
  EXPECT_EQ(session_.block(), SqlSession::Block::kFailed);
  EXPECT_EQ(sql("SELECT id FROM account"),
            "25P02: current transaction is aborted, commands ignored until end of transaction block");
  EXPECT_EQ(sql("COMMIT"), "ROLLBACK");
  EXPECT_EQ(sql("SELECT balance FROM account WHERE id = 1"), "balance\n50.00");

  EXPECT_EQ(sql("BEGIN"), "BEGIN");
  EXPECT_EQ(sql("UPDATE account SET balance = 1 WHERE id = 1"), "UPDATE 1");
  EXPECT_EQ(sql("END"), "COMMIT");
  EXPECT_EQ(sql_of_other("SELECT balance FROM account WHERE id = 1"), "balance\n1.00");
}

TEST_F(SqlSessionTest, ABlockThatMetAConflictFails) {
  fill();
  EXPECT_EQ(sql("BEGIN"), "BEGIN");
  EXPECT_EQ(sql("SELECT balance FROM account WHERE id = 1"), "balance\n50.00");
  EXPECT_EQ(sql("UPDATE account SET balance = 2 WHERE id = 2"), "UPDATE 1");
  EXPECT_EQ(sql_of_other("UPDATE account SET balance = 3 WHERE id = 1"), "UPDATE 1");
  EXPECT_EQ(sql("COMMIT"), "40001: could not serialize access due to concurrent update");
  EXPECT_EQ(session_.block(), SqlSession::Block::kNone);
  EXPECT_EQ(sql("SELECT balance FROM account WHERE id = 2"), "balance\n40.00");

  // So does one in whose walk over a hash table another row turns up.
  EXPECT_EQ(sql("BEGIN"), "BEGIN");
  EXPECT_EQ(sql("SELECT count(*) FROM entry"), "count\n0");
  EXPECT_EQ(sql("UPDATE account SET balance = 2 WHERE id = 2"), "UPDATE 1");
  EXPECT_EQ(sql_of_other("INSERT INTO entry VALUES (77, 1, 1)"), "INSERT 0 1");
  EXPECT_EQ(sql("COMMIT"), "40001: could not serialize access due to concurrent update");
}

TEST_F(SqlSessionTest, CallsAloneAndInBlocks) {
  fill();
  EXPECT_EQ(sql("CALL deposit(1, 2.5, NULL)"), "r_balance\n52.50");
  EXPECT_EQ(sql("CALL deposit(1, -1, NULL)"), "P0001: no");
  EXPECT_EQ(sql("CALL deposit(1)"), "42883: line 1:6: procedure deposit takes 3 arguments, and is given 1");
  EXPECT_EQ(sql("CALL nothing()"), "42883: line 1:6: procedure nothing does not exist");
  EXPECT_THAT(sql("CALL deposit(1.5, 2, NULL)"),
              testing::HasSubstr("argument 1 of procedure deposit is of type"));
  EXPECT_EQ(sql("CALL count_of('{1,NULL,3}', 'x' || 'y', 0, NULL)"), "r_count|r_ids\n3|{1,NULL,3}");
  EXPECT_THAT(sql("CALL count_of('1', 'x', 0, NULL)"), testing::StartsWith("22P02: malformed array literal"));
  EXPECT_EQ(sql("BEGIN"), "BEGIN");
  EXPECT_EQ(sql("CALL deposit(1, 1, NULL)"), "r_balance\n53.50");
  EXPECT_EQ(sql_of_other("SELECT balance FROM account WHERE id = 1"), "balance\n52.50");
  EXPECT_EQ(sql("COMMIT"), "COMMIT");
  EXPECT_EQ(sql_of_other("SELECT balance FROM account WHERE id = 1"), "balance\n53.50");
}

TEST_F(SqlSessionTest, NothingIsToldBeforeItIsDurable) {
  log_.hold_back(true, /*on_demand=*/true);
  fill();
  for (const char* text :
       {"INSERT INTO entry VALUES (1, 1, 1)", "CALL deposit(1, 1, NULL)", "DELETE FROM entry"}) {
    const Lsn before = log_.durable();
    EXPECT_TRUE(run(session_, text).ok()) << text;
    EXPECT_GT(log_.durable(), before) << text;
  }
}

// Each answer is PostgreSQL 15's to the same statements, or a refusal.
class SqlMeaning : public testing::Test {
 protected:
  // Returns the answers of CALLs, or a query, after the program's tables have been filled.
  static std::string answer(const std::string& program, const std::vector<std::string>& statements) {
    const auto compiled = compile(program, "test.sql");
    if (!compiled.ok()) return compiled.error().message;
    CountingLog log;
    Database database((*compiled)->catalog, 1);
    database.attach_log(log, RecordContent::kLogical);
    SqlSession session(**compiled, database, WorkerId{0});
    std::string text;
    for (const std::string& statement : statements) {
      const ParsedStatement parsed = parse_statement(statement);
      const StatementResult result = parsed.command ? session.run(*parsed.command) : parsed.failure;
      if (!result.ok()) return result.sqlstate + ": " + result.message;
      text.clear();
      for (const ResultColumn& column : result.columns) text += (text.empty() ? "" : "|") + column.name;
      for (const auto& row : result.rows) {
        text += ":";
        for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : "|") + row[i].value_or("NULL");
      }
    }
    return text;
  }
  // Returns the answer of SELECT `expression` over one row.
  static std::string of(const std::string& expression) {
    return answer(
        "CREATE TABLE one (id INT PRIMARY KEY, v VARCHAR(5), c CHAR(4), n NUMERIC(6,2), d DOUBLE PRECISION, "
        "i INT, t TEXT "
        "CHECK (char_length(t) <= 20));",
        {"INSERT INTO one VALUES (1, 'ab ', 'xy', 1.25, 'NaN', 3, 'xy ')",
         "SELECT " + expression + " FROM one"});
  }
  // Returns the answer of the call, to a procedure over a table of two rows.
  static std::string of_call(const std::string& procedure, const std::string& call) {
    return answer(
        "CREATE TABLE two (id INT PRIMARY KEY, big BIGINT, i INT, s TEXT CHECK (char_length(s) <= 20)); "
        "CREATE PROCEDURE p" +
            procedure,
        {"INSERT INTO two VALUES (1, 100000000000, 3, 'long enough')",
         "INSERT INTO two VALUES (2, 5, 4, 'short')", call});
  }
  static std::string body(const std::string& statements) {
    return "(INOUT r INT) LANGUAGE plpgsql AS $$ DECLARE w INT; x RECORD; BEGIN " + statements + " END $$;";
  }
};

TEST_F(SqlMeaning, NamesColumnsAsPostgresql) {
  EXPECT_EQ(of("CAST(i AS TEXT)"), "i:3");
  EXPECT_EQ(of("i::text::varchar(2)"), "i:3");
  EXPECT_EQ(of("'5'::int"), "int4:5");
  EXPECT_EQ(of("'5'::int::text"), "text:5");
  EXPECT_EQ(of("CASE WHEN i = 3 THEN 1 ELSE id END"), "id:1");
  EXPECT_EQ(of("CASE WHEN i = 3 THEN 1 END"), "case:1");
  EXPECT_EQ(of("CASE WHEN i = 3 THEN 1 ELSE '2'::int END"), "case:1");
  EXPECT_EQ(of("position('y' IN t)"), "position:2");
  EXPECT_EQ(of("trim(t)"), "btrim:xy");
  EXPECT_EQ(of("+i"), "?column?:3");
  EXPECT_EQ(of("TIMESTAMP '2020-01-01 00:00:00.0000025'"), "timestamp:2020-01-01 00:00:00.000002");
}

TEST_F(SqlMeaning, LiteralsAreNotCutToWhatStandsBesideThem) {
  EXPECT_EQ(of("coalesce(NULL, v, 'abcdefgh')"), "coalesce:ab ");
  EXPECT_EQ(of("CASE WHEN i = 3 THEN 'abcdefgh' ELSE v END"), "v:abcdefgh");
  EXPECT_EQ(of("greatest(v, 'zzzzzzzz')"), "greatest:zzzzzzzz");
  EXPECT_EQ(of("greatest(c, 'zzzzzzzz') || '|'"), "?column?:zzzzzzzz|");
  EXPECT_THAT(of("greatest(c, 'zz')"), testing::HasSubstr("with how many blanks"));
  EXPECT_EQ(of("coalesce(n, 0)"), "coalesce:1.25");
  EXPECT_EQ(of("coalesce(n, 0.00)"), "coalesce:1.25");
  EXPECT_EQ(of("n * '2'"), "?column?:2.50");
}

TEST_F(SqlMeaning, BlanksOfChar) {
  EXPECT_EQ(of("coalesce(v, t) = 'ab'::char(4)"), "?column?:t");  // varchar, the first one's type
  EXPECT_EQ(of("coalesce(t, v) = c"), "?column?:f");
  EXPECT_EQ(of("c = 'xy '::varchar"), "?column?:t");
  EXPECT_EQ(of("c = 'xy '::text"), "?column?:f");
  EXPECT_EQ(of("min(c)"), "min:xy  ");
  EXPECT_EQ(of("c::char(6)"), "c:xy    ");
}

TEST_F(SqlMeaning, NumbersAtTheirEnds) {
  EXPECT_EQ(of("power(-1, d)"), "power:NaN");
  EXPECT_EQ(of("power(1, d)"), "power:1");
  EXPECT_EQ(of("power(d, 0)"), "power:1");
  EXPECT_EQ(of("(-2147483648) / -1"), "22003: integer out of range");
  EXPECT_EQ(of("-9223372036854775808"), "?column?:-9223372036854775808");
}

TEST_F(SqlMeaning, StrictWantsARowOfEveryStatement) {
  const std::string none = "P0002: query returned no rows";
  EXPECT_EQ(of_call(body("DELETE FROM two WHERE id = 9 RETURNING id INTO STRICT r;"), "CALL p(1)"), none);
  EXPECT_EQ(of_call(body("UPDATE two SET i = 1 WHERE id = 9 RETURNING id INTO STRICT r;"), "CALL p(1)"),
            none);
  EXPECT_EQ(of_call(body("UPDATE two SET i = 1 WHERE id = 9 RETURNING * INTO STRICT x;"), "CALL p(1)"), none);
  EXPECT_EQ(of_call(body("SELECT id INTO STRICT r FROM two WHERE id = 9;"), "CALL p(1)"), none);
  EXPECT_EQ(of_call(body("DELETE FROM two WHERE id = 9 RETURNING id INTO r;"), "CALL p(1)"), "r:NULL");
  EXPECT_THAT(of_call(body("CASE '3' WHEN r THEN r := 1; ELSE r := 2; END CASE;"), "CALL p(3)"),
              testing::HasSubstr("text and int"));
  EXPECT_EQ(of_call(body("UPDATE two SET i = 1 RETURNING id INTO STRICT r;"), "CALL p(1)"),
            "P0003: query returned more than one row");
}

TEST_F(SqlMeaning, OnlyRowsThatAreTakenAreCast) {
  EXPECT_EQ(of_call(body("SELECT big INTO r FROM two ORDER BY i DESC;"), "CALL p(1)"), "r:5");
  EXPECT_EQ(of_call(body("SELECT big INTO r FROM two ORDER BY i;"), "CALL p(1)"),
            "22003: integer out of range");
  EXPECT_EQ(
      of_call(body("FOR w IN SELECT big FROM two ORDER BY i DESC LOOP r := w; EXIT; END LOOP;"), "CALL p(1)"),
      "r:5");
  EXPECT_EQ(of_call(body("FOR w IN SELECT big FROM two ORDER BY i DESC LOOP r := w; END LOOP;"), "CALL p(1)"),
            "22003: integer out of range");
  EXPECT_EQ(of_call(body("SELECT big INTO STRICT r FROM two;"), "CALL p(1)"),
            "P0003: query returned more than one row");
  EXPECT_EQ(of_call(body("UPDATE two SET i = 1 RETURNING big INTO r;"), "CALL p(1)"),
            "P0003: query returned more than one row");
}

TEST_F(SqlMeaning, NothingOfAPostgresqlParametersModifiers) {
  const std::string keeps =
      "(a NUMERIC(5,2), s VARCHAR(3), INOUT r INT) LANGUAGE plpgsql AS $$ BEGIN r := length(s); END $$;";
  EXPECT_EQ(of_call(keeps, "CALL p(1.230, 'abc', 0)"), "r:3");
  EXPECT_THAT(of_call(keeps, "CALL p(1.239, 'abc', 0)"),
              testing::StartsWith("22003: argument 1 of procedure p is 1.239"));
  EXPECT_THAT(of_call(keeps, "CALL p('1.239', 'abc', 0)"),
              testing::StartsWith("22003: argument 1 of procedure p is 1.239"));
  EXPECT_THAT(of_call(keeps, "CALL p(1000, 'abc', 0)"),
              testing::StartsWith("22003: argument 1 of procedure p is 1000"));
  EXPECT_THAT(of_call(keeps, "CALL p(1, 'abc ', 0)"),
              testing::StartsWith("22001: argument 2 of procedure p is abc "));
  const std::string gives =
      "(INOUT a NUMERIC(5,2), INOUT c CHAR(3)) LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;";
  EXPECT_THAT(of_call(gives, "CALL p(1, NULL)"), testing::HasSubstr("may come back or be made text"));
  const std::string shows =
      "(a NUMERIC(5,2), INOUT r TEXT) LANGUAGE plpgsql AS $$ BEGIN r := a || '|'; END $$;";
  EXPECT_THAT(of_call(shows, "CALL p(1.2, NULL)"), testing::HasSubstr("may come back or be made text"));
  EXPECT_EQ(of_call(shows, "CALL p(1.20, NULL)"), "r:1.20|");
  EXPECT_EQ(of_call(shows, "CALL p(CAST(1.2 AS NUMERIC(5,2)), NULL)"), "r:1.20|");
  EXPECT_THAT(
      of_call("(INOUT r VARCHAR(3)) LANGUAGE plpgsql AS $$ BEGIN r := 'abc '; END $$;", "CALL p(NULL)"),
      testing::StartsWith("22001: value too long"));
}

TEST_F(SqlMeaning, NullArraysHaveNoSubscripts) {
  const std::string procedure =
      "(a INT[], z INT, INOUT r INT) LANGUAGE plpgsql AS $$ BEGIN r := a[1 / z]; END $$;";
  EXPECT_EQ(of_call(procedure, "CALL p(NULL, 0, 1)"), "r:NULL");
  EXPECT_EQ(of_call(procedure, "CALL p('{}', 0, 1)"), "22012: division by zero");
}

std::vector<std::string> split(std::string_view text) {
  StatementSplitter splitter;
  splitter.add(text);
  std::vector<std::string> statements;
  while (const auto statement = splitter.next()) {
    statements.push_back(std::to_string(statement->line) + ": " + statement->text);
  }
  if (const auto rest = splitter.finish())
    statements.push_back(std::to_string(rest->line) + "- " + rest->text);
  return statements;
}

TEST(StatementSplitter, EndsStatementsAtTheirSemicolons) {
  using testing::ElementsAre;
  EXPECT_THAT(split("a; b;\nc"), ElementsAre("1: a;", "1: b;", "2- c"));
  EXPECT_THAT(split("-- x;\n/* y; /* z; */ */ a\n ;"), ElementsAre("2: a\n ;"));
  EXPECT_THAT(split("a ';' \"b;\" '''; ' c;d"), ElementsAre("1: a ';' \"b;\" '''; ' c;", "1- d"));
  EXPECT_THAT(split("p $$ a; $x$ b; $$; q $x$ $$; $x$;"),
              ElementsAre("1: p $$ a; $x$ b; $$;", "1: q $x$ $$; $x$;"));
  EXPECT_THAT(split(" \n -- nothing\n"), ElementsAre());
  EXPECT_THAT(split("a -- ;\n; b /* ;\n"), ElementsAre("1: a -- ;\n;", "2- b /* ;\n"));
}

TEST(StatementSplitter, KnowsWhetherAStatementHasBegun) {
  StatementSplitter splitter;
  splitter.add("SELECT a\n");
  EXPECT_FALSE(splitter.next());
  EXPECT_TRUE(splitter.in_statement());
  splitter.add("FROM b;\n");
  EXPECT_EQ(splitter.next()->text, "SELECT a\nFROM b;");
  EXPECT_FALSE(splitter.next());
  EXPECT_FALSE(splitter.in_statement());
}

}  // namespace
}  // namespace mneme
