// Goal: a program that embeds a database finds in it after any end what its connections were told;
// connections follow changes of the schema that others make; what cannot be is refused with the reason.
//
// Method: databases in directories of the test's own. Machine code and kills are the end-to-end test's.
#include "embedding/embedded_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "embedding/testing/embedded_fixture.h"

namespace mneme {
namespace {

using testing::HasSubstr;

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
  EXPECT_THAT(std::string(other.call("add", {integer(1), integer(1)}).message),
              HasSubstr("there is no procedure add"));
  run(one, kAdd);
  EXPECT_EQ(other.call("add", {integer(1), integer(1)}).results[0].scalar.as_int(), 6);
  run(one, "DROP PROCEDURE add");
  EXPECT_EQ(other.call("add", {integer(1), integer(1)}).status, CallResult::Status::kRefused);
  run(other,
      "CREATE PROCEDURE add(p_id INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE counter SET n = 0 WHERE id = p_id; "
      "END; $$");
  EXPECT_TRUE(one.call("add", {integer(1)}).committed());
  EXPECT_EQ(value(other, "SELECT n FROM counter WHERE id = 1"), "0");
}

TEST_F(EmbeddedDatabaseTest, RefusesCallsThatCanNotBe) {
  const auto database = open();
  Connection connection = connect(*database);
  run(connection, kTable);
  run(connection, kAdd);
  EXPECT_EQ(connection.call("add", {integer(1)}).status, CallResult::Status::kRefused);
  EXPECT_EQ(connection.call("add", {integer(1), integer(1), integer(1), integer(1)}).status,
            CallResult::Status::kRefused);
  EXPECT_EQ(connection.call("add", {integer(int64_t{1} << 40), integer(1)}).status,
            CallResult::Status::kRefused);
  run(connection, "BEGIN");
  EXPECT_THAT(std::string(connection.call("add", {integer(1), integer(1)}).message),
              HasSubstr("a transaction block is open"));
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
  { const Connection last = std::move(moved); }
  EXPECT_TRUE(database->connect().ok());
}

TEST_F(EmbeddedDatabaseTest, RefusesADirectoryThatIsInUse) {
  const auto database = open();
  const auto again = EmbeddedDatabase::open(directory_);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr(directory_));
  EXPECT_FALSE(EmbeddedDatabase::open(directory_ + "-none", {.connections = 0}).ok());
}

TEST_F(EmbeddedDatabaseTest, RefusesAChangeOfTheSchemaThatWouldWaitForItsOwnThread) {
  const auto database = open({.connections = 3, .lock_timeout = std::nullopt});
  Connection one = connect(*database);
  Connection other = connect(*database);
  run(one, kTable);
  for (const std::string end : {"COMMIT", "ROLLBACK"}) {
    run(one, "BEGIN");
    run(one, "INSERT INTO counter VALUES (1, 1)");
    for (const std::string change : {"CREATE TABLE more (id INT PRIMARY KEY)", kAdd, "DROP TABLE counter"}) {
      const StatementResult refused = other.run(change);
      EXPECT_EQ(refused.sqlstate, "55P03");
      EXPECT_THAT(refused.message,
                  HasSubstr("the transaction block that this thread has open on another connection"));
    }
    run(other, "SELECT n FROM counter");
    run(one, end);
    run(other, "DELETE FROM counter");
  }
  // Also a failed block is one.
  run(one, "BEGIN");
  EXPECT_FALSE(one.run("SELECT nothing").ok());
  EXPECT_EQ(other.run("CREATE TABLE more (id INT PRIMARY KEY)").sqlstate, "55P03");
  // One that was begun by a thread that has ended belongs to the one that goes on with it.
  run(one, "ROLLBACK");
  std::thread([&] { run(one, "BEGIN"); }).join();
  run(one, "INSERT INTO counter VALUES (1, 1)");
  EXPECT_EQ(other.run("CREATE TABLE more (id INT PRIMARY KEY)").sqlstate, "55P03");
  run(one, "COMMIT");
  run(other, "CREATE TABLE more (id INT PRIMARY KEY)");
}

TEST_F(EmbeddedDatabaseTest, RefusesStatementsThatWouldWaitForAChangeThatWaitsForTheirThread) {
  const auto database = open({.connections = 3, .lock_timeout = std::nullopt});
  Connection one = connect(*database);
  Connection other = connect(*database);
  run(one, kTable);
  run(one, kAdd);
  run(one, "INSERT INTO counter VALUES (1, 0)");
  run(one, "BEGIN");
  std::thread changer([&] {
    Connection third = connect(*database);
    run(third, "CREATE TABLE more (id INT PRIMARY KEY)");
  });
  // Until the change waits, both run.
  StatementResult refused;
  do refused = other.run("SELECT n FROM counter");
  while (refused.ok());
  EXPECT_EQ(refused.sqlstate, "40P01") << refused.message;
  const CallResult call = other.call("add", {integer(1), integer(1)});
  EXPECT_EQ(call.status, CallResult::Status::kRefused);
  EXPECT_EQ(call.sqlstate, "40P01") << call.message;
  EXPECT_EQ(other.run("CREATE TABLE most (id INT PRIMARY KEY)").sqlstate, "55P03");
  run(one, "UPDATE counter SET n = 7 WHERE id = 1");
  run(one, "COMMIT");
  changer.join();
  EXPECT_EQ(value(other, "SELECT n FROM counter"), "7");
  run(other, "DROP TABLE more");
}

