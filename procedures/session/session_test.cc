// Goal: what a session adds to a call is fixed when the call is made, and is logged with it. Method: a
// procedure asks for the time twice; what it stored is held against the clock and the logged call. Then what
// is logged by rows: what cannot be, what chance decides, and what was drawn.
#include "procedures/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/testing/test_database.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/times/timestamp.h"

namespace mneme {
namespace {

std::unique_ptr<Program> must_compile(std::string_view sql) {
  auto program = compile(std::string(sql), "test.sql");
  EXPECT_TRUE(program.ok()) << program.error().message;
  return std::move(*program);
}

// The database of a program, a log that counts, and a session.
struct OneSession {
  explicit OneSession(std::string_view sql, RecordContent content = RecordContent::kCommand)
      : program(must_compile(sql)), database(program->catalog, 1), session(*program, database, WorkerId{0}) {
    database.attach_log(log, content);
  }

  std::unique_ptr<Program> program;
  Database database;
  CountingLog log;
  Session session;
};

TEST(Session, FixesTheTimeAtTheCall) {
  OneSession one(R"(
      CREATE TABLE visit (v_id INT PRIMARY KEY, v_from TIMESTAMP NOT NULL, v_to TIMESTAMP NOT NULL);
      CREATE PROCEDURE stay(p_id INT, INOUT r_at TIMESTAMP) LANGUAGE plpgsql AS $$
      BEGIN
          INSERT INTO visit (v_id, v_from, v_to) VALUES (p_id, LOCALTIMESTAMP, '2000-01-01');
          UPDATE visit SET v_to = localtimestamp WHERE v_id = p_id RETURNING v_to INTO r_at;
      END $$;)");
  auto& [program, database, log, session] = one;

  const Call call{ProcedureId{0}, {Argument::of(Value::of_int(1)), Argument::of(Value::null())}};
  const int64_t before = current_timestamp();
  const CallResult result = session.run(call);
  const int64_t after = current_timestamp();
  ASSERT_TRUE(result.committed()) << result.message;
  const int64_t at = result.results[0].scalar.as_int();
  EXPECT_LE(before, at);
  EXPECT_LE(at, after);

  const Row* row = database.table(TableId{0}).rows().at(0);
  const RowLayout& layout = database.schema().layout(TableId{0});
  EXPECT_EQ(layout.get(row->image(), ColumnId{1}).as_int(), at);
  EXPECT_EQ(layout.get(row->image(), ColumnId{2}).as_int(), at);
}

TEST(Session, RefusesACallWithTooFewArguments) {
  OneSession one(R"(
      CREATE TABLE visit (v_id INT PRIMARY KEY, v_at TIMESTAMP NOT NULL);
      CREATE PROCEDURE stay(p_id INT) LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO visit (v_id, v_at) VALUES (p_id, LOCALTIMESTAMP); END $$;)");
  auto& [program, database, log, session] = one;
  const CallResult result = session.run({ProcedureId{0}, {}});
  EXPECT_EQ(result.status, CallResult::Status::kRefused);
  EXPECT_EQ(result.message, "procedure stay takes 1 argument, not 0");
}

// A call that cannot be logged as rows is refused once it has run, and leaves nothing behind.
TEST(Session, RefusesWhatALogOfRowsCannotHold) {
  OneSession one(R"(
      CREATE TABLE note (n_at INT NOT NULL, n_text VARCHAR(2000) NOT NULL);
      CREATE INDEX note_at ON note (n_at);
      CREATE TABLE page (p_id INT PRIMARY KEY, p_text VARCHAR(2000) NOT NULL);
      CREATE PROCEDURE write(p_count INT, p_text VARCHAR(2000)) LANGUAGE plpgsql AS $$
      BEGIN
          INSERT INTO note (n_at, n_text) VALUES (0, p_text);
          FOR i IN 1..p_count LOOP
              INSERT INTO page (p_id, p_text) VALUES (i, p_text);
          END LOOP;
      END $$;
      CREATE PROCEDURE correct() LANGUAGE plpgsql AS $$
      BEGIN UPDATE note SET n_at = 1 WHERE n_at = 0; END $$;)",
                 RecordContent::kLogical);
  auto& [program, database, log, session] = one;
  const std::string text(2000, 'x');
  const auto write = [&](int64_t count) {
    return session.run(
        {ProcedureId{0}, {Argument::of(Value::of_int(count)), Argument::of(Value::of_text(text))}});
  };

  const CallResult too_large = write(140);
  EXPECT_EQ(too_large.status, CallResult::Status::kRefused);
  EXPECT_NE(too_large.message.find("the rows that write changed"), std::string_view::npos)
      << too_large.message;
  EXPECT_EQ(log.filled() + log.skipped(), 0u);
  EXPECT_TRUE(write(100).committed()) << "nothing is left of the refused call's rows";

  EXPECT_TRUE(session.run({ProcedureId{1}, {}}).committed()) << "values name a row without a primary key";
  EXPECT_EQ(log.filled(), 2u);

