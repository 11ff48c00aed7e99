// Goal: a schema that changes at work is, after recovery, what it was, and so are the rows, whatever scheme
// recovers them. Method: random calls on a directory's database, changes of its schema between them, one of
// each kind, and rows changed by themselves; every scheme that the log serves must give the digest that was
// left. What is refused must leave log, program and rows as they were. Indexes are walked entirely. What a
// change does not concern, tables, indexes and bound procedures, must be the same objects behind it. Hundreds
// of changes among rows must leave what a database has that was made at once, with the schema and the rows
// that are left.
#include "recovery/database/schema_change.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "base/testing/test_refusal.h"
#include "engine/checkpoint/online_checkpointer.h"
#include "engine/schema/qualified_name.h"
#include "engine/transaction/unlogged_writer.h"
#include "procedures/session/session.h"
#include "recovery/database/live_session.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

class SchemaChangeTest : public testing::TestWithParam<RecordContent> {
 protected:
  SchemaChangeTest() : directory_(testing::TempDir() + "schema_change_" + std::to_string(::getpid())) {
    fs::remove_all(directory_);
  }
  ~SchemaChangeTest() override { fs::remove_all(directory_); }

  WorkingDatabase create(GroupCommit group = {.interval = kChosenInterval}) {
    auto program = compile(kBankSql, "bank.sql");
    EXPECT_TRUE(program.ok());
    CreateOptions options;
    options.records = GetParam();
    options.log.group = group;
    options.log.helpers = 1;  // to append checkpoints
    auto load = [](Database& database) -> Result<void> {
      UnloggedWriter rows(database);
      for (int64_t i = 100; i < 400; ++i) {
        const std::array pair = {Value::of_int(i), Value::of_int(i / 2)};
        for (uint32_t t = 0; t < 3; ++t) EXPECT_EQ(rows.insert(TableId{t}, pair), AccessStatus::kOk);
      }
      return {};
    };
    Result<CreatedDatabase> created = create_database(directory_, std::move(*program), load, options);
    EXPECT_TRUE(created.ok());
    return std::move(created->working);
  }

  static StatementResult change(WorkingDatabase& working, const std::string& text) {
    const ParsedStatement parsed = parse_statement(text);
    EXPECT_TRUE(parsed.command) << parsed.failure.message;
    return change_schema(working, *parsed.command, text, 2);
  }
  static void must_change(WorkingDatabase& working, const std::string& text) {
    const StatementResult result = change(working, text);
    EXPECT_TRUE(result.ok()) << text << ": " << result.message;
    for (const TableDefinition& table : working.database().catalog().tables()) {
      for (const TableIndex& index : working.database().table(table.id).indexes()) index.index->verify();
    }
    EXPECT_TRUE(verify_indexes(working.database()).ok()) << text;
  }
  static void calls(WorkingDatabase& working, uint32_t seed) {
    Session session(working.program(), working.database(), WorkerId{0});
    RandomCalls random(working.program(), seed);
    for (int i = 0; i < 200; ++i) {
      const LoggedAs logged_as = i % 10 == 0 ? LoggedAs::kAdHoc : LoggedAs::kContent;
      const CallResult result = session.run(random.next(), logged_as);
      EXPECT_TRUE(result.committed() || result.status == CallResult::Status::kRolledBack) << result.message;
    }
    EXPECT_GT(session.counters().logged, 0u);
  }

  static std::vector<const RecoveryScheme*> schemes() {
    std::vector<const RecoveryScheme*> served;
    for (const RecoveryScheme& scheme : recovery_schemes()) {
      if (check_served(scheme, GetParam(), TupleImage::kFull).ok()) served.push_back(&scheme);
    }
    return served;
  }
  void expect_recovered(Digest left, uint64_t changes) {
    for (const RecoveryScheme* scheme : schemes()) {
      RecoverOptions options;
      options.scheme = scheme;
      options.replay.threads = 3;
      options.replay.batch_transactions = 16;
      Result<RecoveredDatabase> recovered = recover(directory_, options);
      ASSERT_TRUE(recovered.ok()) << scheme->name << ": " << recovered.error().message;
      EXPECT_EQ(digest_of(*recovered->database, 2), left) << scheme->name;
      EXPECT_EQ(recovered->report.schema.changes, changes);
      EXPECT_TRUE(verify_indexes(*recovered->database).ok()) << scheme->name;
      if (!scheme->replays_calls()) continue;
      options.most_kept_log_bytes = 0;
      options.log_window_bytes = 500;
      recovered = recover(directory_, options);
      ASSERT_TRUE(recovered.ok()) << scheme->name << ", in windows: " << recovered.error().message;
      EXPECT_EQ(digest_of(*recovered->database, 2), left) << scheme->name << ", in windows";
      EXPECT_EQ(recovered->report.schema.changes, changes);
    }
  }

