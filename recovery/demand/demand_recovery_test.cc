// Goal: transactions that run while a log is replayed on demand see, and leave, what they would after all of
// the replay. Method: programs made at random run random calls once, with ad-hoc transactions beside them.
// Their log is opened on demand, and other random calls, and statements, run at once, with one or two threads
// that replay the rest, for which the worker waits at all rows, at those that take more than a little, or at
// none. Where the log holds calls alone, the checkpoint of the rows before is opened, too, with a row, a few
// rows or all rows of a table in a chunk. What they log is replayed serially behind the first log: the
// database that this gives, and the one in which they ran, must be equal. A transaction that saw a row too
// early, or that a piece saw, would have done something else than its replay does.
//
// The first seed is printed; MNEME_SEED=n runs that one alone.
#include "recovery/demand/demand_recovery.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/testing/test_directory.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/table/row_wait.h"
#include "recovery/database/unloaded_checkpoint.h"
#include "recovery/testing/random_programs.h"

namespace mneme {
namespace {

#ifdef NDEBUG
constexpr uint64_t kOpenings = 200;
#else
constexpr uint64_t kOpenings = 24;  // a sanitizer makes each take many times as long
#endif
constexpr uint64_t kOpeningShards = 4;
constexpr uint32_t kOpeningRows = 12;
constexpr uint32_t kLoggedCalls = 60;
constexpr uint32_t kNewCalls = 40;
constexpr uint32_t kMostTries = 10'000;

// What `fixture` was before anything ran, as a checkpoint that has yet to be loaded.
std::unique_ptr<UnloadedBase> base_of(Database& database, const ReplayFixture& fixture,
                                      const std::string& directory, uint64_t seed) {
  constexpr size_t kChunkBytes[] = {1, 40, kCheckpointChunkBytes};
  const Result<WrittenCheckpoint> written =
      write_checkpoint(*fixture.before(), directory, CheckpointIdentity{}, 1, kChunkBytes[seed / 6 % 3]);
  EXPECT_TRUE(written.ok());
  Manifest manifest;
  manifest.checkpoint_file = written->file;
  manifest.checkpoint_lsn = kCheckpointLsn;
  auto opened = UnloadedCheckpoint::open(database, directory, manifest);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return *std::move(opened);
}

std::unique_ptr<DemandRecovery> recovery_of(Database& database, const ReplayFixture& fixture,
                                            std::span<const RecordView> records, uint64_t seed, bool bulk,
                                            std::unique_ptr<UnloadedBase> base = nullptr) {
  static const NativeFolders folders;
  AnalysisOptions analysis;
  analysis.conflicts = seed % 3 == 0 ? ConflictGrain::kTable : ConflictGrain::kColumn;
  analysis.elide.increments = seed % 2 == 0;
  analysis.lanes_from_arguments = true;
  const auto threads = static_cast<uint32_t>(1 + seed / 2 % 2);
  ReplayOptions options;
  options.threads = 1 + threads;
  constexpr uint32_t kBatches[] = {1, 4, 17, 1000};
  constexpr uint32_t kLanes[] = {1, 4, 64};
  options.batch_transactions = kBatches[seed / 4 % 4];
  options.lanes_per_block = kLanes[seed / 16 % 3];
  auto opener = std::make_unique<DemandOpener>(
      DemandOpener::Setting{
          .database = database, .program = fixture.program(), .analysis = analysis, .options = options},
      records);
  std::unique_ptr<BulkReplay> before;
  if (bulk) {
    RecoveryReport unused;
    ReplayOptions in_bulk;
    in_bulk.threads = threads;
    in_bulk.batch_transactions = options.batch_transactions;
    in_bulk.lanes_per_block = options.lanes_per_block;
    before = std::make_unique<BulkReplay>(ReplayerSetting{.database = database,
                                                          .program = fixture.program(),
                                                          .options = in_bulk,
                                                          .tables_from = {},
                                                          .folders = folders,
                                                          .log_records = records.size(),
                                                          .report = unused},
                                          records);
  }
  constexpr uint64_t kPiecesOfWorker[] = {0, 3, DemandRecovery::kMostPiecesOfWorker};
  return std::make_unique<DemandRecovery>(
      database, std::move(before), std::move(opener),
      DemandRecovery::Setting{.workers = 1,
                              .threads = threads,
                              .most_pieces_of_worker = kPiecesOfWorker[seed % 3],
                              .most_bulk_seconds = seed / 64 % 2 == 0 ? 0.0 : 1.0},
      std::move(base));
}

// Runs calls and statements on the database's one worker. Returns how many committed.
uint64_t run_calls(Database& database, const Program& program, uint64_t seed) {
  std::mt19937 random(seed + 5000);
  RandomStatements statements(database, static_cast<uint32_t>(seed + 6000));
  RandomCalls calls(program, static_cast<uint32_t>(seed + 7000));
  Interpreter interpreter(database.schema());
  Transaction transaction(database, database.worker(WorkerId{0}));
  uint64_t committed = 0;
  for (uint32_t i = 0; i < kNewCalls; ++i) {
    if (random() % 4 == 0) {
      transaction.begin();
      if (statements.run(transaction) != AccessStatus::kOk)
        transaction.abort();
      else
        committed += transaction.commit_ad_hoc().status == CommitStatus::kCommitted ? 1 : 0;
      continue;
    }
    const Call& call = calls.next();
    const ir::Procedure& procedure = program.procedure(call.procedure);
    ByteBuffer payload;
    encode_call(program, call, payload);
    // Replay changes index nodes under it.
    for (uint32_t tries = 0;; ++tries) {
      EXPECT_LT(tries, kMostTries);
      if (tries == kMostTries) return committed;
      transaction.begin();
      const Outcome outcome = interpreter.run(RunRequest::of(procedure, call.arguments, transaction));
      if (!outcome.completed()) {
        transaction.abort();
        if (outcome.kind == Outcome::Kind::kConflict) continue;
        EXPECT_EQ(outcome.kind, Outcome::Kind::kRaised) << outcome.message;
        break;
      }
      const CommitOutcome ended =
          procedure.is_logged_by_rows() ? transaction.commit_ad_hoc() : transaction.commit(payload.span());
      if (ended.status == CommitStatus::kConflict) continue;
      committed += ended.status == CommitStatus::kCommitted ? 1 : 0;
      break;
    }
  }
  return committed;
}

struct OpeningTotals {
  uint64_t committed = 0;
  uint64_t waits = 0;
  uint64_t chunks = 0;
  uint64_t wanted = 0;
};

void expect_equal_to_recovered_first(uint64_t seed, OpeningTotals& totals) {
  const std::string sql = random_program(seed);
  SCOPED_TRACE(testing::Message() << "MNEME_SEED=" << seed << "\n" << sql);
  ReplayFixture fixture(sql, kOpeningRows, PageSize::kSmall);
  ReplayFixture::AdHoc ad_hoc = ad_hoc_of(seed);
  if (seed / 3 % 2 == 0) ad_hoc.percent = ad_hoc.percent_of_calls = 0;
  (void)fixture.run_forward(kLoggedCalls, static_cast<uint32_t>(seed), ad_hoc);
  const std::vector<RecordView> records = fixture.records();
  const std::unique_ptr<Database> recovered = fixture.replayed();

  const test::TemporaryDirectory directory;
  std::unique_ptr<Database> database;
  std::unique_ptr<UnloadedBase> base;
  if (std::ranges::all_of(records, [](const RecordView& record) {
        return call_of(record.kind, record.payload).has_value();
      })) {
    database = std::make_unique<Database>(fixture.program().catalog, 1, PageSize::kSmall);
    base = base_of(*database, fixture, directory.path(), seed);
  } else {
    database = fixture.before();
  }
  KeptLog log;
  database->attach_log(log, RecordContent::kCommand);
  const bool bulk = seed % 4 != 0;
  const std::unique_ptr<DemandRecovery> rest =
      recovery_of(*database, fixture, records, seed, bulk, std::move(base));
  rest->start();
  totals.committed += run_calls(*database, fixture.program(), seed);
  const Result<void> finished = rest->finish();
  ASSERT_TRUE(finished.ok()) << finished.error().message;
  EXPECT_TRUE(rest->is_settled());
  EXPECT_EQ(database->gate(), nullptr);
  EXPECT_EQ(database->unloaded(), nullptr);
  totals.waits += rest->report().waits;
  totals.chunks += rest->report().base_chunks;
  totals.wanted += rest->report().base_wanted;

  const auto replayed = replay_serially(*recovered, fixture.program(), log.records(), {});
  ASSERT_TRUE(replayed.ok()) << replayed.error().message;
  EXPECT_EQ(state_of(*database), state_of(*recovered));
}

// The log says that the same key comes twice, as no log does: nobody is told that all is well.
TEST(DemandRecovery, ALogThatDoesNotFitTheRowsFailsAllThatAsk) {
  ReplayFixture fixture(R"(
      CREATE TABLE t (a int PRIMARY KEY);
      CREATE PROCEDURE put(x int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (x); END; $$;)");
  const Value one = Value::of_int(1);
  const Argument argument = Argument::of(one);
  Call call;
  call.procedure = ProcedureId{0};
  call.arguments.assign(1, argument);
  ByteBuffer payload;
  encode_call(fixture.program(), call, payload);
  KeptLog twice;
  for (int i = 0; i < 2; ++i) {
    const auto bytes = static_cast<uint32_t>(payload.span().size());
    twice.fill(WorkerId{0}, twice.reserve(WorkerId{0}, bytes), RecordKind::kCommand, payload.span());
  }
  const std::vector<RecordView> records = twice.records();
  const std::unique_ptr<Database> database = fixture.before();
  KeptLog log;
  database->attach_log(log, RecordContent::kCommand);
  const std::unique_ptr<DemandRecovery> rest = recovery_of(*database, fixture, records, 0, false);
  rest->start();
  const Result<void> finished = rest->finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_TRUE(rest->has_failed());
  EXPECT_FALSE(rest->is_settled());
  Transaction transaction(*database, database->worker(WorkerId{0}));
  transaction.begin();
  EXPECT_EQ(transaction.insert(TableId{0}, {&one, 1}), AccessStatus::kConflict);
}

// No thread replays, so that the row would never be settled.
TEST(DemandRecovery, AWaitEndsWhenItsStatementIsAskedToEnd) {
  ReplayFixture fixture(R"(
      CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL);
      CREATE PROCEDURE add(x int) LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET b = b + x; END; $$;)",
                        kOpeningRows);
  (void)fixture.run_forward(kLoggedCalls, 1);
  const std::vector<RecordView> records = fixture.records();
  ASSERT_FALSE(records.empty());
  const std::unique_ptr<Database> database = fixture.before();
  const std::unique_ptr<DemandRecovery> rest = recovery_of(*database, fixture, records, 0, false);
  ASSERT_TRUE(rest->open(0).ok());
  uint32_t looks = 0;
  const auto is_asked = [&looks] { return ++looks == 3; };
  const RowWait wait(is_asked, 0);
  EXPECT_FALSE(rest->before_move(WorkerId{0}, TableId{0}));
  EXPECT_EQ(looks, 3U);
  EXPECT_TRUE(RowWait::has_ended());
}

class RandomOpening : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomOpening, TransactionsRunAsIfAllWereRecoveredFirst) {
  const char* const given = std::getenv("MNEME_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  const uint64_t programs = given != nullptr ? 1 : kOpenings / kOpeningShards;
  fmt::print("MNEME_SEED={} and the {} that follow\n", first, programs - 1);
  std::fflush(stdout);
  OpeningTotals totals;
  for (uint64_t seed = first; seed < first + programs && !HasFailure(); ++seed)
    expect_equal_to_recovered_first(seed, totals);
  if (given != nullptr) return;
  EXPECT_GT(totals.committed, programs * 5) << "most calls fail: the test proves little";
  EXPECT_GT(totals.chunks, programs) << "hardly a checkpoint was opened";
  EXPECT_GT(totals.waits, programs / 4) << "hardly a transaction found a row that was not settled";
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomOpening, testing::Range(uint64_t{0}, kOpeningShards));

}  // namespace
}  // namespace mneme
