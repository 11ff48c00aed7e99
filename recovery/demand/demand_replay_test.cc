// Goal: rows that are settled are as a replay of the whole log leaves them, whatever has been asked for
// before and whatever has yet to run; and in the end the tables are so, too. Method: programs made at random
// run random calls once, with ad-hoc transactions beside them. A serial replay of the log gives the end. Then
// the log is replayed on demand: random keys are asked for, and each row must be the one of the end; in half
// of the cases a second thread goes on with the rest meanwhile.
//
// The first seed is printed; MNEME_SEED=n runs that one alone.
#include "recovery/demand/demand_replay.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "procedures/values/value_text.h"
#include "recovery/testing/random_programs.h"

namespace mneme {
namespace {

#ifdef NDEBUG
constexpr uint64_t kDemandPrograms = 240;
#else
constexpr uint64_t kDemandPrograms = 40;  // a sanitizer makes each take many times as long
#endif
constexpr uint64_t kDemandShards = 4;
constexpr uint32_t kDemandRows = 12;
constexpr uint32_t kDemandCalls = 60;
constexpr uint32_t kQuestions = 12;

AnalysisOptions demand_analysis_of(uint64_t seed) {
  AnalysisOptions options;
  options.conflicts = seed % 3 == 0 ? ConflictGrain::kTable : ConflictGrain::kColumn;
  options.elide.increments = seed % 2 == 0;
  options.lanes_from_arguments = true;
  return options;
}

ReplayOptions demand_options_of(uint64_t seed) {
  constexpr uint32_t kBatches[] = {1, 4, 17, 1000};
  constexpr uint32_t kLanes[] = {1, 4, 64};
  ReplayOptions options;
  options.threads = 2;
  options.batch_transactions = kBatches[seed / 2 % 4];
  options.lanes_per_block = kLanes[seed / 8 % 3];
  return options;
}

std::string row_text(const Database& database, TableId table, const Row* row) {
  if (row == nullptr) return "none";
  fmt::memory_buffer text;
  for (const Column& column : database.catalog().table(table).columns) {
    const ColumnId id{static_cast<uint32_t>(&column - database.catalog().table(table).columns.data())};
    const Value value = database.schema().layout(table).get(row->image(), id);
    if (value.is_null())
      text.append(std::string_view("NULL"));
    else
      print_value(column.type, value, text);
    text.push_back('|');
  }
  return std::string(text.data(), text.size());
}

// Asks for rows under keys made at random, of tables that have a primary key.
class Questions {
 public:
  Questions(Database& replayed, Database& end, DemandReplay& replay, uint64_t seed)
      : replayed_(replayed), end_(end), replay_(replay), random_(seed) {
    texts_.reserve(64);
  }

  void ask(ReplayThreadId thread) {
    const auto& tables = replayed_.catalog().tables();
    const TableDefinition& table = tables[random_() % tables.size()];
    if (!table.primary_key) return;
    const std::vector<ColumnId>& columns = replayed_.catalog().index(*table.primary_key).columns;
    std::vector<Value> values;
    texts_.clear();
    for (const ColumnId column : columns)
      values.push_back(random_value(table.column(column).type, random_, texts_));
    const std::optional<IndexKey> key = replayed_.schema().codec(*table.primary_key).of_whole(values);
    if (!key) return;
    std::vector<SettlingRules::Need> needs;
    replay_.rules().of_rows(table.id, columns, values, needs);
    for (const SettlingRules::Need& need : needs) {
      ASSERT_TRUE(replay_.settle(need, thread)) << replay_.error().message;
      EXPECT_TRUE(replay_.is_settled(need));
    }
    UnloggedWriter here(replayed_);
    UnloggedWriter there(end_);
    EXPECT_EQ(row_text(replayed_, table.id, here.find(*table.primary_key, *key)),
              row_text(end_, table.id, there.find(*table.primary_key, *key)))
        << table.name << ", " << replay_.schedule().pieces_run() << " of " << replay_.schedule().piece_count()
        << " pieces have run";
    is_early_ |= !replay_.schedule().is_settled();
  }
  // Whether a row was seen before all was settled.
  bool is_early() const { return is_early_; }

