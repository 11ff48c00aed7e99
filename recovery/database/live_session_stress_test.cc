// Goal: sessions, changes of the schema that they make, and checkpoints beside them share nothing that the
// schema's latch does not order, lose nothing, and leave a log that every scheme replays to the same state.
// Method: threads move coins from purse to purse, in blocks and single statements, fill a table of their own,
// and now and then create or drop tables, indexes and procedures, while checkpoints are taken one after the
// other. No coin may come or go, and what was told committed must be there. For ThreadSanitizer.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <thread>

#include "engine/transaction/digest.h"
#include "engine/transaction/unlogged_writer.h"
#include "recovery/database/checkpoint_schedule.h"
#include "recovery/database/live_session.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kThreads = 3;
constexpr uint32_t kRounds = 40;
constexpr int kPurses = 50;
constexpr int kCoins = 100;

constexpr std::string_view kPurseSql = R"(
CREATE TABLE purse (id INT PRIMARY KEY, coins INT NOT NULL);
CREATE PROCEDURE give(p_from INT, p_to INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE purse SET coins = coins - 1 WHERE id = p_from;
    UPDATE purse SET coins = coins + 1 WHERE id = p_to;
END; $$;
)";

// The work of one thread.
class Mover {
 public:
  Mover(WorkingDatabase& working, uint32_t thread)
      : working_(working),
        session_(working, WorkerId{thread}, 1),
        name_(fmt::format("notes_{}", thread)),
        random_(thread) {}

  void work() {
    must(fmt::format("CREATE TABLE {} (id INT PRIMARY KEY, note INT)", name_));
    for (uint32_t round = 0; round < kRounds || !has_checkpoint(); ++round) {
      move_in_a_block();
      must_unless_in_the_way(fmt::format("CALL give({}, {})", purse(), purse()));
      if (must_unless_in_the_way(fmt::format("INSERT INTO {} VALUES ({}, {})", name_, round, round % 7)))
        ++notes_;
      if (round % 12 == 5) must(fmt::format("CREATE INDEX {0}_by_note ON {0} (note)", name_));
      if (round % 12 == 9) must(fmt::format("DROP INDEX {}_by_note", name_));
      if (round % 20 == 10) replace_procedure(round);
      if (round % 4 == 2) count_alone();
    }
    const StatementResult found = session_.run(fmt::format("SELECT id FROM {}", name_));
    EXPECT_EQ(found.rows.size(), notes_) << found.message;
    while (counted_ == 0) count_alone();
  }

 private:
  // Beyond the one that the database was made with: one at least is taken beside the rounds, however fast
  // they are.
  bool has_checkpoint() { return working_.manifest().current().checkpoint_lsn > kCheckpointLsn; }
  int purse() { return static_cast<int>(random_() % kPurses); }

  void must(const std::string& text) {
    const StatementResult result = session_.run(text);
    EXPECT_TRUE(result.ok()) << text << ": " << result.message;
  }
  bool must_unless_in_the_way(const std::string& text) {
    const StatementResult result = session_.run(text);
    EXPECT_TRUE(result.ok() || result.sqlstate == sqlstate::kSerializationFailure)
        << text << ": " << result.message;
    return result.ok();
  }
  // A statement that fails fails the block; COMMIT then rolls it back.
  void move_in_a_block() {
    must("BEGIN");
    if (must_unless_in_the_way(fmt::format("UPDATE purse SET coins = coins - 2 WHERE id = {}", purse())))
      must_unless_in_the_way(fmt::format("UPDATE purse SET coins = coins + 2 WHERE id = {}", purse()));
    must_unless_in_the_way("COMMIT");
  }
  // While other sessions' blocks are open it counts nothing.
  void count_alone() {
    struct Sink final : ResultSink {
      void begin(std::span<const ResultColumn>) override { sum = -1; }
      void add(std::span<const Argument> row) override { sum = row[0].scalar.as_int(); }
      int64_t sum = 0;
    } sink;
    const std::optional<StatementResult> counted =
        session_.execute_alone(count_, {}, {}, sink, nullptr, std::chrono::milliseconds(20));
    if (!counted) return;
    EXPECT_TRUE(counted->ok()) << counted->message;
    EXPECT_EQ(sink.sum, kPurses * kCoins);
    ++counted_;
  }
  // From now on the giving procedure gives more, or less.
  void replace_procedure(uint32_t coins) {
    must(
        fmt::format("CREATE OR REPLACE PROCEDURE give(p_from INT, p_to INT) LANGUAGE plpgsql AS $$\n"
                    "BEGIN UPDATE purse SET coins = coins - {0} WHERE id = p_from;\n"
                    "UPDATE purse SET coins = coins + {0} WHERE id = p_to; END $$",
                    coins));
  }

  WorkingDatabase& working_;
  LiveSession session_;
  const std::string name_;
  std::mt19937 random_;
  PreparedStatement count_{
      std::make_shared<syntax::Command>(*parse_statement("SELECT sum(coins) FROM purse").command), {}};
  size_t notes_ = 0;
  size_t counted_ = 0;
};

int coins_in(WorkingDatabase& working) {
  LiveSession session(working, WorkerId{0}, 1);
  int sum = 0;
  for (const auto& row : session.run("SELECT coins FROM purse").rows) sum += std::stoi(*row[0]);
  return sum;
}

TEST(LiveSessionStress, SessionsChangesAndCheckpointsKeepOutOfEachOthersWay) {
  const std::string directory = testing::TempDir() + "live_session_stress_" + std::to_string(::getpid());
  fs::remove_all(directory);
  CreateOptions options;
  options.log.workers = kThreads;
  options.log.helpers = 1;
  auto program = compile(std::string(kPurseSql), "purse.sql");
  ASSERT_TRUE(program.ok());
  const auto load = [](Database& database) -> Result<void> {
    UnloggedWriter rows(database);
    for (int id = 0; id < kPurses; ++id) {
      const std::array purse = {Value::of_int(id), Value::of_int(kCoins)};
      EXPECT_EQ(rows.insert(TableId{0}, purse), AccessStatus::kOk);
    }
    return {};
  };
  std::string left;
  {
    Result<CreatedDatabase> created = create_database(directory, std::move(*program), load, options);
    ASSERT_TRUE(created.ok()) << created.error().message;
    WorkingDatabase& working = created->working;
    CheckpointScheduleOptions every;
    every.seconds = 0.02;
    every.failed = [](const Error& error) { ADD_FAILURE() << error.message; };
    CheckpointSchedule checkpoints(working, every);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { Mover(working, t).work(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(checkpoints.finish().size(), 0u);
    EXPECT_EQ(coins_in(working), kPurses * kCoins);
    EXPECT_GT(working.schema_version(), kThreads * 7u);
    left = digest_of(working.database(), 1).to_string();
  }
  for (const char* const scheme : {"clr", "clr-p"}) {
    RecoverOptions recovery;
    recovery.scheme = *recovery_scheme(scheme);
    recovery.replay.threads = 3;
    const Result<RecoveredDatabase> recovered = recover(directory, recovery);
    ASSERT_TRUE(recovered.ok()) << recovered.error().message;
    EXPECT_EQ(digest_of(*recovered->database, 1).to_string(), left) << scheme;
  }
  fs::remove_all(directory);
}

}  // namespace
}  // namespace mneme
