// Goal: calls that replay cannot spread over its threads are logged by their rows, and no others: not where
// their lanes are good already, where rows would stand in the same lane, where rows cost replay more than
// they give it, or where the log would become too long. Method: a session runs calls whose arguments follow
// from their numbers, the samples that it takes are judged, and the choices are compared.
#include "recovery/adaptive/log_adviser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/transaction/unlogged_writer.h"
#include "logging/testing/kept_log.h"
#include "procedures/session/session.h"

namespace mneme {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kAccounts = 1000;

const std::string kBank = R"(
CREATE TABLE account (id INT PRIMARY KEY, branch INT NOT NULL, balance BIGINT NOT NULL);
CREATE INDEX account_by_branch ON account (branch);
CREATE PROCEDURE deposit(p_id INT, p_amount INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance * 2 - balance + p_amount WHERE id = p_id; END $$;
CREATE PROCEDURE transfer(p_from INT, p_to INT, p_amount INT) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance * 2 - balance - p_amount WHERE id = p_from;
  UPDATE account SET balance = balance * 2 - balance + p_amount WHERE id = p_to;
END $$;
CREATE PROCEDURE interest(p_from INT, p_to INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance + balance / 100 + 1 WHERE branch >= p_from AND branch < p_to; END $$;
CREATE PROCEDURE fee(p_from INT, p_to INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance * 99 / 100 + 7 WHERE branch >= p_from AND branch < p_to; END $$;
CREATE PROCEDURE close_day(p_branch INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance / 2 WHERE branch = p_branch; END $$;
)";

// A call by the name of its procedure; all arguments are integers.
struct NamedCall {
  std::string procedure;
  std::vector<int64_t> arguments;
};
using CallOf = std::function<NamedCall(int number)>;

int key(int number) {
  return number * 7919 % kAccounts;
}

class LogAdviserTest : public testing::Test {
 protected:
  // Accounts have fifty of a branch each; other tables have a row for each account.
  void use(const std::string& sql) {
    auto compiled = compile(sql, "test.sql");
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    program_ = std::move(*compiled);
    database_ = std::make_unique<Database>(program_->catalog, 1);
    UnloggedWriter rows(*database_);
    for (int64_t id = 0; id < kAccounts; ++id) {
      for (const TableDefinition& table : program_->catalog.tables()) {
        std::vector<Value> values = {Value::of_int(id)};
        if (table.name == "account") values.push_back(Value::of_int(id / 50));
        while (values.size() < table.columns.size())
          values.push_back(Value::of_int(key(static_cast<int>(id))));
        if (table.name != "note" && table.name != "page") {
          ASSERT_EQ(rows.insert(table.id, values), AccessStatus::kOk);
        }
      }
    }
    database_->attach_log(log_);
    choices_ = std::make_unique<CallChoices>(program_->procedures.size(), kMostCalls);
    SessionOptions options;
    options.choices = choices_.get();
    session_ = std::make_unique<Session>(*program_, *database_, WorkerId{0}, options);
  }

  void run(const NamedCall& named) {
    Call call{program_->find_procedure(named.procedure)->id, {}};
    for (const int64_t value : named.arguments) call.arguments.push_back(Argument::of(Value::of_int(value)));
    const CallResult result = session_->run(call);
    ASSERT_TRUE(result.committed()) << named.procedure << ": " << result.message;
  }

  std::vector<CallSample> sample(int calls, const CallOf& call_of) {
    choices_->open_window(kMostCalls);
    for (int i = 0; i < calls; ++i) run(call_of(i));
    return choices_->close_window();
  }

  LogAdviser adviser(AdviserOptions options = {}) const {
    options.cores = 16;
    return LogAdviser(*program_, database_->schema(), options);
  }

  // Judges calls, and returns the names of the procedures that are logged by rows from then on.
  std::vector<std::string> judge(LogAdviser& adviser, int calls, const CallOf& call_of) {
    const std::vector<CallSample> samples = sample(calls, call_of);
    const Result<void> judged = adviser.judge(samples);
    EXPECT_TRUE(judged.ok()) << judged.error().message;
    std::vector<std::string> chosen;
    for (const ir::Procedure& procedure : program_->procedures) {
      if (adviser.choices()[procedure.id.value]) chosen.push_back(procedure.name);
    }
    return chosen;
  }
  std::vector<std::string> judge_once(int calls, const CallOf& call_of) {
    LogAdviser fresh = adviser();
    return judge(fresh, calls, call_of);
  }

  static constexpr size_t kMostCalls = 4096;

  std::unique_ptr<Program> program_;
  KeptLog log_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<CallChoices> choices_;
  std::unique_ptr<Session> session_;
};

NamedCall deposit(int number) {
  return {"deposit", {key(number), number % 10}};
}

NamedCall of_a_branch(const std::string& procedure, int number) {
  const int branch = key(number) / 50;
  return {procedure, {branch, branch + 1}};
}

// Each so many a call of all of a branch's accounts.
CallOf one_in(int share, const std::string& procedure) {
  return [=](int number) {
    return number % share == 0 ? of_a_branch(procedure, number / share) : deposit(number);
  };
}

TEST_F(LogAdviserTest, ChoosesWhatHasKeysThatReplayDoesNotKnow) {
  use(kBank);
  LogAdviser judging = adviser();
  EXPECT_THAT(judge(judging, 2000, one_in(50, "interest")), ElementsAre("interest"));
  const RowChoice& reason = judging.reasons()[0];
  EXPECT_EQ(program_->procedure(reason.procedure).name, "interest");
  EXPECT_GT(reason.path_before, 0.3);
  EXPECT_LT(reason.path_after, 0.1);
  EXPECT_LT(reason.call_bytes, 32);
  EXPECT_GT(reason.row_bytes, 50 * 6);
}

TEST_F(LogAdviserTest, ChoosesWhatHelpsOnlyTogether) {
  use(kBank);
  const CallOf both = [](int number) {
    if (number % 40 == 0) return of_a_branch("interest", number / 40);
    if (number % 40 == 20) return of_a_branch("fee", number / 40);
    return deposit(number);
  };
  EXPECT_THAT(judge_once(2000, both), ElementsAre("interest", "fee"));
}

// A closing's lane is its branch's. Deposits do not say which that is, but their rows do, and are fewer.
TEST_F(LogAdviserTest, ChoosesTheCallsWhoseRowsSayTheLane) {
  use(kBank);
  const CallOf closings = [](int number) {
    return number % 50 == 0 ? NamedCall{"close_day", {key(number / 50) / 50}} : deposit(number);
  };
  EXPECT_THAT(judge_once(2000, closings), ElementsAre("deposit"));
}

TEST_F(LogAdviserTest, LeavesWhatIsSpreadByItsKeys) {
  use(kBank);
  EXPECT_THAT(judge_once(2000, deposit), IsEmpty());
  EXPECT_THAT(judge_once(2000,
                         [](int number) {
                           return NamedCall{"transfer", {key(number), key(number + 123), 1}};
                         }),
              IsEmpty());
}

TEST_F(LogAdviserTest, LeavesAHotKeyAsItsRowHasTheSameLane) {
  use(kBank);
  EXPECT_THAT(judge_once(2000, [](int) { return NamedCall{"deposit", {7, 1}}; }), IsEmpty());
}

TEST_F(LogAdviserTest, LeavesWhatIsRare) {
  use(kBank);
  EXPECT_THAT(judge_once(2000,
                         [](int number) {
                           return number == 1000 ? NamedCall{"interest", {3, 4}} : deposit(number);
                         }),
              IsEmpty());
}

TEST_F(LogAdviserTest, LeavesWhatWouldMakeTheLogTooLong) {
  use(kBank);
  AdviserOptions options;
  options.most_growth = 1.2;
  LogAdviser thrifty = adviser(options);
  EXPECT_THAT(judge(thrifty, 2000, one_in(50, "interest")), IsEmpty());
}

TEST_F(LogAdviserTest, TakesBackWhatIsNoLongerWorthIt) {
  use(kBank);
  LogAdviser judging = adviser();
  EXPECT_THAT(judge(judging, 2000, one_in(50, "interest")), ElementsAre("interest"));
  EXPECT_THAT(judge(judging, 2000, deposit), ElementsAre("interest")) << "it was not called";
  // Branches without accounts but one: a call changes one row, and a hot key makes the path.
  EXPECT_THAT(judge(judging, 2000,
                    [](int number) {
                      return number == 1000 ? NamedCall{"interest", {3, 4}} : NamedCall{"deposit", {7, 1}};
                    }),
              IsEmpty());
  EXPECT_EQ(judging.reasons().size(), 1u);
}

// The keys of the second update come from what the first statement reads: replay knows them when it gets
// there.
TEST_F(LogAdviserTest, LeavesWhatFindsItsKeysInAnotherTable) {
  use(kBank + R"(
      CREATE TABLE card (number INT PRIMARY KEY, account INT NOT NULL);
      CREATE PROCEDURE pay(p_number INT, p_amount INT) LANGUAGE plpgsql AS $$
      DECLARE v INT;
      BEGIN
        SELECT account INTO v FROM card WHERE number = p_number;
        UPDATE account SET balance = balance / 2 + p_amount WHERE id = v;
      END $$;)");
  EXPECT_THAT(judge_once(2000, [](int number) { return NamedCall{"pay", {key(number), 5}}; }), IsEmpty());
}

// Sales and refunds add to one row of the total. In a log of calls the two sums are blocks of their own, and
// run side by side. With rows in the log additions are in order, and one lane runs both.
TEST_F(LogAdviserTest, LeavesALogWhoseAdditionsWouldComeIntoOrder) {
  const std::string sums = kBank + R"(
      CREATE TABLE sold (id INT PRIMARY KEY, n INT NOT NULL);
      CREATE TABLE back (id INT PRIMARY KEY, n INT NOT NULL);
      CREATE TABLE total (id INT PRIMARY KEY, n BIGINT NOT NULL);
      CREATE PROCEDURE sell(p_id INT) LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE sold SET n = n / 2 + 9 WHERE id = p_id;
        UPDATE total SET n = n + p_id WHERE id = 1;
      END $$;
      CREATE PROCEDURE refund(p_id INT) LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE back SET n = n / 2 + 9 WHERE id = p_id;
        UPDATE total SET n = n - p_id WHERE id = 1;
      END $$;)";
  use(sums);
  const CallOf calls = [](int number) {
    if (number % 80 == 0) return of_a_branch("interest", number / 80);
    return NamedCall{number % 2 == 0 ? "sell" : "refund", {key(number)}};
  };
  EXPECT_THAT(judge_once(2000, calls), IsEmpty());
  const std::vector<CallSample> samples = sample(2000, calls);
  SampledSchedule schedule(*program_, database_->schema(), 16);
  ASSERT_TRUE(schedule.load(samples));
  const std::vector<bool> none(program_->procedures.size(), false);
  EXPECT_LT(1.3 * schedule.estimate(none, false).path, schedule.estimate(none, true).path);
}

// Two blocks insert notes, and nothing orders them. A note that is logged as a row has no lane that both
// know.
TEST_F(LogAdviserTest, LeavesWhatWouldBeABarrier) {
  use(kBank + R"(
      CREATE TABLE other (id INT PRIMARY KEY, n INT NOT NULL);
      CREATE TABLE note (id INT PRIMARY KEY, what INT NOT NULL);
      CREATE PROCEDURE change(p_id INT, p_note INT) LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE other SET n = n / 2 + 9 WHERE id = p_id;
        INSERT INTO note VALUES (p_note, p_id);
      END $$;
      CREATE PROCEDURE noted_interest(p_from INT, p_to INT, p_note INT) LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE account SET balance = balance + balance / 100 + 1 WHERE branch >= p_from AND branch < p_to;
        INSERT INTO note VALUES (p_note, p_from);
      END $$;)");
  const CallOf calls = [](int number) {
    const int branch = key(number / 50) / 50;
    if (number % 50 == 0) return NamedCall{"noted_interest", {branch, branch + 1, 100000 + number}};
    if (number % 2 == 0) return NamedCall{"change", {key(number), 200000 + number}};
    return deposit(number);
  };
  const std::vector<CallSample> samples = sample(2000, calls);
  SampledSchedule schedule(*program_, database_->schema(), 16);
  ASSERT_TRUE(schedule.load(samples));
  std::vector<bool> by_rows(program_->procedures.size(), false);
  EXPECT_EQ(schedule.estimate(by_rows, false).barriers, 0u);
  by_rows[program_->find_procedure("noted_interest")->id.value] = true;
  EXPECT_EQ(schedule.estimate(by_rows, false).barriers, 40u);

  LogAdviser judging = adviser();
  ASSERT_TRUE(judging.judge(samples));
  EXPECT_EQ(judging.choices(), std::vector<bool>(program_->procedures.size(), false));
}

// One call's rows take more than a record may.
TEST_F(LogAdviserTest, LeavesWhoseRowsMakeNoRecord) {
  use(kBank + R"(
      CREATE TABLE page (id INT PRIMARY KEY, text VARCHAR(9000) NOT NULL);
      CREATE PROCEDURE add_page(p_id INT) LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO page VALUES (p_id, repeat('x', 9000)); END $$;
      CREATE PROCEDURE rewrite(p_from INT, p_to INT) LANGUAGE plpgsql AS $$
      BEGIN UPDATE page SET text = repeat('y', 9000) WHERE id >= p_from AND id < p_to; END $$;)");
  for (int i = 0; i < 64; ++i) run({"add_page", {i}});
  LogAdviser judging = adviser();
  const auto rewrite = [](int pages) {
    return [pages](int number) { return NamedCall{"rewrite", {number % 8, number % 8 + pages}}; };
  };
  EXPECT_THAT(judge(judging, 100, rewrite(40)), IsEmpty());

  // The session logs such a call as a call, whatever was chosen.
  choices_->choose(program_->find_procedure("rewrite")->id, true);
  run({"rewrite", {0, 2}});
  run({"rewrite", {0, 40}});
  const std::vector<RecordView> records = log_.records();
  EXPECT_EQ(records[records.size() - 2].kind, RecordKind::kLogical);
  EXPECT_EQ(records.back().kind, RecordKind::kCommand);
}

}  // namespace
}  // namespace mneme
