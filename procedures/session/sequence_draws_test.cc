// Goal: no number of a sequence that a committed row may hold is given again once memory is lost, and what a
// transaction that went back had written of a sequence counts for nothing.
// Method: sessions draw, the numbers in memory are forgotten as in a crash, and they draw again.
#include "procedures/session/sequence_draws.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/testing/test_database.h"
#include "procedures/binder/program.h"
#include "procedures/session/sql_session.h"

namespace mneme {
namespace {

constexpr const char* kItems = R"sql(
CREATE TABLE item_id_seq (last_value BIGINT NOT NULL, log_cnt BIGINT NOT NULL, is_called BOOLEAN NOT NULL,
                          PRIMARY KEY (log_cnt));
CREATE TABLE item (id SERIAL PRIMARY KEY, owner INT NOT NULL);
CREATE FUNCTION add_item() RETURNS INT LANGUAGE plpgsql AS $$
DECLARE
    v_id INT;
BEGIN
    BEGIN
        FOR i IN 1..40 LOOP
            INSERT INTO item (owner) VALUES (2);
        END LOOP;
        RAISE EXCEPTION 'taken back';
    EXCEPTION WHEN raise_exception THEN
        INSERT INTO item (owner) VALUES (3) RETURNING id INTO v_id;
    END;
    RETURN v_id;
END $$;
)sql";

class SequenceDrawsTest : public testing::Test {
 protected:
  SequenceDrawsTest()
      : program_(*compile(kItems, "test.sql")),
        database_(program_->catalog, 1),
        session_(*program_, database_, WorkerId{0}) {
    database_.attach_log(log_, RecordContent::kLogical);
  }

  // The first value of the first row, or the sqlstate.
  std::string sql(std::string_view text) {
    const ParsedStatement parsed = parse_statement(text);
    EXPECT_TRUE(parsed.command) << parsed.failure.message;
    const StatementResult result = session_.run(*parsed.command);
    if (!result.ok()) return result.sqlstate;
    return result.rows.empty() ? "" : result.rows[0][0].value_or("");
  }
  std::string insert() { return sql("INSERT INTO item (owner) VALUES (1) RETURNING id"); }
  void forget() { database_.sequences().forget("item_id_seq"); }

  std::unique_ptr<Program> program_;
  CountingLog log_;
  Database database_;
  SqlSession session_;
};

TEST_F(SequenceDrawsTest, NoNumberIsGivenAgainAfterACrash) {
  EXPECT_EQ(insert(), "1");
  EXPECT_EQ(insert(), "2");
  forget();
  const std::string next = insert();
  EXPECT_GT(std::stoi(next), 2);
  for (int i = 0; i < 40; ++i) EXPECT_NE(insert(), "23505");
  forget();
  EXPECT_GT(std::stoi(insert()), std::stoi(next) + 40);
}

TEST_F(SequenceDrawsTest, WhatWasRolledBackIsNotReliedOn) {
  sql("BEGIN");
  EXPECT_EQ(insert(), "1");
  sql("ROLLBACK");
  EXPECT_EQ(insert(), "2");
  forget();
  EXPECT_GT(std::stoi(insert()), 2);
  sql("BEGIN");
  sql("SAVEPOINT a");
  for (int i = 0; i < 40; ++i) insert();
  sql("ROLLBACK TO a");
  const std::string kept = insert();
  EXPECT_EQ(sql("COMMIT"), "");
  forget();
  EXPECT_GT(std::stoi(insert()), std::stoi(kept));
}

TEST_F(SequenceDrawsTest, WhatAnExceptionBlockTakesBackIsWrittenAgain) {
  const std::string kept = sql("SELECT add_item()");
  EXPECT_EQ(kept, "41");
  EXPECT_EQ(sql("SELECT currval('item_id_seq')"), "41") << "of the session, too";
  forget();
  EXPECT_GT(std::stoi(insert()), 41);
}

TEST_F(SequenceDrawsTest, CurrentAndSetValues) {
  EXPECT_EQ(sql("SELECT currval('item_id_seq')"), "55000");
  EXPECT_EQ(insert(), "1");
  EXPECT_EQ(sql("SELECT currval('item_id_seq')"), "1");
  EXPECT_EQ(sql("SELECT setval('item_id_seq', 50)"), "50");
  EXPECT_EQ(insert(), "51");
  forget();
  EXPECT_GT(std::stoi(insert()), 51);
  EXPECT_EQ(sql("SELECT setval('item_id_seq', 0)"), "22003");
  EXPECT_EQ(sql("SELECT nextval('item')"), "42809");
}

}  // namespace
}  // namespace mneme
