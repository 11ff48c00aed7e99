// Goal: a program that brings a database along finds in it after any end what its connections were told; connections live with
// changes of the schema that others make; what cannot be is refused with the reason.
//
// Method: databases in directories of the test's own, opened, left and opened again; procedures interpreted. Their machine code and
// kills are the end-to-end test's.
#include "embedding/embedded_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

namespace mneme {
namespace {

using testing::HasSubstr;

Argument integer(int64_t number) { return Argument::of(Value::of_int(number)); }

class EmbeddedDatabaseTest : public testing::Test {
 protected:
  static constexpr const char* kTable = "CREATE TABLE counter (id INT PRIMARY KEY, n BIGINT NOT NULL)";
  static constexpr const char* kAdd =
      "CREATE PROCEDURE add(p_id INT, p_n BIGINT, INOUT p_now BIGINT) LANGUAGE plpgsql AS $$ BEGIN "
      "UPDATE counter SET n = n + p_n WHERE id = p_id RETURNING n INTO p_now; "
      "IF NOT FOUND THEN RAISE EXCEPTION 'no counter %', p_id; END IF; END; $$";

  void SetUp() override { std::filesystem::remove_all(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<EmbeddedDatabase> open(EmbeddedOptions options = {.connections = 2}) {
    options.execution = Execution::kInterpreted;
    auto opened = EmbeddedDatabase::open(directory_, std::move(options));
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return *std::move(opened);
  }
  static Connection connect(EmbeddedDatabase& database) {
    Result<Connection> connection = database.connect();
    EXPECT_TRUE(connection.ok()) << connection.error().message;
    return *std::move(connection);
  }
  static void run(Connection& connection, const std::string& text) {
    const StatementResult result = connection.run(text);
    EXPECT_TRUE(result.ok()) << text << ": " << result.message;
  }
  static std::string value(Connection& connection, const std::string& select) {
    const StatementResult result = connection.run(select);
    EXPECT_TRUE(result.ok()) << result.message;
    return result.rows.size() == 1 ? result.rows[0][0].value_or("NULL") : "not one row";
  }

  const std::string directory_ = testing::TempDir() + "mneme-embedded-" + std::to_string(getpid());
};

TEST_F(EmbeddedDatabaseTest, FindsAgainWhatItWasTold) {
  {
    const auto database = open();
    Connection connection = connect(*database);
    run(connection, kTable);
    run(connection, kAdd);
    run(connection, "INSERT INTO counter VALUES (1, 0)");
    for (int64_t i = 1; i <= 10; ++i) {
      const CallResult result = connection.call("add", {integer(1), integer(i)});
      ASSERT_TRUE(result.committed()) << result.message;
      ASSERT_EQ(result.results[0].scalar.as_int(), i * (i + 1) / 2);
    }
  }
  const auto database = open();
  Connection connection = connect(*database);
  EXPECT_EQ(value(connection, "SELECT n FROM counter WHERE id = 1"), "55");
  EXPECT_EQ(connection.call("add", {integer(1), integer(1)}).results[0].scalar.as_int(), 56);
}

// In a log that gathers until somebody waits.
TEST_F(EmbeddedDatabaseTest, ACallTellsOnlyOfWhatIsDurable) {
  const auto database = open({.log = {.group = {.interval = std::chrono::hours(1)}}});
  Connection connection = connect(*database);
  run(connection, kTable);
  run(connection, kAdd);
  run(connection, "INSERT INTO counter VALUES (1, 0)");
  for (int64_t i = 0; i < 3; ++i) {
    const CallResult result = connection.call("add", {integer(1), integer(1)});
    ASSERT_TRUE(result.committed()) << result.message;
    EXPECT_LT(result.lsn, database->working().log().durable());
  }
}

TEST_F(EmbeddedDatabaseTest, ARaisedCallHasChangedNothing) {
  const auto database = open();
  Connection connection = connect(*database);
  run(connection, kTable);
  run(connection, kAdd);
  const CallResult result = connection.call("add", {integer(7), integer(1)});
  EXPECT_EQ(result.status, CallResult::Status::kRolledBack);
  EXPECT_THAT(std::string(result.message), HasSubstr("no counter 7"));
}

TEST_F(EmbeddedDatabaseTest, CallsFollowTheSchemaThatAnotherConnectionChanges) {
  const auto database = open();
  Connection one = connect(*database);
  Connection other = connect(*database);
  run(one, kTable);
  run(one, "INSERT INTO counter VALUES (1, 5)");
  EXPECT_THAT(std::string(other.call("add", {integer(1), integer(1)}).message), HasSubstr("there is no procedure add"));
  run(one, kAdd);
  EXPECT_EQ(other.call("add", {integer(1), integer(1)}).results[0].scalar.as_int(), 6);
  run(one, "DROP PROCEDURE add");
  EXPECT_EQ(other.call("add", {integer(1), integer(1)}).status, CallResult::Status::kRefused);
  run(other, "CREATE PROCEDURE add(p_id INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE counter SET n = 0 WHERE id = p_id; END; $$");
  EXPECT_TRUE(one.call("add", {integer(1)}).committed());
  EXPECT_EQ(value(other, "SELECT n FROM counter WHERE id = 1"), "0");
}

TEST_F(EmbeddedDatabaseTest, RefusesCallsThatCanNotBe) {
  const auto database = open();
  Connection connection = connect(*database);
  run(connection, kTable);
  run(connection, kAdd);
  EXPECT_EQ(connection.call("add", {integer(1)}).status, CallResult::Status::kRefused);
  EXPECT_EQ(connection.call("add", {integer(1), integer(1), integer(1), integer(1)}).status, CallResult::Status::kRefused);
  EXPECT_EQ(connection.call("add", {integer(int64_t{1} << 40), integer(1)}).status, CallResult::Status::kRefused);
  run(connection, "BEGIN");
  EXPECT_THAT(std::string(connection.call("add", {integer(1), integer(1)}).message), HasSubstr("a transaction block is open"));
  run(connection, "ROLLBACK");
}

TEST_F(EmbeddedDatabaseTest, HasAsManyConnectionsAsItWasOpenedFor) {
  const auto database = open({.connections = 2});
  std::optional<Connection> one(connect(*database));
  const Connection other = connect(*database);
  const Result<Connection> third = database->connect();
  ASSERT_FALSE(third.ok());
  EXPECT_THAT(third.error().message, HasSubstr("has 2 connections, as many as it was opened for"));
  Connection moved = std::move(*one);
  one.reset();
  EXPECT_FALSE(database->connect().ok());
  {
    const Connection last = std::move(moved);
  }
  EXPECT_TRUE(database->connect().ok());
}

TEST_F(EmbeddedDatabaseTest, RefusesADirectoryThatIsInUse) {
  const auto database = open();
  const auto again = EmbeddedDatabase::open(directory_);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr(directory_));
  EXPECT_FALSE(EmbeddedDatabase::open(directory_ + "-none", {.connections = 0}).ok());
}

}  // namespace
}  // namespace mneme
