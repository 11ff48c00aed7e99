// Goal: recovery builds indexes that replay does not read when replay has ended, and all are whole then.
// Method: a directory of sales whose one secondary index no logged call reads is recovered; so is one in
// which a call reads it, and one whose log changes the schema between calls. Indexes are walked against
// their rows.
#include "recovery/database/late_indexes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "recovery/database/schema_change.h"
#include "recovery/testing/directory_fixture.h"

namespace mneme {
namespace {

constexpr std::string_view kSalesSql = R"(
CREATE TABLE sale (s_id INT NOT NULL, s_item INT NOT NULL, s_amount INT NOT NULL, PRIMARY KEY (s_id));
CREATE INDEX sale_by_item ON sale (s_item);

CREATE PROCEDURE sell(p_id INT, p_item INT) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO sale (s_id, s_item, s_amount) VALUES (p_id, p_item, 1);
END; $$;
CREATE PROCEDURE take_back(p_id INT) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sale WHERE s_id = p_id;
END; $$;
CREATE PROCEDURE exchange(p_id INT, p_item INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sale SET s_item = p_item WHERE s_id = p_id;
END; $$;
CREATE PROCEDURE sales(p_item INT, INOUT r_count INT) LANGUAGE plpgsql AS $$
BEGIN
    SELECT count(*) INTO r_count FROM sale WHERE s_item = p_item;
END; $$;
)";

constexpr std::string_view kCountSql = R"(
CREATE PROCEDURE count_sales(p_id INT, p_item INT) LANGUAGE plpgsql AS $$
DECLARE
    v_count INT;
BEGIN
    SELECT count(*) INTO v_count FROM sale WHERE s_item = p_item;
    UPDATE sale SET s_amount = v_count WHERE s_id = p_id;
END; $$;
)";

class LateIndexesOfDirectory : public DirectoryFixture {
 protected:
  static constexpr uint32_t kRows = 100;

  Digest create_and_run(const std::string& sql) {
    auto program = compile(sql, "sales.sql");
    EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message);
    const auto load_sales = [](Database& database) -> Result<void> {
      UnloggedWriter rows(database);
      for (uint32_t i = 100; i < 100 + kRows; ++i) {
        const std::array sale = {Value::of_int(i), Value::of_int(i % 7), Value::of_int(0)};
        EXPECT_EQ(rows.insert(TableId{0}, sale), AccessStatus::kOk);
      }
      return {};
    };
    Result<CreatedDatabase> created = create_database(directory_, std::move(*program), load_sales, {});
    EXPECT_TRUE(created.ok()) << (created.ok() ? "" : created.error().message);
    return run(created->working, 600, 1);
  }
  void expect_whole(const Digest& digest) {
    for (const char* const scheme : {"clr", "clr-p"}) {
      for (const uint32_t threads : {1, 2}) {
        const Result<RecoveredDatabase> recovered = recover(directory_, options(scheme, threads));
        ASSERT_TRUE(recovered.ok()) << recovered.error().message;
        EXPECT_EQ(state_of(*recovered->database), digest) << scheme << ", " << threads << " threads";
      }
    }
  }
  // How often a recovery built indexes: after the checkpoint, and again before or behind replay.
  int64_t builds_of(const RecoverOptions& options) {
    const Result<RecoveredDatabase> recovered = recover(directory_, options);
    EXPECT_TRUE(recovered.ok()) << (recovered.ok() ? "" : recovered.error().message);
    return std::ranges::count(recovered->report.stages, std::string_view("index build"), &StageTime::name);
  }
};

TEST_F(LateIndexesOfDirectory, AreWholeOnceReplayHasEnded) {
  expect_whole(create_and_run(std::string(kSalesSql)));
  EXPECT_EQ(builds_of(options("clr-p", 1)), 2);
  EXPECT_EQ(builds_of(options("clr", 1)), 1) << "it runs whole procedures, and what they read";
}

TEST_F(LateIndexesOfDirectory, AreNoneThatALoggedCallReads) {
  expect_whole(create_and_run(std::string(kSalesSql) + std::string(kCountSql)));
  EXPECT_EQ(builds_of(options("clr-p", 1)), 1);
}

// The primary key is part of the other index, whose entries calls change.
TEST_F(LateIndexesOfDirectory, AreUniqueOnesThatRefuseNoRow) {
  expect_whole(create_and_run(std::string(kSalesSql) + std::string(kCountSql) +
                              "CREATE UNIQUE INDEX sale_by_amount ON sale (s_amount, s_id);\n"));
  EXPECT_EQ(builds_of(options("clr-p", 1)), 2);
}

// The new procedure's calls read the index, and follow the old ones in one log.
TEST_F(LateIndexesOfDirectory, AreBuiltBeforeReplayWhereTheLogChangesTheSchema) {
  create_and_run(std::string(kSalesSql));
  Digest digest;
  {
    Result<OpenedDatabase> opened = open_for_work(directory_, options("clr-p", 1), {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const std::string text(kCountSql.substr(1));
    const ParsedStatement parsed = parse_statement(text);
    ASSERT_TRUE(parsed.command) << parsed.failure.message;
    const StatementResult changed = change_schema(opened->working, *parsed.command, text, 1);
    ASSERT_TRUE(changed.ok()) << changed.message;
    digest = run(opened->working, 600, 2);
  }
  expect_whole(digest);
}

}  // namespace
}  // namespace mneme
