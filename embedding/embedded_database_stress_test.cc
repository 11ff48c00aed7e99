// Goal: connections on several threads and a schema that changes beneath them do each other no harm.
//
// Method: three threads call a procedure that adds to a counter of theirs and tells its new value, which must
// be one more than the last; a fourth creates and drops a procedure, and replaces theirs, over and over. The
// counters are at the end what was called. And threads with a block open on one connection, and statements
// and changes of the schema on another: what would wait for the thread itself fails, and so everything ends,
// though nothing limits how long a change waits.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "embedding/embedded_database.h"

namespace mneme {
namespace {

constexpr int64_t kCallers = 3;
constexpr int64_t kCalls = 300;
constexpr int kChanges = 10;

TEST(EmbeddedDatabaseStress, CallsBesideChangesOfTheSchema) {
  const std::string directory = testing::TempDir() + "mneme-embedded-stress-" + std::to_string(getpid());
  std::filesystem::remove_all(directory);
  {
    auto database = EmbeddedDatabase::open(
        directory, {.connections = kCallers + 1, .execution = Execution::kInterpreted});
    ASSERT_TRUE(database.ok()) << database.error().message;
    Result<Connection> main = (*database)->connect();
    ASSERT_TRUE(main->run("CREATE TABLE counter (id INT PRIMARY KEY, n BIGINT NOT NULL)").ok());
    ASSERT_TRUE(main->run("CREATE PROCEDURE add(p_id INT, INOUT p_now BIGINT) LANGUAGE plpgsql AS $$ BEGIN "
                          "UPDATE counter SET n = n + 1 WHERE id = p_id RETURNING n INTO p_now; END; $$")
                    .ok());
    std::vector<std::thread> callers;
    for (int64_t id = 0; id < kCallers; ++id) {
      ASSERT_TRUE(main->run("INSERT INTO counter VALUES (" + std::to_string(id) + ", 0)").ok());
    }
    for (int64_t id = 0; id < kCallers; ++id) {
      callers.emplace_back([&, id] {
        Result<Connection> connection = (*database)->connect();
        for (int64_t i = 1; i <= kCalls; ++i) {
          const CallResult result = connection->call("add", {Argument::of(Value::of_int(id))});
          ASSERT_TRUE(result.committed()) << result.message;
          ASSERT_EQ(result.results[0].scalar.as_int(), i);
        }
      });
    }
    for (int i = 0; i < kChanges; ++i) {
      ASSERT_TRUE(main->run("CREATE TABLE passing (id INT PRIMARY KEY)").ok());
      ASSERT_TRUE(main->run("INSERT INTO passing VALUES (1)").ok());
      ASSERT_TRUE(main->run("DROP TABLE passing").ok());
    }
    for (std::thread& caller : callers) caller.join();
  }
  auto database = EmbeddedDatabase::open(directory, {.execution = Execution::kInterpreted});
  ASSERT_TRUE(database.ok()) << database.error().message;
  const StatementResult rows = (*database)->connect()->run("SELECT n FROM counter ORDER BY id");
  ASSERT_EQ(rows.rows.size(), size_t{kCallers});
  for (const auto& row : rows.rows) EXPECT_EQ(row[0], std::to_string(kCalls));
  database->reset();
  std::filesystem::remove_all(directory);
}

TEST(EmbeddedDatabaseStress, ThreadsThatHaveBlocksAndChangeTheSchemaNeverWaitForThemselves) {
  constexpr int kThreads = 2;
  constexpr int kRounds = 20;
  const std::string directory = testing::TempDir() + "mneme-embedded-blocks-" + std::to_string(getpid());
  std::filesystem::remove_all(directory);
  {
    auto database = EmbeddedDatabase::open(
        directory,
        {.connections = 2 * kThreads, .execution = Execution::kInterpreted, .lock_timeout = std::nullopt});
    ASSERT_TRUE(database.ok()) << database.error().message;
    ASSERT_TRUE(
        (*database)->connect()->run("CREATE TABLE counter (id INT PRIMARY KEY, n BIGINT NOT NULL)").ok());
    std::vector<std::thread> threads;
    for (int id = 0; id < kThreads; ++id) {
      threads.emplace_back([&, id] {
        Result<Connection> one = (*database)->connect();
        Result<Connection> other = (*database)->connect();
        const std::string table = "passing" + std::to_string(id);
        for (int round = 0; round < kRounds; ++round) {
          // BEGIN waits for the other thread's changes that have begun, as this connection has no block yet.
          ASSERT_TRUE(one->run("BEGIN").ok());
          const StatementResult beside = other->run("SELECT n FROM counter WHERE id = 1");
          ASSERT_TRUE(beside.ok() || beside.sqlstate == "40P01") << beside.message;
          ASSERT_EQ(other->run("CREATE TABLE " + table + " (id INT PRIMARY KEY)").sqlstate, "55P03");
          ASSERT_TRUE(one->run("ROLLBACK").ok());
          ASSERT_TRUE(other->run("CREATE TABLE " + table + " (id INT PRIMARY KEY)").ok());
          ASSERT_TRUE(one->run("DROP TABLE " + table).ok());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace mneme
