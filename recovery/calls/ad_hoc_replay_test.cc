// Goal: a log in which ad-hoc transactions stand among calls ends, replayed, where the transactions ended.
// Method: random calls, a share of which is logged by rows, and random statements that know no procedures run
// forward; the log is replayed by CLR, CLR-P, LLR and LLR-P from memory, and digests are compared. A schema
// in which a table is read and never written shows that what the graph does not order is a barrier; a log of
// single columns, that nothing else is written.
#include "analyzer/change_owners.h"
#include "analyzer/testing/random_procedures.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

// Procedures read rate, and none writes it: the graph lets them read it whenever they like.
constexpr std::string_view kRatesSql = R"(
CREATE TABLE rate (r_id INT NOT NULL, r_percent INT, r_note VARCHAR(20), PRIMARY KEY (r_id));
CREATE TABLE account (a_id INT NOT NULL, a_owner INT NOT NULL, a_balance INT NOT NULL, PRIMARY KEY (a_id),
                      UNIQUE (a_owner));
CREATE TABLE audit (u_id INT NOT NULL, u_sum INT NOT NULL, PRIMARY KEY (u_id));

CREATE PROCEDURE open_account(p_id INT, p_owner INT) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account (a_id, a_owner, a_balance) VALUES (p_id, p_owner, 100);
END; $$;

CREATE PROCEDURE close_account(p_owner INT) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM account WHERE a_owner = p_owner;
END; $$;

CREATE PROCEDURE pay_interest(p_id INT, p_rate INT) LANGUAGE plpgsql AS $$
DECLARE
    v_percent INT;
BEGIN
    SELECT r_percent INTO v_percent FROM rate WHERE r_id = p_rate;
    IF v_percent IS NOT NULL THEN
        UPDATE account SET a_balance = (a_balance * (100 + v_percent) / 100) % 10000 WHERE a_id = p_id;
    END IF;
END; $$;

CREATE PROCEDURE audit_rate(p_id INT, p_rate INT) LANGUAGE plpgsql AS $$
DECLARE
    v_percent INT;
BEGIN
    SELECT r_percent INTO v_percent FROM rate WHERE r_id = p_rate;
    IF NOT FOUND THEN
        v_percent := -1;
    END IF;
    UPDATE audit SET u_sum = (u_sum * 3 + coalesce(v_percent, 7)) % 100000 WHERE u_id = p_id;
    IF NOT FOUND THEN
        INSERT INTO audit (u_id, u_sum) VALUES (p_id, 0);
    END IF;
END; $$;
)";

// Queries of forms that the analysis does not follow: their procedures are logged by rows, among calls of the
// others.
constexpr std::string_view kQueriesSql = R"(
CREATE TABLE account (a_id INT NOT NULL, a_branch INT NOT NULL, a_balance INT NOT NULL, PRIMARY KEY (a_id));
CREATE TABLE branch (b_id INT NOT NULL, b_sum INT NOT NULL, PRIMARY KEY (b_id));

CREATE PROCEDURE open_account(p_id INT, p_branch INT) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account (a_id, a_branch, a_balance) VALUES (p_id, p_branch, 100);
END; $$;

