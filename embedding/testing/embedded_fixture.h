// EmbeddedDatabaseTest: a database in a directory of the test's own, opened, left and opened again;
// procedures are interpreted.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "embedding/embedded_database.h"

namespace mneme {

inline Argument integer(int64_t number) {
  return Argument::of(Value::of_int(number));
}

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

}  // namespace mneme