  const std::string directory_;
};

constexpr const char* kNewProcedure =
    "CREATE PROCEDURE put_extra(p_id INT, p_amount INT) LANGUAGE plpgsql AS $$\n"
    "BEGIN DELETE FROM extra WHERE id = p_id; INSERT INTO extra VALUES (p_id, p_amount); END $$";

// What a row's values ask is made of statements of its transaction, and of a change's own rows: every scheme
// finds the same.
TEST_P(SchemaChangeTest, GeneratedColumnsAndKeysOfSomeRowsAreRecovered) {
  Digest left{};
  {
    WorkingDatabase working = create();
    must_change(working,
                "CREATE TABLE seat (id INT PRIMARY KEY, place INT, taken INT, twice INT GENERATED ALWAYS AS "
                "(place * 2 + taken) STORED NOT NULL)");
    must_change(working, "CREATE UNIQUE INDEX seat_free ON seat (place) WHERE taken = 0");
    must_change(working, "CREATE INDEX seat_twice ON seat (twice) WHERE taken > 0");
    must_change(working,
                "CREATE PROCEDURE put_seat(p_id INT, p_place INT) LANGUAGE plpgsql AS $$\n"
                "BEGIN DELETE FROM seat WHERE id = p_id;\n"
                "INSERT INTO seat (id, place, taken) VALUES (p_id, p_place % 50, p_id % 2); END $$");
    must_change(working,
                "CREATE PROCEDURE free_seat(p_id INT, p_twice INT) LANGUAGE plpgsql AS $$\n"
                "DECLARE v INT; BEGIN UPDATE seat SET taken = 0 WHERE id = p_id;\n"
                "SELECT count(*) INTO v FROM seat WHERE twice = p_twice;\n"
                "UPDATE seat SET place = place + v WHERE twice > p_twice AND id < 150; END $$");
    calls(working, 1);
    must_change(working, "ALTER TABLE seat ADD COLUMN third INT GENERATED ALWAYS AS (place / 3) STORED");
    calls(working, 2);
    must_change(working, "DROP PROCEDURE put_seat");
    must_change(working, "DROP PROCEDURE free_seat");
    must_change(working, "ALTER TABLE seat RENAME COLUMN place TO spot");
    left = digest_of(working.database(), 2);
    SqlSession session(working.program(), working.database(), WorkerId{0});
    const auto wrong =
        session.run(*parse_statement("SELECT 1 FROM seat WHERE twice <> spot * 2 + taken OR third <> spot / "
                                     "3 OR spot IN (SELECT spot FROM "
                                     "seat WHERE taken = 0 GROUP BY spot HAVING count(*) > 1) AND taken = 0")
                         .command);
    EXPECT_TRUE(wrong.ok()) << wrong.message;
    EXPECT_TRUE(wrong.rows.empty());
    const auto some = session.run(*parse_statement("SELECT count(*) FROM seat").command);
    ASSERT_EQ(some.rows.size(), 1u);
    EXPECT_NE(some.rows[0][0], "0");
  }
  expect_recovered(left, 9);
}

