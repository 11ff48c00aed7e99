// Goal: a procedure may have queries of any form, and is told apart by them. Method: procedures with such
// queries are compiled and called on small tables, also after a change of the schema that moves the tables'
// numbers; what they do is held against PostgreSQL by tests/data/sql/any_queries.sql.
#include "procedures/interpreter/any_query.h"

#include <gmock/gmock.h>

#include "engine/testing/test_database.h"
#include "procedures/session/catalog_change.h"
#include "procedures/session/sql_session.h"

namespace mneme {
namespace {

constexpr const char* kSql = R"sql(
CREATE TABLE unused (id INT PRIMARY KEY);
CREATE TABLE item (id INT PRIMARY KEY, price INT NOT NULL CHECK (price >= 0));
CREATE TABLE offer (id INT PRIMARY KEY, item INT NOT NULL, off INT NOT NULL);
CREATE PROCEDURE most(INOUT n INT) LANGUAGE plpgsql AS $$
BEGIN
  SELECT max(q.x) INTO n FROM (SELECT price AS x FROM item UNION SELECT off FROM offer) q;
END $$;
CREATE PROCEDURE take_off() LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item i SET price = i.price - o.off FROM offer o WHERE o.item = i.id;
END $$;
CREATE PROCEDURE third(INOUT n NUMERIC(8,2)) LANGUAGE plpgsql AS $$
BEGIN
  n := n / 3;
END $$;
CREATE PROCEDURE plain(p INT) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE item SET price = price + 1 WHERE id = p;
END $$;
)sql";

class AnyQueries : public testing::Test {
 protected:
  // The only value of the statement's only row, its tag, or its error.
  static std::string sql(SqlSession& session, std::string_view text) {
    const StatementResult result = session.run(*parse_statement(text).command);
    if (!result.ok()) return result.sqlstate + ": " + result.message;
    if (result.rows.empty()) return result.tag;
    return result.rows[0][0].value_or("NULL");
  }

  const std::unique_ptr<Program> program_ = *compile(kSql, "test.sql");
};

TEST_F(AnyQueries, OnlyWhatChangesRowsIsLoggedByRows) {
  EXPECT_TRUE(program_->find_procedure("most")->has_any_query());
  EXPECT_FALSE(program_->find_procedure("most")->is_logged_by_rows());
  EXPECT_TRUE(program_->find_procedure("take_off")->is_logged_by_rows());
  EXPECT_THAT(program_->find_procedure("take_off")->by_chance, testing::StartsWith("line 11: "));
  EXPECT_TRUE(program_->find_procedure("plain")->is_logged_by_call());
}

// A second change of the item would break its CHECK.
TEST_F(AnyQueries, ChangesARowThatIsFoundTwiceOnce) {
  Database database(program_->catalog, 1);
  CountingLog log;
  database.attach_log(log, RecordContent::kLogical);
  SqlSession session(*program_, database, WorkerId{0});
  EXPECT_EQ(sql(session, "INSERT INTO item VALUES (1, 100), (2, 50)"), "INSERT 0 2");
  EXPECT_EQ(sql(session, "INSERT INTO offer VALUES (1, 1, 5), (2, 1, 200), (3, 2, 7)"), "INSERT 0 3");
  EXPECT_EQ(sql(session, "CALL take_off()"), "CALL");
  EXPECT_EQ(sql(session, "SELECT price FROM item WHERE id = 1"), "95");
  EXPECT_EQ(sql(session, "SELECT price FROM item WHERE id = 2"), "43");
}

// PostgreSQL gives the parameter all digits of the quotient, for which its type has no room here.
TEST_F(AnyQueries, NothingIsRoundedForAParameter) {
  Database database(program_->catalog, 1);
  CountingLog log;
  database.attach_log(log, RecordContent::kLogical);
  SqlSession session(*program_, database, WorkerId{0});
  EXPECT_EQ(sql(session, "CALL third(6)"), "2.00");
  EXPECT_EQ(sql(session, "CALL third(1)"),
            "22003: value would be rounded for a parameter of type numeric(8,2); round it first");
}

TEST_F(AnyQueries, FollowsItsTablesNumbers) {
  const ChangedProgram changed = changed_program(*program_, *parse_statement("DROP TABLE unused").command);
  ASSERT_NE(changed.program, nullptr) << changed.told.message;
  Database database(changed.program->catalog, 1);
  CountingLog log;
  database.attach_log(log, RecordContent::kLogical);
  SqlSession session(*changed.program, database, WorkerId{0});
  EXPECT_EQ(sql(session, "INSERT INTO item VALUES (1, 100)"), "INSERT 0 1");
  EXPECT_EQ(sql(session, "INSERT INTO offer VALUES (1, 1, 205)"), "INSERT 0 1");
  EXPECT_EQ(sql(session, "CALL most(NULL)"), "205");
}

TEST_F(AnyQueries, ItsTablesAreInUse) {
  const ChangedProgram changed = changed_program(*program_, *parse_statement("DROP TABLE offer").command);
  EXPECT_EQ(changed.program, nullptr);
  EXPECT_EQ(changed.told.sqlstate, "2BP01") << changed.told.message;
}

}  // namespace
}  // namespace mneme