 private:
  Database& replayed_;
  Database& end_;
  DemandReplay& replay_;
  std::mt19937 random_;
  std::vector<std::string> texts_;
  bool is_early_ = false;
};

struct DemandTotals {
  uint64_t records = 0;
  uint64_t early = 0;
};

void expect_rows_of_the_end(const std::string& sql, const ReplayFixture::AdHoc& ad_hoc, uint64_t seed,
                            DemandTotals& totals) {
  SCOPED_TRACE(testing::Message() << "MNEME_SEED=" << seed << "\n" << sql);
  ReplayFixture fixture(sql, kDemandRows, PageSize::kSmall);
  const Digest forward = fixture.run_forward(kDemandCalls, static_cast<uint32_t>(seed), ad_hoc);
  const std::vector<RecordView> records = fixture.records();
  AnalysisOptions analysis = demand_analysis_of(seed);
  analysis.reads_to_locate = std::ranges::all_of(
      records, [](const RecordView& record) { return call_of(record.kind, record.payload).has_value(); });
  fixture.take_apart(analysis);
  totals.records += records.size();
  const std::unique_ptr<Database> end = fixture.replayed();
  const std::unique_ptr<Database> database = fixture.before();
  DemandReplay replay(*database, fixture.program(), fixture.graph(), demand_options_of(seed));
  const Result<void> opened = replay.open(records, 1 + seed % 2);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Questions questions(*database, *end, replay, seed);
  const auto go_on = [&](uint32_t thread) {
    while (replay.go_on(ReplayThreadId{thread})) {
    }
  };
  std::thread other;
  if (seed % 2 == 1) other = std::thread(go_on, 1);
  for (uint32_t q = 0; q < kQuestions && !testing::Test::HasFatalFailure(); ++q) {
    questions.ask(ReplayThreadId{0});
    if (seed % 4 == 0) (void)replay.go_on(ReplayThreadId{0});
  }
  go_on(0);
  if (other.joinable()) other.join();
  ASSERT_FALSE(replay.schedule().has_failed()) << replay.error().message;
  EXPECT_TRUE(replay.schedule().is_settled());
  EXPECT_EQ(replay.statistics().transactions, records.size());
  EXPECT_EQ(state_of(*database), forward);
  totals.early += questions.is_early() ? 1 : 0;
}

// No piece writes the rates, so that nothing of the log has to happen to their rows. But pieces read them.
TEST(DemandReplay, AChangeWaitsForThePiecesThatReadIt) {
  ReplayFixture fixture(R"(
      CREATE TABLE rate (k int PRIMARY KEY, v int NOT NULL);
      CREATE TABLE total (k int PRIMARY KEY, s int NOT NULL);
      CREATE PROCEDURE put(x int, y int) LANGUAGE plpgsql AS $$
      DECLARE r int;
      BEGIN
        SELECT v INTO r FROM rate WHERE k = y;
        IF r IS NOT NULL THEN UPDATE total SET s = r + x WHERE k = x; END IF;
      END; $$;)",
                        kDemandRows);
  (void)fixture.run_forward(200, 1);
  fixture.take_apart(demand_analysis_of(1));
  const std::vector<RecordView> records = fixture.records();
  ASSERT_FALSE(records.empty());
  const std::unique_ptr<Database> end = fixture.replayed();
  const std::unique_ptr<Database> database = fixture.before();
  DemandReplay replay(*database, fixture.program(), fixture.graph(), demand_options_of(4));
  const Result<void> opened = replay.open(records, 1);
  ASSERT_TRUE(opened.ok()) << opened.error().message;

