// Goal: parallel replay ends where serial replay ends, and both where the transactions ended. Method: random
// calls of small schemas run forward as transactions; the log that they leave is replayed from memory, and
// digests of all states are compared: for any number of threads, any size of batch, each level, by the
// interpreter and by machine code.
#include "procedures/interpreter/call_codec.h"
#include "recovery/calls/slice_units.h"
#include "recovery/log/log_batch.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

class Replay : public testing::TestWithParam<NamedSql> {};

TEST_P(Replay, SerialReplayEndsWhereTheTransactionsEnded) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    ReplayFixture fixture(GetParam().sql);
    const Digest forward = fixture.run_forward(2000, seed);
    ASSERT_GT(fixture.records().size(), 500u);
    EXPECT_EQ(fixture.replay_serially(), forward) << "seed " << seed;
  }
}

TEST_P(Replay, ParallelReplayEndsWhereSerialReplayEnds) {
  for (uint32_t seed = 0; seed < 2; ++seed) {
    ReplayFixture fixture(GetParam().sql);
    const Digest forward = fixture.run_forward(2500, seed);
    for (const uint32_t threads : {1, 2, 4, 8}) {
      for (const uint32_t batch : {1, 7, 1000}) {
        ReplayOptions options;
        options.threads = threads;
        options.batch_transactions = batch;
        EXPECT_EQ(fixture.replay_in_parallel(options), forward)
            << "seed " << seed << ", " << threads << " threads, batches of " << batch;
      }
    }
  }
}

TEST_P(Replay, EachLevelEndsInTheSameState) {
  ReplayFixture fixture(GetParam().sql);
  const Digest forward = fixture.run_forward(2000, 7);
  for (const ReplayLevel level : {ReplayLevel::kStatic, ReplayLevel::kSynchronous, ReplayLevel::kPipelined}) {
    ReplayOptions options;
    options.threads = 3;
    options.batch_transactions = 100;
    options.level = level;
    EXPECT_EQ(fixture.replay_in_parallel(options), forward) << "level " << static_cast<int>(level);
  }
}

