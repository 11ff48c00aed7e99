// Goal: a sequence gives each number once, however many sessions draw from it, commit and roll back. Method:
// sessions on threads insert into a table with a SERIAL key, each in transactions of its own, in blocks and
// with blocks that are rolled back. The key is the primary key: a number that was given twice fails an
// insert, and the rows are counted at the end.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "engine/testing/test_database.h"
#include "procedures/binder/program.h"
#include "procedures/session/sql_session.h"

namespace mneme {
namespace {

constexpr const char* kSchema = R"sql(
CREATE TABLE item_id_seq (last_value BIGINT NOT NULL, log_cnt BIGINT NOT NULL, is_called BOOLEAN NOT NULL,
                          PRIMARY KEY (log_cnt));
CREATE TABLE item (id SERIAL PRIMARY KEY, owner INT NOT NULL);
CREATE PROCEDURE add_two(p_owner INT, p_fails BOOLEAN) LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        INSERT INTO item (owner) VALUES (p_owner);
        IF p_fails THEN
            RAISE EXCEPTION 'taken back';
        END IF;
    EXCEPTION WHEN raise_exception THEN
        INSERT INTO item (owner) VALUES (p_owner);
    END;
    INSERT INTO item (owner) VALUES (p_owner);
END $$;
)sql";

constexpr uint32_t kSessions = 4;
constexpr int kRounds = 60;

std::string run(SqlSession& session, const std::string& text) {
  const ParsedStatement parsed = parse_statement(text);
  EXPECT_TRUE(parsed.command) << parsed.failure.message;
  return session.run(*parsed.command).sqlstate;
}

TEST(SequenceDraws, ProceduresGiveEachNumberOnce) {
  const std::unique_ptr<Program> program = *compile(kSchema, "test.sql");
  Database database(program->catalog, kSessions);
  CountingLog log;
  database.attach_log(log, RecordContent::kCommand);
  const ProcedureId add_two = program->find_procedure("add_two")->id;
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < kSessions; ++number) {
    threads.emplace_back([&, number] {
      Session session(*program, database, WorkerId{number});
      for (int round = 0; round < 2 * kRounds; ++round) {
        const Call call{add_two,
                        {Argument::of(Value::of_int(number)), Argument::of(Value::of_bool(round % 3 == 0))}};
        const CallResult result = session.run(call);
        ASSERT_TRUE(result.committed()) << result.message;
        ASSERT_EQ(session.counters().ad_hoc, session.counters().logged) << "logged by its rows";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  SqlSession session(*program, database, WorkerId{0});
  const ParsedStatement count = parse_statement("SELECT count(*), count(DISTINCT id) FROM item");
  const StatementResult result = session.run(*count.command);
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(result.rows[0][0], std::to_string(kSessions * 2 * kRounds * 2));
  EXPECT_EQ(result.rows[0][1], result.rows[0][0]);
}

TEST(SequenceDraws, EachNumberIsGivenOnce) {
  const std::unique_ptr<Program> program = *compile(kSchema, "test.sql");
  Database database(program->catalog, kSessions);
  CountingLog log;
  database.attach_log(log, RecordContent::kLogical);
  std::atomic<int> committed = 0;  // relaxed: read once the threads have ended
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < kSessions; ++number) {
    threads.emplace_back([&, number] {
      SqlSession session(*program, database, WorkerId{number});
      const std::string insert = "INSERT INTO item (owner) VALUES (" + std::to_string(number) + ")";
      for (int round = 0; round < kRounds; ++round) {
        const int kind = round % 3;
        if (kind == 0) {
          ASSERT_EQ(run(session, insert), "");
          committed.fetch_add(1, std::memory_order_relaxed);
          continue;
        }
        ASSERT_EQ(run(session, "BEGIN"), "");
        int rows = 0;
        for (int i = 0; i < 5; ++i) {
          const std::string state = run(session, insert);
          // Another session crosses the mark at the same time: the block's client is told.
          ASSERT_TRUE(state.empty() || state == "40001" || state == "25P02") << state;
          rows += state.empty();
        }
        const std::string ended = run(session, kind == 1 ? "COMMIT" : "ROLLBACK");
        if (kind == 1 && ended.empty() && rows == 5) committed.fetch_add(rows, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  SqlSession session(*program, database, WorkerId{0});
  const ParsedStatement count = parse_statement("SELECT count(*), count(DISTINCT id) FROM item");
  const StatementResult result = session.run(*count.command);
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(result.rows[0][0], std::to_string(committed.load(std::memory_order_relaxed)));
  EXPECT_EQ(result.rows[0][1], result.rows[0][0]);
}

}  // namespace
}  // namespace mneme