  const TableId rate{0};
  const ColumnId v{1};
  std::vector<SettlingRules::Need> needs;
  replay.rules().of_rows(rate, {}, {}, needs);
  for (const SettlingRules::Need& need : needs)
    EXPECT_TRUE(replay.is_settled(need)) << "nothing is to happen to the rates";
  replay.rules().of_change(rate, database->schema().layout(rate).parts(v), {&v, 1}, needs);
  for (const SettlingRules::Need& need : needs) ASSERT_TRUE(replay.settle(need, ReplayThreadId{0}));
  for (Database* const changed : {database.get(), end.get()}) {
    UnloggedWriter writer(*changed);
    const IndexId by_key = *changed->catalog().table(rate).primary_key;
    for (int64_t k = 0; k < 8; ++k) {
      const Value key = Value::of_int(k);
      const ColumnValue change{v, Value::of_int(1000)};
      Row* const row = writer.find(by_key, *changed->schema().codec(by_key).of_whole({&key, 1}));
      if (row == nullptr) continue;
      ASSERT_EQ(writer.update(rate, row, {&change, 1}), AccessStatus::kOk);
    }
  }
  while (replay.go_on(ReplayThreadId{0})) {
  }
  EXPECT_EQ(state_of(*database), state_of(*end)) << "a piece has seen a rate of later";
}

// The accounts' keys are found in the names' table; the owner's note stands beside a balance that changes.
constexpr const char* kNamedAccounts = R"(
CREATE TABLE names (name int PRIMARY KEY, account int NOT NULL);
CREATE TABLE account (k int PRIMARY KEY, balance int NOT NULL, note int NOT NULL, moved int NOT NULL);
CREATE TABLE entry (k int, owner int, note int);
CREATE PROCEDURE pay(n int, m int, x int) LANGUAGE plpgsql AS $$
DECLARE a int; b int; t int;
BEGIN
  SELECT account INTO a FROM names WHERE name = n;
  SELECT account INTO b FROM names WHERE name = m;
  UPDATE account SET balance = (balance * 3 - x) % 10007 WHERE k = a RETURNING note INTO t;
  UPDATE account SET balance = (balance * 5 + x) % 10007 WHERE k = b;
  INSERT INTO entry VALUES (n, b, t);
END; $$;
CREATE PROCEDURE move(n int, x int) LANGUAGE plpgsql AS $$
DECLARE a int;
BEGIN
  SELECT account INTO a FROM names WHERE name = n;
  IF a > 2 THEN UPDATE account SET moved = (moved * 2 + x) % 10007 WHERE k = a; END IF;
END; $$;)";

void expect_named_accounts_of_the_end(const std::string& more) {
  DemandTotals totals;
  for (uint64_t seed = 1; seed <= 40 && !testing::Test::HasFailure(); ++seed)
    expect_rows_of_the_end(kNamedAccounts + more, {}, seed, totals);
  EXPECT_GT(totals.records, 40U * 20);
}

TEST(DemandReplay, KeysAreReadThatNeverChange) {
  expect_named_accounts_of_the_end("");
}

TEST(DemandReplay, KeysThatChangeAreNotRead) {
  expect_named_accounts_of_the_end(R"(
CREATE PROCEDURE rename(n int, a int) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE names SET account = a WHERE name = n;
END; $$;)");
}

class RandomDemand : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomDemand, SettledRowsAreThoseOfTheEnd) {
  const char* const given = std::getenv("MNEME_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  const uint64_t programs = given != nullptr ? 1 : kDemandPrograms / kDemandShards;
  fmt::print("MNEME_SEED={} and the {} that follow\n", first, programs - 1);
  std::fflush(stdout);
  DemandTotals totals;
  for (uint64_t seed = first; seed < first + programs && !HasFailure(); ++seed)
    expect_rows_of_the_end(random_program(seed), ad_hoc_of(seed), seed, totals);
  if (given != nullptr) return;
  EXPECT_GT(totals.records, programs * kDemandCalls / (programs < 100 ? 10 : 4))
      << "most calls fail, or write nothing: the test proves little";
  EXPECT_GT(totals.early, programs / 10) << "hardly a row was seen before all were settled";
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomDemand, testing::Range(uint64_t{0}, kDemandShards));

}  // namespace
}  // namespace mneme