  database.attach_log(log, RecordContent::kAll);
  ASSERT_TRUE(write(0).committed());
  const CallResult unnamed = session.run({ProcedureId{1}, {}});
  EXPECT_EQ(unnamed.status, CallResult::Status::kRefused);
  EXPECT_NE(unnamed.message.find("no primary key"), std::string_view::npos) << unnamed.message;
}

// A call that has only read, and one that raised because of what it read, waits for the transactions that it
// read from.
TEST(Session, TellsHowFarTheLogMustBeDurable) {
  OneSession one(R"(
      CREATE TABLE purse (p_id INT PRIMARY KEY, p_coins INT NOT NULL);
      CREATE PROCEDURE open(q_id INT) LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO purse (p_id, p_coins) VALUES (q_id, 5); END $$;
      CREATE PROCEDURE look(q_id INT, INOUT r_coins INT) LANGUAGE plpgsql AS $$
      BEGIN SELECT p_coins INTO r_coins FROM purse WHERE p_id = q_id; END $$;
      CREATE PROCEDURE complain(q_id INT) LANGUAGE plpgsql AS $$
      DECLARE v_coins INT;
      BEGIN
          SELECT p_coins INTO v_coins FROM purse WHERE p_id = q_id;
          IF v_coins = 5 THEN RAISE EXCEPTION 'only %', v_coins; END IF;
      END $$;)");
  auto& [program, database, log, session] = one;
  const Argument first = Argument::of(Value::of_int(1));
  ASSERT_TRUE(session.run({ProcedureId{0}, {Argument::of(Value::of_int(2))}}).committed());
  const CallResult opened = session.run({ProcedureId{0}, {first}});
  ASSERT_TRUE(opened.committed()) << opened.message;
  EXPECT_GT(opened.lsn, kFirstLsn);
  const CallResult looked = session.run({ProcedureId{1}, {first, Argument::of(Value::null())}});
  ASSERT_TRUE(looked.committed()) << looked.message;
  EXPECT_FALSE(looked.logged);
  EXPECT_EQ(looked.lsn, opened.lsn);
  const CallResult complained = session.run({ProcedureId{2}, {first}});
  EXPECT_EQ(complained.status, CallResult::Status::kRolledBack);
  EXPECT_EQ(complained.lsn, opened.lsn);
}

constexpr std::string_view kRaffle = R"(
      CREATE TABLE ticket (t_holder INT NOT NULL);
      CREATE INDEX ticket_list ON ticket (t_holder);
      CREATE TABLE prize (p_id INT PRIMARY KEY, p_holder INT NOT NULL);
      CREATE PROCEDURE buy(p_holder INT) LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO ticket (t_holder) VALUES (p_holder); END $$;
      CREATE PROCEDURE draw(p_id INT) LANGUAGE plpgsql AS $$
      DECLARE v_holder INT;
      BEGIN
          SELECT t_holder INTO v_holder FROM ticket WHERE t_holder > 0 LIMIT 1;
          INSERT INTO prize (p_id, p_holder) VALUES (p_id, v_holder);
      END $$;)";

TEST(Session, LogsByItsRowsWhatChanceDecides) {
  const auto program = compile(kRaffle, "test.sql");
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_FALSE((*program)->procedures[0].is_logged_by_rows());
  EXPECT_TRUE((*program)->procedures[1].is_logged_by_rows());
  EXPECT_NE((*program)->procedures[1].by_chance.find("which rows of ticket"), std::string::npos);
  Database database((*program)->catalog, 1);
  KeptLog log;
  database.attach_log(log);
  Session session(**program, database, WorkerId{0});
  for (const uint32_t procedure : {0, 1}) {
    ASSERT_TRUE(session.run({ProcedureId{procedure}, {Argument::of(Value::of_int(3))}}).committed());
  }
  const std::vector<RecordView> records = log.records();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].kind, RecordKind::kCommand);
  EXPECT_EQ(records[1].kind, RecordKind::kLogical);
  EXPECT_EQ(session.counters().ad_hoc, 1u);
}

TEST(Session, LogsAShareOfItsCallsByTheirRows) {
  const auto program = compile(kRaffle, "test.sql");
  ASSERT_TRUE(program.ok()) << program.error().message;
  for (const uint32_t percent : {0, 30, 100}) {
    Database database((*program)->catalog, 1);
    KeptLog log;
    database.attach_log(log);
    SessionOptions options;
    options.ad_hoc_percent = percent;
    Session session(**program, database, WorkerId{0}, options);
    for (int64_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(session.run({ProcedureId{0}, {Argument::of(Value::of_int(i))}}).committed());
    }
    const std::vector<RecordView> records = log.records();
    const auto by_rows = std::ranges::count(records, RecordKind::kLogical, &RecordView::kind);
    EXPECT_EQ(session.counters().ad_hoc, static_cast<uint64_t>(by_rows));
    EXPECT_NEAR(static_cast<double>(by_rows), 10.0 * percent, 50);
  }
}

}  // namespace
}  // namespace mneme