CREATE PROCEDURE pay(p_id INT, p_amount INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE account SET a_balance = (a_balance * 3 + p_amount) % 10007 WHERE a_id = p_id;
END; $$;

CREATE PROCEDURE sum_up(p_branch INT) LANGUAGE plpgsql AS $$
DECLARE
    v_sum INT;
BEGIN
    SELECT coalesce(sum(q.x), 0) % 10007 INTO v_sum
    FROM (SELECT a_balance AS x FROM account WHERE a_branch = p_branch UNION ALL SELECT b_sum FROM branch) q;
    UPDATE branch SET b_sum = v_sum WHERE b_id = p_branch;
    IF NOT FOUND THEN
        INSERT INTO branch (b_id, b_sum) VALUES (p_branch, v_sum);
    END IF;
END; $$;

CREATE PROCEDURE share_out(p_branch INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE account a SET a_balance = (a.a_balance + b.b_sum) % 10007 FROM branch b
    WHERE b.b_id = a.a_branch AND b.b_id <> p_branch;
END; $$;
)";

// Calls that draw numbers are logged by rows, those of the sequence among them.
constexpr std::string_view kDrawsSql = R"(
CREATE SEQUENCE ids;
CREATE SEQUENCE rounds INCREMENT BY 3;
CREATE TABLE entry (e_id INT NOT NULL DEFAULT nextval('ids'), e_what INT NOT NULL, e_sum INT NOT NULL DEFAULT 0,
                    PRIMARY KEY (e_id));
CREATE TABLE total (t_id INT NOT NULL, t_sum BIGINT NOT NULL, PRIMARY KEY (t_id));

CREATE PROCEDURE note(p_what INT) LANGUAGE plpgsql AS $$
DECLARE
    v_id INT;
BEGIN
    INSERT INTO entry (e_what) VALUES (p_what) RETURNING e_id INTO v_id;
    UPDATE total SET t_sum = (t_sum + v_id) % 100003 WHERE t_id = p_what;
    IF NOT FOUND THEN
        INSERT INTO total (t_id, t_sum) VALUES (p_what, nextval('rounds'));
    END IF;
END; $$;

CREATE PROCEDURE add_up(p_id INT, p_amount INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE entry SET e_sum = (e_sum * 3 + p_amount) % 10007 WHERE e_id = p_id;
    UPDATE total SET t_sum = (t_sum * 2 + p_amount) % 100003 WHERE t_id = p_amount;
END; $$;
)";

using AdHoc = ReplayFixture::AdHoc;

void expect_equal_by_calls(ReplayFixture& fixture, const Digest& forward) {
  EXPECT_EQ(fixture.replay_serially(), forward);
  for (const uint32_t threads : {1, 2, 4}) {
    for (const uint32_t batch : {1, 7, 1000}) {
      for (const ReplayLevel level :
           {ReplayLevel::kStatic, ReplayLevel::kSynchronous, ReplayLevel::kPipelined}) {
        ReplayOptions options;
        options.threads = threads;
        options.batch_transactions = batch;
        options.level = level;
        EXPECT_EQ(fixture.replay_in_parallel(options), forward)
            << threads << " threads, batches of " << batch << ", level " << static_cast<int>(level);
      }
    }
  }
}

void expect_equal_by_rows(ReplayFixture& fixture, const Digest& forward, TupleImage image) {
  for (const uint32_t threads : {1, 4}) {
    ReplayOptions options;
    options.threads = threads;
    options.batch_transactions = 7;
    options.order = ReplayOrder::kForward;
    EXPECT_EQ(fixture.replay_rows(replay_shuffled, options), forward);
    if (image == TupleImage::kChanged) continue;
    EXPECT_EQ(fixture.replay_rows(replay_unordered, options), forward);
    options.order = ReplayOrder::kReverse;
    EXPECT_EQ(fixture.replay_rows(replay_shuffled, options), forward);
  }
}

struct Case {
  std::string_view name;
  std::string_view sql;
};

class AdHocReplay : public testing::TestWithParam<Case> {};

TEST_P(AdHocReplay, CallsThatAreLoggedByTheirRowsEndInTheSameState) {
  for (const uint32_t percent : {10, 50, 100}) {
    for (const TupleImage image : {TupleImage::kFull, TupleImage::kChanged}) {
      ReplayFixture fixture(GetParam().sql);
      const Digest forward = fixture.run_forward(600, percent, {percent, 0, image});
      expect_equal_by_calls(fixture, forward);
      expect_equal_by_rows(fixture, forward, image);
    }
  }
}

TEST_P(AdHocReplay, StatementsThatKnowNoProceduresEndInTheSameState) {
  for (const TupleImage image : {TupleImage::kFull, TupleImage::kChanged}) {
    ReplayFixture fixture(GetParam().sql);
    const Digest forward = fixture.run_forward(800, 3, {10, 40, image});
    expect_equal_by_calls(fixture, forward);
    expect_equal_by_rows(fixture, forward, image);
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, AdHocReplay,
                         testing::Values(Case{"bank", kBankSql}, Case{"orders", kOrdersSql},
                                         Case{"rates", kRatesSql}, Case{"queries", kQueriesSql},
                                         Case{"draws", kDrawsSql}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AdHocReplayOfRandomProcedures, EndsInTheSameState) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    ReplayFixture fixture(RandomProcedures(seed).program(6));
    const TupleImage image = seed % 2 == 0 ? TupleImage::kFull : TupleImage::kChanged;
    const Digest forward = fixture.run_forward(300, seed, {20, 30, image});
    EXPECT_EQ(fixture.replay_serially(), forward) << "seed " << seed;
    for (const uint32_t batch : {1, 7, 1000}) {
      ReplayOptions options;
      options.threads = 4;
      options.batch_transactions = batch;
      EXPECT_EQ(fixture.replay_in_parallel(options), forward) << "seed " << seed << ", batches of " << batch;
    }
  }
}

// Ownership: a table that procedures write is its block's; one that they read alone holds still; what of it
// nobody reads is free.
TEST(ChangeOwnersTest, WhatTheGraphDoesNotOrderIsABarrier) {
  ReplayFixture fixture(kRatesSql);
  const Catalog& catalog = fixture.program().catalog;
  const ChangeOwners owners(fixture.graph(), catalog);
  const auto table = [&](std::string_view name) { return catalog.find_table(name)->id; };
  const auto column = [&](std::string_view of, std::string_view name) {
    return owners.column(table(of), *catalog.table(table(of)).find_column(name));
  };
  EXPECT_EQ(owners.existence(table("account")).kind(), Owner::Kind::kBlock);
  EXPECT_EQ(column("account", "a_balance"), owners.existence(table("account")));
  EXPECT_NE(owners.existence(table("account")), owners.existence(table("audit")));
  EXPECT_EQ(owners.existence(table("rate")), Owner::barrier());
  EXPECT_EQ(column("rate", "r_percent"), Owner::barrier());
  EXPECT_EQ(column("rate", "r_note"), Owner::nobody());
}

// Rows of rate, which no procedure writes, may be found in any way as long as no statement writes them.
TEST(AdHocReplayOfConstantTables, EndsInTheSameState) {
  for (const uint32_t percent_of_statements : {0, 40}) {
    ReplayFixture fixture(kRatesSql, 12);
    const Digest forward = fixture.run_forward(800, 3, {0, percent_of_statements});
    ASSERT_GT(fixture.records().size(), 200u);
    expect_equal_by_calls(fixture, forward);
  }
}

// Calls alone, logged by their rows, touch what the graph orders: no barrier. Statements on rate make some.
TEST(AdHocReplayBarriers, StandWhereStatementsChangeWhatProceduresOnlyRead) {
  for (const uint32_t percent : {0, 30}) {
    ReplayFixture fixture(kRatesSql);
    fixture.run_forward(500, 5, {50, percent, TupleImage::kFull});
    Database database(fixture.program().catalog, 1);
    ReplayOptions options;
    options.threads = 2;
    const auto replayed =
        replay_in_parallel(database, fixture.program(), fixture.graph(), fixture.records(), options);
    ASSERT_TRUE(replayed.ok());
    EXPECT_GT(replayed->ad_hoc, 50u);
    EXPECT_EQ(replayed->barriers > 0, percent > 0);
  }
}

// Rows of a table of which the graph holds the columns still may get other values where no piece looks, in
// the lanes.
TEST(AdHocReplayBarriers, DoNotStandWhereNobodyReads) {
  ReplayFixture fixture(kRatesSql);
  const Catalog& catalog = fixture.program().catalog;
  const TableId rate = catalog.find_table("rate")->id;
  KeptLog log;
  Database database(catalog, 1);
  database.attach_log(log, RecordContent::kCommand);
  Transaction transaction(database, database.worker(WorkerId{0}));
  std::vector<Value> values{Value::of_int(1), Value::of_int(5), Value::of_text("first")};
  transaction.begin();
  ASSERT_EQ(transaction.insert(rate, values), AccessStatus::kOk);
  ASSERT_EQ(transaction.commit_ad_hoc().status, CommitStatus::kCommitted);
  for (const std::string_view note : {"second", "third"}) {
    transaction.begin();
    RowRef row;
    const IndexId key = *catalog.table(rate).primary_key;
    ASSERT_EQ(transaction.find(key, *database.schema().codec(key).of_whole({values.data(), 1}), row),
              AccessStatus::kOk);
    const ColumnValue change{ColumnId{2}, Value::of_text(note)};
    ASSERT_EQ(transaction.update(rate, row, {&change, 1}), AccessStatus::kOk);
    ASSERT_EQ(transaction.commit_ad_hoc().status, CommitStatus::kCommitted);
  }
  Database replayed(catalog, 1);
  const auto statistics = replay_in_parallel(replayed, fixture.program(), fixture.graph(), log.records(), {});
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->barriers, 1u) << "the insert";
  EXPECT_EQ(state_of(replayed), state_of(database));
}

TEST(AdHocReplayErrors, ARowThatIsNotThereStopsReplayWithItsLsn) {
  ReplayFixture fixture(kBankSql);
  fixture.run_forward(300, 1, {100, 0, TupleImage::kFull});
  const std::vector<RecordView> records = fixture.records();
  // Without its first records the log changes rows that were never inserted.
  const std::span<const RecordView> rest = std::span(records).subspan(30);
  Database serial(fixture.program().catalog, 1);
  const auto by_one = replay_serially(serial, fixture.program(), rest, {});
  ASSERT_FALSE(by_one.ok());
  EXPECT_EQ(by_one.error().kind, ErrorKind::kDamaged);
  EXPECT_NE(by_one.error().message.find("to be changed is not there"), std::string::npos)
      << by_one.error().message;
  ReplayOptions options;
  options.threads = 2;
  Database parallel(fixture.program().catalog, 1);
  const auto by_many = replay_in_parallel(parallel, fixture.program(), fixture.graph(), rest, options);
  ASSERT_FALSE(by_many.ok());
  EXPECT_NE(by_many.error().message.find("to be changed is not there"), std::string::npos)
      << by_many.error().message;
}

}  // namespace
}  // namespace mneme
