// Goal: a session goes on over changes of the schema that others make, and none is made while its transaction
// runs. Method: two sessions on one database; a change must wait for a block to end, and stop no session
// where it is refused; later sessions see what it made. What the log says of it all is recovered.
#include "recovery/database/live_session.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "engine/transaction/digest.h"
#include "procedures/catalog/system_catalog.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using BlockState = SqlSession::Block;

class LiveSessionTest : public testing::Test {
 protected:
  LiveSessionTest() : directory_(testing::TempDir() + "live_session_" + std::to_string(::getpid())) {
    fs::remove_all(directory_);
    auto program = compile("CREATE TABLE purse (id INT PRIMARY KEY, coins INT NOT NULL);", "purse.sql");
    EXPECT_TRUE(program.ok());
    CreateOptions options;
    options.log.workers = 2;
    auto created = create_database(
        directory_, std::move(*program), [](Database&) { return Result<void>(); }, options);
    EXPECT_TRUE(created.ok());
    working_ = std::make_unique<WorkingDatabase>(std::move(created->working));
  }
  ~LiveSessionTest() override {
    // Open, it would go on writing to its directory.
    working_.reset();
    fs::remove_all(directory_);
  }

  static void must(LiveSession& session, const std::string& text) {
    const StatementResult result = session.run(text);
    EXPECT_TRUE(result.ok()) << text << ": " << result.message;
  }

  const std::string directory_;
  std::unique_ptr<WorkingDatabase> working_;
};

TEST_F(LiveSessionTest, AChangeWaitsForTheBlockOfAnother) {
  LiveSession first(*working_, WorkerId{0}, 1);
  LiveSession second(*working_, WorkerId{1}, 1);
  must(second, "INSERT INTO purse VALUES (1, 10)");
  must(first, "BEGIN");
  must(first, "UPDATE purse SET coins = coins + 1 WHERE id = 1");
  auto change =
      std::async(std::launch::async, [&] { return second.run("CREATE TABLE chest (id INT PRIMARY KEY)"); });
  EXPECT_EQ(change.wait_for(50ms), std::future_status::timeout);
  must(first, "UPDATE purse SET coins = coins + 1 WHERE id = 1");
  EXPECT_EQ(change.wait_for(50ms), std::future_status::timeout);
  must(first, "COMMIT");
  EXPECT_TRUE(change.get().ok());
  must(first, "INSERT INTO chest VALUES (7)");
  must(second, "INSERT INTO chest VALUES (8)");
  const StatementResult coins = second.run("SELECT coins FROM purse WHERE id = 1");
  ASSERT_EQ(coins.rows.size(), 1u);
  EXPECT_EQ(coins.rows[0][0], "12");
}

TEST_F(LiveSessionTest, APreparedStatementFollowsTheSearchPath) {
  LiveSession session(*working_, WorkerId{0}, 1);
  must(session, "CREATE SCHEMA other");
  must(session, "CREATE TABLE other.purse (id INT PRIMARY KEY, coins INT NOT NULL)");
  must(session, "INSERT INTO purse VALUES (1, 10)");
  must(session, "INSERT INTO other.purse VALUES (1, 20)");
  auto client = std::make_shared<SessionValues>();
  const auto set_path = [&](std::string_view path) {
    const SystemCatalog::Setting setting{"search_path", path};
    SystemCatalog::set_settings(*client, {&setting, 1});
  };
  set_path("public");
  PreparedStatement coins(
      std::make_shared<const syntax::Command>(*parse_statement("SELECT coins FROM purse").command), {},
      client);
  class Number final : public ResultSink {
   public:
    void begin(std::span<const ResultColumn>) override {}
    void add(std::span<const Argument> row) override { number = row[0].scalar.as_int(); }
    int64_t number = 0;
  };
  const auto seen = [&] {
    Number number;
    const auto result = session.execute(coins, {}, {}, number);
    return result && result->ok() ? number.number : -1;
  };
  EXPECT_EQ(seen(), 10);
  set_path("other, public");
  EXPECT_EQ(seen(), 20);
  session.set_client(client);
  must(session, "CREATE TABLE made (id INT PRIMARY KEY)");
  set_path("public");
  EXPECT_EQ(session.run("SELECT * FROM made").sqlstate, "42P01");
  must(session, "SELECT * FROM other.made");
  EXPECT_EQ(seen(), 10);
  set_path("nothing");
  EXPECT_EQ(session.run("CREATE TABLE more (id INT)").sqlstate, "3F000");
  EXPECT_EQ(seen(), -1);
}

TEST_F(LiveSessionTest, AChangeThatIsRefusedStopsNobody) {
  LiveSession first(*working_, WorkerId{0}, 1);
  LiveSession second(*working_, WorkerId{1}, 1);
  must(first, "BEGIN");
  must(first, "SELECT coins FROM purse FOR UPDATE");
  // By another thread: by the block's own it is refused for that.
  auto refused = std::async(std::launch::async,
                            [&] { return second.run("CREATE TABLE purse (id INT PRIMARY KEY)").sqlstate; });
  EXPECT_EQ(refused.get(), "42P07");
  EXPECT_EQ(second.run("CREATE TABLE chest (id INT PRIMARY KEY)").sqlstate, "55P03");
  EXPECT_EQ(first.run("DROP TABLE purse").sqlstate, sqlstate::kActiveTransaction);
  EXPECT_EQ(first.block(), BlockState::kFailed);
  EXPECT_EQ(first.run("SELECT coins FROM purse").sqlstate, sqlstate::kFailedTransaction);
  must(first, "ROLLBACK");
  EXPECT_EQ(first.run("no statement").sqlstate, sqlstate::kSyntaxError);
  must(second, "DROP TABLE purse");
  EXPECT_FALSE(first.run("SELECT coins FROM purse").ok());
}

TEST_F(LiveSessionTest, AStatementRunsAloneOnceBlocksHaveEnded) {
  LiveSession first(*working_, WorkerId{0}, 1);
  LiveSession second(*working_, WorkerId{1}, 1);
  must(second, "INSERT INTO purse VALUES (1, 10), (2, 20)");
  PreparedStatement statement(
      std::make_shared<syntax::Command>(*parse_statement("UPDATE purse SET coins = coins * 2").command), {});
  struct Sink final : ResultSink {
    void begin(std::span<const ResultColumn>) override {}
    void add(std::span<const Argument>) override {}
  } sink;
  must(first, "BEGIN");
  must(first, "UPDATE purse SET coins = 11 WHERE id = 1");
  auto alone = std::async(std::launch::async,
                          [&] { return second.execute_alone(statement, {}, {}, sink, nullptr, 20ms); });
  EXPECT_FALSE(alone.get().has_value());
  must(first, "COMMIT");
  const std::optional<StatementResult> done = second.execute_alone(statement, {}, {}, sink, nullptr, 20ms);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->tag, "UPDATE 2") << done->message;
  EXPECT_EQ(first.run("SELECT coins FROM purse ORDER BY id").rows[0][0], "22");
}

TEST_F(LiveSessionTest, ASessionThatEndsInsideABlockLetsAChangeGoOn) {
  LiveSession second(*working_, WorkerId{1}, 1);
  {
    LiveSession first(*working_, WorkerId{0}, 1);
    must(first, "INSERT INTO purse VALUES (1, 10)");
    must(first, "BEGIN");
    must(first, "DELETE FROM purse WHERE id = 1");
  }
  must(second, "CREATE INDEX by_coins ON purse (coins)");
  EXPECT_EQ(second.run("SELECT id FROM purse WHERE coins = 10").rows.size(), 1u);
}

}  // namespace
}  // namespace mneme