TEST_P(SchemaChangeTest, EachSchemeFollowsEachChange) {
  Digest left{};
  {
    WorkingDatabase working = create();
    calls(working, 1);
    must_change(working, "CREATE TABLE extra (id INT PRIMARY KEY, amount INT NOT NULL)");
    calls(working, 2);
    must_change(working, kNewProcedure);
    calls(working, 3);
    must_change(working, "CREATE INDEX extra_by_amount ON extra (amount)");
    must_change(working,
                "CREATE PROCEDURE drain(p_amount INT) LANGUAGE plpgsql AS $$\n"
                "BEGIN UPDATE extra SET amount = amount + 1 WHERE amount > p_amount; END $$");
    calls(working, 4);
    must_change(
        working,
        "CREATE OR REPLACE PROCEDURE put_extra(p_id INT, p_amount INT) LANGUAGE plpgsql AS $$\n"
        "BEGIN DELETE FROM extra WHERE id = p_id; INSERT INTO extra VALUES (p_id, p_amount * 2); END $$");
    calls(working, 5);
    must_change(working, "DROP PROCEDURE drain");
    must_change(working, "DROP INDEX extra_by_amount");
    calls(working, 6);
    must_change(working, "DROP PROCEDURE put_extra");
    must_change(working, "DROP TABLE extra");
    must_change(working, "CREATE TABLE extra (name VARCHAR(8) PRIMARY KEY)");
    calls(working, 7);
    left = digest_of(working.database(), 2);
  }
  expect_recovered(left, 10);

  // The recovered database goes on working.
  {
    Result<OpenedDatabase> opened = open_for_work(directory_, {}, {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(digest_of(opened->working.database(), 2), left);
    must_change(opened->working, "CREATE TABLE more (id INT PRIMARY KEY)");
    calls(opened->working, 8);
    left = digest_of(opened->working.database(), 2);
  }
  expect_recovered(left, 11);
}

TEST_P(SchemaChangeTest, EachSchemeFollowsTablesThatAreEmptiedOrGetAKey) {
  Digest left{};
  {
    WorkingDatabase working = create();
    LiveSession session(working, WorkerId{0}, 2);
    const auto run = [&](const std::string& text) {
      const StatementResult result = session.run(text);
      EXPECT_TRUE(result.ok()) << text << ": " << result.message;
    };
    const auto insert = [&](int from, int to) {
      for (int i = from; i < to; ++i)
        run("INSERT INTO plain VALUES (" + std::to_string(i) + ", " + std::to_string(i % 7) + ", NULL)");
    };
    calls(working, 1);
    must_change(working, "CREATE TABLE plain (a INT, b INT, c VARCHAR(5))");
    must_change(working, "CREATE INDEX plain_by_b ON plain (b)");
    insert(0, 100);
    EXPECT_EQ(session.run("SELECT count(*) FROM plain").rows[0][0], "100");
    if (GetParam() == RecordContent::kAll) {
      EXPECT_EQ(session.run("UPDATE plain SET c = 'y' WHERE b = 2").sqlstate, "55000");
    } else {
      run("UPDATE plain SET c = 'y' WHERE b = 2");
    }
    must_change(working, "ALTER TABLE plain ADD PRIMARY KEY (a)");
    calls(working, 2);
    run("UPDATE plain SET c = 'x', b = 20 WHERE b = 3");
    run("DELETE FROM plain WHERE a = 50");
    insert(100, 120);
    must_change(working, "ALTER TABLE plain ADD UNIQUE (a)");
    must_change(working, "TRUNCATE TABLE plain");
    insert(40, 60);
    run("UPDATE plain SET a = a + 1000 WHERE a < 50");
    calls(working, 3);
    EXPECT_EQ(session.run("SELECT count(*) FROM plain").rows[0][0], "20");
    left = digest_of(working.database(), 2);
  }
  expect_recovered(left, 5);
}

// Rows, keys and calls hold labels by their positions, which all schemes and a later process give them again.
TEST_P(SchemaChangeTest, EachSchemeFollowsTypesAsTheyChange) {
  Digest left{};
  {
    WorkingDatabase working = create();
    LiveSession session(working, WorkerId{0}, 2);
    const auto run = [&](const std::string& text) {
      const StatementResult result = session.run(text);
      EXPECT_TRUE(result.ok()) << text << ": " << result.message;
    };
    calls(working, 1);
    must_change(working, "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')");
    must_change(working, "CREATE TYPE lost AS ENUM ('a')");
    must_change(working, "CREATE TABLE felt (m mood PRIMARY KEY, next mood NOT NULL DEFAULT 'ok')");
    calls(working, 2);
    must_change(working, "CREATE INDEX felt_by_next ON felt (next)");
    must_change(working,
                "CREATE PROCEDURE feel(p_m mood, p_next mood) LANGUAGE plpgsql AS $$ BEGIN "
                "DELETE FROM felt WHERE m = p_m; INSERT INTO felt VALUES (p_m, p_next); "
                "UPDATE felt SET next = 'sad' WHERE next > p_next; END $$");
    run("CALL feel('sad', 'happy')");
    run("INSERT INTO felt (m) VALUES ('ok')");
    must_change(working, "ALTER TYPE mood ADD VALUE 'fine' BEFORE 'happy'");
    must_change(working, "ALTER TYPE mood ADD VALUE 'awful' BEFORE 'sad'");
    run("CALL feel('awful', 'fine')");
    run("CALL feel('happy', 'awful')");
    must_change(working, "ALTER TYPE mood RENAME VALUE 'ok' TO 'okay'");
    must_change(working, "DROP TYPE lost");
    run("UPDATE felt SET next = 'okay' WHERE m = 'sad'");
    run("INSERT INTO felt (m) VALUES ('fine')");
    must_change(working, "DROP PROCEDURE feel");
    calls(working, 3);
    left = digest_of(working.database(), 2);
  }
  expect_recovered(left, 10);
  Result<OpenedDatabase> opened = open_for_work(directory_, {}, {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  LiveSession session(opened->working, WorkerId{0}, 2);
  const StatementResult all = session.run("SELECT m, next FROM felt ORDER BY m");
  const std::vector<std::vector<std::string>> expected = {
      {"awful", "sad"}, {"sad", "okay"}, {"okay", "sad"}, {"fine", "okay"}, {"happy", "awful"}};
  ASSERT_EQ(all.rows.size(), expected.size()) << all.message;
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t c = 0; c < 2; ++c) EXPECT_EQ(all.rows[i][c], expected[i][c]) << i;
  }
}

// A column of arrays holds their texts, whether a call, a statement or a change of the schema made them.
TEST_P(SchemaChangeTest, EachSchemeFollowsColumnsOfArrays) {
  Digest left{};
  {
    WorkingDatabase working = create();
    LiveSession session(working, WorkerId{0}, 2);
    const auto run = [&](const std::string& text) {
      const StatementResult result = session.run(text);
      EXPECT_TRUE(result.ok()) << text << ": " << result.message;
    };
    must_change(working, "CREATE TYPE mood AS ENUM ('sad', 'ok')");
    must_change(working,
                "CREATE TABLE tagged (id INT PRIMARY KEY, tags TEXT[] NOT NULL DEFAULT '{}', moods mood[], "
                "sums NUMERIC(6,2)[])");
    must_change(
        working,
        "CREATE PROCEDURE tag(p_id INT, p_tags TEXT[], p_sums NUMERIC[]) LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO tagged (id, tags, sums) VALUES (p_id, p_tags, p_sums); "
        "UPDATE tagged SET tags = p_tags WHERE id = p_id - 1; END $$");
    run("CALL tag(1, '{a,NULL}', '{1.5,2}')");
    run("CALL tag(2, ARRAY['b c'], NULL)");
    run("INSERT INTO tagged (id, moods) VALUES (3, '{ok,sad}'), (4, NULL)");
    must_change(working, "ALTER TYPE mood ADD VALUE 'fine' BEFORE 'ok'");
    must_change(working, "ALTER TABLE tagged ADD COLUMN sizes SMALLINT[] DEFAULT '{1,2}'");
    run("UPDATE tagged SET moods = moods || 'fine'::mood, sizes[4] = 9 WHERE id = 3");
    run("DELETE FROM tagged WHERE 4 = id");
    must_change(working, "DROP PROCEDURE tag");
    calls(working, 3);
    left = digest_of(working.database(), 2);
  }
  expect_recovered(left, 6);
  Result<OpenedDatabase> opened = open_for_work(directory_, {}, {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  LiveSession session(opened->working, WorkerId{0}, 2);
  const StatementResult all = session.run("SELECT id, tags, moods, sums, sizes FROM tagged ORDER BY id");
  const std::vector<std::vector<std::optional<std::string>>> expected = {
      {"1", "{\"b c\"}", std::nullopt, "{1.50,2.00}", "{1,2}"},
      {"2", "{\"b c\"}", std::nullopt, std::nullopt, "{1,2}"},
      {"3", "{}", "{ok,sad,fine}", std::nullopt, "{1,2,NULL,9}"}};
  ASSERT_EQ(all.rows.size(), expected.size()) << all.message;
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t c = 0; c < expected[i].size(); ++c) EXPECT_EQ(all.rows[i][c], expected[i][c]) << i;
  }
}

TEST_P(SchemaChangeTest, EachSchemeFollowsObjectsOfSeveralSchemas) {
  Digest left{};
  uint64_t changes = 0;
  {
    WorkingDatabase working = create();
    const auto must = [&](const std::string& text) {
      must_change(working, text);
      ++changes;
    };
    for (const std::string schema : {"one", "two"}) {
      must("CREATE SCHEMA " + schema);
      must("CREATE TABLE " + schema + ".extra (id INT PRIMARY KEY, amount INT NOT NULL)");
      must("CREATE INDEX by_amount ON " + schema + ".extra (amount)");
      must("CREATE PROCEDURE " + schema +
           ".put_extra(p_id INT, p_amount INT) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM " + schema +
           ".extra WHERE id = p_id OR amount = p_amount; INSERT INTO " + schema +
           ".extra (id, amount) VALUES (p_id, p_amount); END $$");
    }
    calls(working, 1);
    must("ALTER TABLE one.extra ADD COLUMN more INT DEFAULT 5");
    must("DROP PROCEDURE two.put_extra");
    calls(working, 2);
    must("ALTER TABLE two.extra SET SCHEMA public");
    must("DROP SCHEMA two CASCADE");
    must("CREATE SCHEMA two");
    must("CREATE TABLE two.extra (id INT PRIMARY KEY)");
    must("DROP INDEX one.by_amount");
    calls(working, 3);
    left = digest_of(working.database(), 2);
  }
  expect_recovered(left, changes);
  Result<OpenedDatabase> opened = open_for_work(directory_, {}, {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const Catalog& catalog = opened->working.program().catalog;
  EXPECT_NE(catalog.find_table("extra"), nullptr);
  EXPECT_EQ(catalog.find_table(qualified_name("one", "extra"))->columns.size(), 3U);
  EXPECT_EQ(catalog.find_table(qualified_name("two", "extra"))->columns.size(), 1U);
  EXPECT_NE(catalog.find_index("by_amount"), nullptr);
  EXPECT_EQ(catalog.find_index(qualified_name("one", "by_amount")), nullptr);
}

TEST_P(SchemaChangeTest, WhatIsRefusedChangesNothing) {
  WorkingDatabase working = create();
  calls(working, 1);
  must_change(working, "CREATE TABLE extra (id INT PRIMARY KEY, amount INT NOT NULL)");
  must_change(working, kNewProcedure);
  const Program* program = &working.program();
  const Database* database = &working.database();
  const Lsn end = working.log().durable();
  const std::pair<const char*, const char*> refusals[] = {
      {"CREATE TABLE extra (id INT)", "42P07"},
      {"CREATE TABLE t (id NOTHING)", "42704"},
      {"CREATE INDEX extra ON extra (id)", "42P07"},
      {"CREATE INDEX i ON nothing (id)", "42P01"},
      {"CREATE UNIQUE INDEX i ON saving (s_balance)", "23505"},
      {"CREATE PROCEDURE put_extra(p INT) LANGUAGE plpgsql AS $$ BEGIN NULL; END $$", "42723"},
      {"CREATE OR REPLACE PROCEDURE put_extra(p INT) LANGUAGE plpgsql AS $$ BEGIN NULL; END $$", "42P13"},
      {"DROP TABLE extra", "2BP01"},
      {"DROP TABLE nothing", "42P01"},
      {"DROP INDEX extra_pkey", "2BP01"},
      {"DROP INDEX nothing", "42704"},
      {"DROP PROCEDURE nothing", "42883"},
  };
  for (const auto& [text, sqlstate] : refusals) {
    const StatementResult result = change(working, text);
    EXPECT_EQ(result.sqlstate, sqlstate) << text << ": " << result.message;
  }
  const StatementResult misplaced =
      change(working, "CREATE PROCEDURE q() LANGUAGE plpgsql AS $$\nBEGIN\n  DELETE FROM nothing;\nEND $$");
  EXPECT_THAT(misplaced.message, testing::StartsWith("line 3:"));
  EXPECT_EQ(&working.program(), program);
  EXPECT_EQ(&working.database(), database);
  EXPECT_EQ(working.log().durable(), end);
}

// So a change takes the time for what it makes, however much there is.
TEST_P(SchemaChangeTest, MakesOnlyWhatIsNew) {
  WorkingDatabase working = create();
  calls(working, 1);
  const Database& database = working.database();
  const auto objects = [&] {
    std::map<std::string, const void*> found;
    for (const TableDefinition& definition : database.catalog().tables()) {
      const IndexedTable& table = database.table(definition.id);
      found[definition.name] = &table.rows();
      for (const TableIndex& index : table.indexes()) {
        found[index.definition->name] = index.index.get();
        EXPECT_EQ(&database.index(index.id), &index);
        EXPECT_EQ(&database.catalog().index(index.id), index.definition);
      }
    }
    return found;
  };
  auto before = objects();
  const auto expect_made = [&](const std::string& text, const std::set<std::string>& names) {
    must_change(working, text);
    std::set<std::string> made;
    const auto now = objects();
    for (const auto& [name, object] : now) {
      const auto former = before.find(name);
      if (former == before.end() || former->second != object) made.insert(name);
    }
    EXPECT_EQ(made, names) << text;
    before = now;
    calls(working, static_cast<uint32_t>(text.size()));
  };
  expect_made("CREATE TABLE extra (id INT PRIMARY KEY, amount INT NOT NULL UNIQUE)",
              {"extra", "extra_pkey", "extra_amount_key"});
  expect_made("CREATE INDEX by_balance ON saving (s_balance)", {"by_balance"});
  expect_made("CREATE TABLE more (id INT PRIMARY KEY)", {"more", "more_pkey"});
  expect_made(kNewProcedure, {});
  expect_made("DROP INDEX by_balance", {});
  expect_made("DROP TABLE more", {});
  // A procedure that reads a range needs a tree.
  expect_made(
      "CREATE PROCEDURE drain(p INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE extra SET amount = 1 WHERE amount > "
      "p; END $$",
      {"extra_amount_key"});
}

// Tables, indexes, procedures and rows of them, in an order that chance gives.
TEST_P(SchemaChangeTest, HundredsOfChangesLeaveWhatIsMadeAtOnce) {
  std::mt19937 random(GetParam() == RecordContent::kCommand ? 3 : 5);
  Digest left{};
  uint64_t changes = 0;
  {
    WorkingDatabase working = create();
    LiveSession session(working, WorkerId{0}, 2);
    std::map<std::string, int> done;
    for (int step = 0; step < 2400; ++step) {
      const auto number = [&](const char* kind, uint32_t most) {
        return kind + std::to_string(random() % most);
      };
      const std::string table = number("t", 5), index = number("i", 6), name = number("p", 5),
                        id = number("", 40), other = number("t", 5), sequence = number("s", 3),
                        constraint = number("c", 4);
      const std::string texts[] = {
          "CREATE TABLE " + table +
              (random() % 3 == 0 ? " (id INT, v INT NOT NULL, w INT)"
                                 : " (id INT PRIMARY KEY, v INT NOT NULL, w INT)"),
          "CREATE INDEX " + index + " ON " + table + (random() % 2 == 0 ? " (v)" : " (w, v)"),
          "CREATE UNIQUE INDEX " + index + " ON " + table + (random() % 2 == 0 ? " (v, id)" : " (v)"),
          "CREATE OR REPLACE PROCEDURE " + name + "(a INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE " + table +
              (random() % 2 == 0 ? " SET v = v + 1 WHERE id = a" : " SET w = a WHERE v > a") + "; END $$",
          "CREATE TABLE " + table +
              " (id INT PRIMARY KEY, v INT NOT NULL CHECK (v < 900), w INT REFERENCES " + other +
              (random() % 2 == 0 ? " ON DELETE CASCADE)" : " ON DELETE SET NULL)"),
          "ALTER TABLE " + table + " ADD FOREIGN KEY (v) REFERENCES " + other + " (id)",
          "ALTER TABLE " + table + " ADD CHECK (w IS NULL OR w < 39)",
          "ALTER TABLE " + table + " ADD COLUMN added" +
              (random() % 2 == 0 ? " VARCHAR(9) NOT NULL DEFAULT 'new'" : " INT"),
          "ALTER TABLE " + table + " DROP COLUMN " + (random() % 4 == 0 ? "w" : "added"),
          "DROP TABLE " + table + (random() % 2 == 0 ? " CASCADE" : ""),
          "DROP INDEX " + index,
          "DROP PROCEDURE " + name,
          "TRUNCATE " + table + (random() % 2 == 0 ? " CASCADE" : ""),
          "ALTER TABLE " + table + " ADD PRIMARY KEY (id)",
          "ALTER TABLE " + table + " ADD CONSTRAINT " + constraint +
              (random() % 3 == 0   ? " PRIMARY KEY (id)"
               : random() % 3 == 0 ? " UNIQUE (id, v)"
               : random() % 2 == 0 ? " CHECK (v < 950)"
                                   : " FOREIGN KEY (v) REFERENCES " + other + " (id)"),
          "ALTER TABLE " + table + " DROP CONSTRAINT " +
              (random() % 3 == 0   ? table + "_pkey"
               : random() % 2 == 0 ? constraint
                                   : table + "_v_check") +
              (random() % 2 == 0 ? " CASCADE" : ""),
          "ALTER TABLE " + table + " ALTER COLUMN w " +
              (random() % 4 == 0   ? "TYPE BIGINT"
               : random() % 3 == 0 ? "TYPE VARCHAR(12)"
               : random() % 2 == 0 ? "SET DEFAULT 5"
                                   : "DROP DEFAULT"),
          "ALTER TABLE " + table + " ALTER COLUMN w TYPE INT USING w::INT",
          "ALTER TABLE " + table + " ALTER COLUMN added " + (random() % 2 == 0 ? "SET" : "DROP") +
              " NOT NULL",
          "ALTER TABLE " + table + " RENAME TO " + other,
          "ALTER TABLE " + table + " RENAME COLUMN " + (random() % 2 == 0 ? "w TO x" : "x TO w"),
          "ALTER TABLE " + table + " RENAME CONSTRAINT " +
              (random() % 2 == 0 ? constraint : table + "_pkey") + " TO " + number("c", 4),
          "ALTER INDEX " + index + " RENAME TO " + number("i", 6),
          "ALTER TABLE " + table + " DROP COLUMN added, ADD COLUMN more INT REFERENCES " + other + " (id)",
          "ALTER TABLE " + table + " DROP COLUMN more, ADD CHECK (v < 990)",
          "ALTER TABLE " + table + " DROP COLUMN w CASCADE",
          "CREATE SEQUENCE " + sequence + (random() % 2 == 0 ? " INCREMENT BY 3" : ""),
          "ALTER SEQUENCE " + sequence + " RESTART WITH " + id,
          "ALTER SEQUENCE " + sequence + " RENAME TO " + number("s", 3),
          "ALTER SEQUENCE " + sequence + " OWNED BY " + table + ".v",
          "DROP SEQUENCE " + sequence + (random() % 2 == 0 ? " CASCADE" : ""),
          "ALTER TABLE " + table + " ALTER COLUMN w SET DEFAULT nextval('" + sequence + "')",
          "CALL " + name + "(" + id + ")",
          "INSERT INTO " + table + " (id, v, w) VALUES (" + id + ", " + std::to_string(random() % 1000) +
              ", " + (random() % 2 == 0 ? "NULL" : id) + ") ON CONFLICT DO NOTHING",
          "INSERT INTO " + table + " (id, v) VALUES (" + id + ", 7) ON CONFLICT (id) DO UPDATE SET v = 8",
          "UPDATE " + table + " SET v = v + 3 WHERE id = " + id,
          "DELETE FROM " + table + " WHERE id = " + id,
      };
      constexpr size_t kStatements = 5;  // the last ones, which change rows
      const size_t changing = std::size(texts) - kStatements;
      const std::string& text = texts[step % 5 < 3 ? changing + random() % kStatements : random() % changing];
      const StatementResult result = session.run(text);
      if (!result.ok()) continue;
      ++done[result.tag.substr(0, result.tag.find(' ', 7))];
      if (parse_statement(text).command->changes_schema()) ++changes;
    }
    EXPECT_GT(changes, 100U);
    for (const char* kind : {"CREATE TABLE", "CREATE INDEX", "CREATE PROCEDURE", "DROP TABLE", "DROP INDEX",
                             "DROP PROCEDURE", "TRUNCATE", "CALL"}) {
      EXPECT_GT(done[kind], 0) << kind;
    }
    EXPECT_GT(done["ALTER TABLE"], 30);
    for (const char* kind : {"CREATE SEQUENCE", "ALTER SEQUENCE", "DROP SEQUENCE", "ALTER INDEX"})
      EXPECT_GT(done[kind], 0) << kind;
    EXPECT_TRUE(verify_indexes(working.database()).ok());
    left = digest_of(working.database(), 2);

    // The oracle: the schema compiled from its source, and the rows that are left.
    const auto program = compile(working.program().text(), "left.sql");
    ASSERT_TRUE(program.ok()) << program.error().message << "\n" << working.program().text();
    EXPECT_EQ((*program)->hash(), working.program().hash());
    Database at_once((*program)->catalog, 1);
    UnloggedWriter rows(at_once);
    for (const TableDefinition& definition : at_once.catalog().tables()) {
      const IndexedTable& table = working.database().table(definition.id);
      TableDefinition as_made = table.definition();
      as_made.times_emptied = definition.times_emptied;
      as_made.times_remade = definition.times_remade;
      EXPECT_EQ(as_made, definition);
      table.rows().for_each_live(0, table.rows().slot_end(), [&](const Row* row) {
        std::vector<Value> values;
        for (uint32_t c = 0; c < definition.columns.size(); ++c)
          values.push_back(table.layout().get(row->image(), ColumnId{c}));
        EXPECT_EQ(rows.insert(definition.id, values), AccessStatus::kOk);
      });
    }
    EXPECT_EQ(digest_of(at_once, 1), left);
  }
  expect_recovered(left, changes);
}

// Where a change comes after every few calls, their number counts, and not that of the procedures.
TEST_P(SchemaChangeTest, FewCallsBetweenChangesAreNotAnalysed) {
  Digest left{};
  {
    WorkingDatabase working = create();
    for (uint32_t i = 0; i < 30; ++i) {
      must_change(working, fmt::format("CREATE PROCEDURE p{}(a INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE "
                                       "saving SET s_balance = s_balance + a "
                                       "WHERE s_id = a; END $$",
                                       i));
      Session session(working.program(), working.database(), WorkerId{0});
      RandomCalls random(working.program(), i);
      for (int call = 0; call < 3; ++call) session.run(random.next());
    }
    left = digest_of(working.database(), 2);
  }
  expect_recovered(left, 30);
  RecoverOptions options;
  options.execution = Execution::kInterpreted;
  const Result<RecoveredDatabase> recovered = recover(directory_, options);
  ASSERT_TRUE(recovered.ok()) << recovered.error().message;
  EXPECT_EQ(recovered->report.analysis.count, recovered->report.scheme->cuts_calls ? 1U : 0U);
}

// Records that no change of a schema leaves, whatever their checksums say.
TEST(SchemaRecord, ThatChangesNothingIsRefused) {
  const auto program = std::move(*compile(kBankSql, "bank.sql"));
  const auto after = [&](std::string_view text) {
    return program_after(*program, {Lsn{64}, RecordKind::kSchema, as_bytes(text)});
  };
  EXPECT_TRUE(after("CREATE TABLE extra (id INT PRIMARY KEY)").ok());
  for (const char* text : {"", "nothing at all", "DELETE FROM saving"}) {
    test::expect_refused(after(text), ErrorKind::kDamaged,
                         "schema record at LSN 64 holds no change of the schema");
  }
  for (const char* text : {"DROP TABLE nothing", "CREATE TABLE saving (id INT PRIMARY KEY)"}) {
    test::expect_refused(after(text), ErrorKind::kDamaged,
                         "change of the schema at LSN 64 does not fit the catalog that it changes: ");
  }
}

// In a log that gathers until somebody waits.
TEST_P(SchemaChangeTest, IsDurableBeforeItIsSeen) {
  WorkingDatabase working = create({.interval = std::chrono::hours(1)});
  for (const char* text :
       {"CREATE TABLE one (id INT PRIMARY KEY)", "CREATE TABLE other (id INT PRIMARY KEY)"}) {
    const Lsn before = working.log().durable();
    must_change(working, text);
    EXPECT_GT(working.log().durable(), before) << text;
  }
}

TEST_P(SchemaChangeTest, ALaterCheckpointKeepsItsOwnCatalog) {
  Digest left{};
  {
    WorkingDatabase working = create();
    must_change(working, "CREATE TABLE extra (id INT PRIMARY KEY, amount INT NOT NULL)");
    must_change(working, kNewProcedure);
    calls(working, 1);
    OnlineCheckpointOptions options;
    options.keep_catalog = [&](Manifest& manifest) {
      return write_catalog(directory_, working.program(), manifest);
    };
    OnlineCheckpointer checkpointer(working.database(), working.log(), working.manifest(), WorkerId{1},
                                    options);
    const Result<TakenCheckpoint> taken = checkpointer.take();
    ASSERT_TRUE(taken.ok()) << taken.error().message;
    const Manifest manifest = working.manifest().current();
    EXPECT_NE(manifest.checkpoint_catalog_file, kCatalogFile);
    EXPECT_EQ(manifest.checkpoint_catalog_hash, working.program().hash());
    calls(working, 2);
    must_change(working, "CREATE INDEX extra_by_amount ON extra (amount)");
    calls(working, 3);
    left = digest_of(working.database(), 2);
  }
  expect_recovered(left, 1);
}

INSTANTIATE_TEST_SUITE_P(Contents, SchemaChangeTest,
                         testing::Values(RecordContent::kCommand, RecordContent::kLogical,
                                         RecordContent::kPhysical, RecordContent::kAll),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace mneme