TEST_F(EmbeddedDatabaseTest, AChangeOfTheSchemaWaitsNoLongerThanItsTimeForAnotherThreadsBlock) {
  const auto database = open({.connections = 2, .lock_timeout = std::chrono::milliseconds(1)});
  Connection one = connect(*database);
  Connection other = connect(*database);
  run(one, kTable);
  std::thread([&] { run(one, "BEGIN"); }).join();
  const StatementResult refused = other.run("DROP TABLE counter");
  EXPECT_EQ(refused.sqlstate, "55P03");
  EXPECT_THAT(refused.message,
              HasSubstr("DROP TABLE has waited 1 ms for transactions that other connections have open"));
  run(other, "INSERT INTO counter VALUES (1, 1)");
  run(one, "COMMIT");
  run(other, "DROP TABLE counter");
}

TEST_F(EmbeddedDatabaseTest, WhatNoticeThrowsIsDropped) {
  int notices = 0;
  {
    const auto database = open();
    Connection connection = connect(*database);
    run(connection, kTable);
    run(connection, kAdd);
    run(connection, "INSERT INTO counter VALUES (1, 0)");
  }
  // A compiler that isn't there is told of in the first call.
  ::setenv("MNEME_CXX", "/nonexistent", 1);
  std::optional<Connection> connection;
  std::string refused;
  auto opened = EmbeddedDatabase::open(directory_, {.connections = 2, .notice = [&](const std::string&) {
                                                      ++notices;
                                                      if (connection)
                                                        refused = connection->run("SELECT 1").message;
                                                      throw std::runtime_error("a notice");
                                                    }});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  connection.emplace(connect(**opened));
  const CallResult result = connection->call("add", {integer(1), integer(1)});
  EXPECT_TRUE(result.committed()) << result.message;
  EXPECT_GT(notices, 0);
  EXPECT_THAT(refused, HasSubstr("this connection is running another statement or call"));
  ::unsetenv("MNEME_CXX");
  run(*connection, "DROP PROCEDURE add");
  EXPECT_EQ(value(*connection, "SELECT n FROM counter"), "1");
}

TEST_F(EmbeddedDatabaseTest, AConnectionThatWasMovedFromRefuses) {
  const auto database = open();
  Connection one = connect(*database);
  Connection moved = std::move(one);
  // NOLINTNEXTLINE(bugprone-use-after-move): what one that was moved from does
  EXPECT_EQ(one.run("BEGIN").sqlstate, "08003");
  EXPECT_EQ(one.call("add", {}).status, CallResult::Status::kRefused);
  run(moved, kTable);
}

TEST_F(EmbeddedDatabaseTest, LivesAsLongAsItsLastConnection) {
  auto database = open();
  std::optional<Connection> connection(connect(*database));
  run(*connection, kTable);
  database.reset();
  run(*connection, "INSERT INTO counter VALUES (1, 9)");
  EXPECT_FALSE(EmbeddedDatabase::open(directory_).ok()) << "it is still open";
  connection.reset();
  database = open();
  EXPECT_EQ(value(*(connection.emplace(connect(*database)), &*connection), "SELECT n FROM counter"), "9");
}

TEST_F(EmbeddedDatabaseTest, RefusesTheSameDirectoryByAnotherName) {
  const std::string link = directory_ + "-link";
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(directory_, link);
  {
    const auto database = open();
    EXPECT_FALSE(EmbeddedDatabase::open(link).ok());
    EXPECT_FALSE(
        EmbeddedDatabase::open(directory_ + "/../" + std::filesystem::path(directory_).filename().string())
            .ok());
    const auto second =
        EmbeddedDatabase::open(directory_ + "-second", {.execution = Execution::kInterpreted});
    EXPECT_TRUE(second.ok()) << "two databases in one process";
  }
  EXPECT_TRUE(EmbeddedDatabase::open(link, {.execution = Execution::kInterpreted}).ok());
  std::filesystem::remove(link);
  std::filesystem::remove_all(directory_ + "-second");
}

TEST_F(EmbeddedDatabaseTest, RefusesTextThatIsNoStatement) {
  const auto database = open();
  Connection connection = connect(*database);
  run(connection, kTable);
  for (const std::string& text :
       {std::string(), std::string(" \n"), std::string(";"), std::string("-- nothing"), std::string("\0", 1),
        std::string("SELECT n FROM counter\0", 22), std::string("SELECT n FROM counter\0; DROP", 28),
        std::string("SELECT '\0' FROM counter", 23), std::string("SELECT '\xff' FROM counter"),
        std::string("\xff\xfe"), "SELECT " + std::string(100'000, 'x') + " FROM counter"}) {
    const StatementResult result = connection.run(text);
    EXPECT_FALSE(result.ok()) << text;
    EXPECT_FALSE(result.message.empty());
  }
  run(connection, "SELECT n FROM counter");
}

}  // namespace
}  // namespace mneme