// The parallel replay above would prove little if everything ran in one lane.
TEST_P(Replay, CallsAreCutIntoPieces) {
  ReplayFixture fixture(GetParam().sql);
  EXPECT_GT(fixture.graph().blocks.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Schemas, Replay,
                         testing::Values(NamedSql{"bank", kBankSql}, NamedSql{"orders", kOrdersSql}),
                         [](const auto& info) { return std::string(info.param.name); });

// A piece whose rows may lie in any lane has a place in one also where nothing else of it has: here the
// insert into note, where p_n is 0, of a slice that updates tally as well.
TEST(ParallelReplay, RunsPiecesThatReportNoLane) {
  ReplayFixture fixture(R"(
CREATE TABLE note (n_text INT);
CREATE TABLE tally (t_id INT NOT NULL, t_count INT NOT NULL, PRIMARY KEY (t_id));
CREATE PROCEDURE add(p_id INT) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tally (t_id, t_count) VALUES (p_id, 0);
END; $$;
CREATE PROCEDURE count_up(p_id INT, p_n INT) LANGUAGE plpgsql AS $$
DECLARE
    v_count INT;
BEGIN
    FOR v_i IN 1..p_n LOOP
        UPDATE tally SET t_count = t_count + 1 WHERE t_id = p_id RETURNING t_count INTO v_count;
        INSERT INTO note (n_text) VALUES (v_count);
    END LOOP;
    INSERT INTO note (n_text) VALUES (p_n);
END; $$;
)");
  const Digest forward = fixture.run_forward(300, 2);
  EXPECT_EQ(fixture.replay_serially(), forward);
  for (const uint32_t threads : {1, 3}) {
    ReplayOptions options;
    options.threads = threads;
    EXPECT_EQ(fixture.replay_in_parallel(options), forward) << threads << " threads";
  }
}

// What was replayed is then what stands before in commit order, and nothing else.
TEST(InterruptedReplay, OfCallsEndsBetweenTwoBatches) {
  ReplayFixture fixture(kBankSql);
  fixture.run_forward(1000, 3);
  const std::vector<RecordView> records = fixture.records();
  constexpr uint32_t kBatch = 50;
  ASSERT_GT(records.size(), 4 * kBatch);
  for (const uint64_t batches : {0, 1, 3}) {
    const std::span<const RecordView> first = std::span(records).first(batches * kBatch);
    const std::unique_ptr<Database> expected = fixture.before();
    ASSERT_TRUE(replay_serially(*expected, fixture.program(), first, {}).ok());
    ReplayOptions options;
    options.batch_transactions = kBatch;
    const auto expect_first = [&](const Database& database, const Result<ReplayStatistics>& statistics) {
      ASSERT_TRUE(statistics.ok()) << statistics.error().message;
      EXPECT_TRUE(statistics->is_partial);
      EXPECT_EQ(statistics->transactions, first.size());
      EXPECT_EQ(statistics->replayed_to, first.empty() ? std::nullopt : std::optional(first.back().lsn));
      EXPECT_EQ(state_of(database), state_of(*expected)) << batches << " batches";
    };
    options.is_interrupted = interrupted_after(batches);
    const std::unique_ptr<Database> serial = fixture.before();
    expect_first(*serial, replay_serially(*serial, fixture.program(), records, options));
    for (const uint32_t threads : {1, 3}) {
      options.threads = threads;
      options.is_interrupted = interrupted_after(batches);
      const std::unique_ptr<Database> parallel = fixture.before();
      expect_first(*parallel,
                   replay_in_parallel(*parallel, fixture.program(), fixture.graph(), records, options));
    }
  }
}

// It is not partial if nothing was left to be replayed.
TEST(InterruptedReplay, BehindTheLastBatchIsAWholeOne) {
  ReplayFixture fixture(kBankSql);
  const Digest forward = fixture.run_forward(200, 3);
  ReplayOptions options;
  options.batch_transactions = static_cast<uint32_t>(fixture.records().size());
  for (const bool is_parallel : {false, true}) {
    options.is_interrupted = interrupted_after(1);
    const std::unique_ptr<Database> database = fixture.before();
    const auto statistics =
        is_parallel
            ? replay_in_parallel(*database, fixture.program(), fixture.graph(), fixture.records(), options)
            : replay_serially(*database, fixture.program(), fixture.records(), options);
    ASSERT_TRUE(statistics.ok());
    EXPECT_FALSE(statistics->is_partial);
    EXPECT_EQ(digest_of(*database, 1), forward);
  }
}

// A record that is not what a transaction could have left: the same call twice, where the second must fail.
TEST(ReplayErrors, ACallThatRaisesStopsReplayWithItsLsn) {
  ReplayFixture fixture(kBankSql);
  fixture.run_forward(300, 1);
  const ir::Procedure& open = *fixture.program().find_procedure("open_account");
  Call call{open.id, {Argument::of(Value::of_int(7000)), Argument::of(Value::of_int(1))}};
  ByteBuffer payload;
  encode_call(fixture.program(), call, payload);
  const std::vector<std::byte> bytes(payload.span().begin(), payload.span().end());
  std::vector<RecordView> records = fixture.records();
  records.push_back({Lsn{1000001}, RecordKind::kCommand, bytes});
  records.push_back({Lsn{1000002}, RecordKind::kCommand, bytes});

  Database serial(fixture.program().catalog, 1);
  const auto by_one = replay_serially(serial, fixture.program(), records, {});
  ASSERT_FALSE(by_one.ok());
  EXPECT_EQ(by_one.error().kind, ErrorKind::kDamaged);
  EXPECT_NE(by_one.error().message.find("LSN 1000002"), std::string::npos) << by_one.error().message;

  ReplayOptions options;
  options.threads = 2;
  Database parallel(fixture.program().catalog, 1);
  const auto by_many = replay_in_parallel(parallel, fixture.program(), fixture.graph(), records, options);
  ASSERT_FALSE(by_many.ok());
  EXPECT_NE(by_many.error().message.find("LSN 1000002"), std::string::npos) << by_many.error().message;
}

TEST(ReplayErrors, ARecordThatHoldsNoCallIsRefusedWithItsLsn) {
  ReplayFixture fixture(kBankSql);
  fixture.run_forward(300, 1);
  std::vector<RecordView> records = fixture.records();
  const std::vector<std::byte> no_call(3, std::byte{0xff});
  records[40].kind = RecordKind::kCommand;
  records[40].payload = no_call;
  const std::string lsn = fmt::format("LSN {}", records[40].lsn.value);
  Database database(fixture.program().catalog, 1);
  ReplayOptions options;
  options.threads = 2;
  options.batch_transactions = 7;
  const auto replayed = replay_in_parallel(database, fixture.program(), fixture.graph(), records, options);
  ASSERT_FALSE(replayed.ok());
  EXPECT_EQ(replayed.error().kind, ErrorKind::kDamaged);
  EXPECT_NE(replayed.error().message.find(lsn), std::string::npos) << replayed.error().message;
}

// No block has its slices: its rows come as changes.
TEST(ReplayErrors, ACallThatIsLoggedByItsRowsIsRefused) {
  const auto program = *compile(
      "CREATE TABLE a (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));\nCREATE TABLE heap (id INT NOT "
      "NULL);\n"
      "CREATE INDEX heap_by_id ON heap (id);\n"
      "CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ DECLARE x INT; BEGIN SELECT id INTO x FROM heap WHERE id "
      "> 0 LIMIT 1;\n"
      "UPDATE a SET v = x WHERE id = 1; END $$;",
      "test.sql");
  ASSERT_TRUE(program->procedures[0].is_logged_by_rows());
  ByteBuffer call;
  encode_call(*program, {ProcedureId(0), {}}, call);
  const std::vector<RecordView> records = {{Lsn{64}, RecordKind::kCommand, call.span()}};
  const Schema schema(program->catalog);
  const ChangeCodec codec(schema);
  LogBatch batch;
  const Result<void> loaded = batch.load(*program, codec, records);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kDamaged);
}

TEST(SerialReplay, TellsEachCallsResults) {
  ReplayFixture fixture(kOrdersSql);
  fixture.run_forward(1000, 3);
  const ProcedureId place = fixture.program().find_procedure("place")->id;
  // Results of place() count up within a shop, since the shop was added once.
  std::vector<int64_t> next(8, 1);
  uint64_t placed = 0;
  Database database(fixture.program().catalog, 1);
  const auto replayed = replay_serially(
      database, fixture.program(), fixture.records(), {}, [&](const ReplayedCall& replayed_call) {
        if (replayed_call.call.procedure != place) return;
        ++placed;
        ASSERT_EQ(replayed_call.results.size(), 1u);
        EXPECT_EQ(replayed_call.results[0].scalar.as_int(),
                  next[static_cast<size_t>(replayed_call.call.arguments[0].scalar.as_int())]++);
      });
  ASSERT_TRUE(replayed.ok());
  EXPECT_GT(placed, 10u);
}

class NativeReplay : public testing::TestWithParam<NamedSql> {};

TEST_P(NativeReplay, EndsWhereTheTransactionsEnded) {
  ReplayFixture fixture(GetParam().sql);
  const Digest forward = fixture.run_forward(2500, 5);
  ASSERT_GT(fixture.records().size(), 500u);

  const CompiledUnits procedures = machine_code_of(fixture.program(), procedure_units(fixture.program()));
  ReplayOptions serial;
  serial.native = procedures.functions();
  EXPECT_EQ(fixture.replay_serially(serial), forward);

  const SliceUnits units(fixture.graph());
  const CompiledUnits slices = machine_code_of(fixture.program(), units.units());
  for (const uint32_t threads : {1, 2, 4}) {
    for (const uint32_t batch : {1, 7, 1000}) {
      ReplayOptions parallel;
      parallel.threads = threads;
      parallel.batch_transactions = batch;
      parallel.native = slices.functions();
      EXPECT_EQ(fixture.replay_in_parallel(parallel), forward) << threads << " threads, batches of " << batch;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, NativeReplay,
                         testing::Values(NamedSql{"bank", kBankSql}, NamedSql{"orders", kOrdersSql}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace mneme
