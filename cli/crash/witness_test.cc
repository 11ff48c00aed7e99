// Goal: the witness finds each way in which a log can betray a client.
// Method: one journal and logs made by hand: a true one, and one for each betrayal.
#include "cli/crash/witness.h"

#include <gtest/gtest.h>

#include <string_view>

namespace mneme {
namespace {

class WitnessTest : public testing::Test {
 protected:
  static std::vector<std::byte> bytes(std::string_view text) {
    const ByteSpan span = as_bytes(text);
    return {span.begin(), span.end()};
  }

  void SetUp() override {
    ClientJournal journal;
    journal.push_back({bytes("deposit 1"), true, ReplyStatus::kAcknowledged, Lsn{100}, bytes("r1")});
    journal.push_back({bytes("deposit 2"), true, ReplyStatus::kAcknowledged, Lsn{300}, bytes("r2")});
    journal.push_back({bytes("overdraw"), true, ReplyStatus::kRolledBack, Lsn{100}, {}});
    journal.push_back({bytes("balance"), true, ReplyStatus::kReadOnly, Lsn{100}, bytes("r3")});
    journal.push_back({bytes("deposit 3"), false, {}, {}, {}});
    witness_.add(std::move(journal));
  }

  using Records = std::vector<std::pair<uint64_t, std::string_view>>;

  static LogContents log_of(const Records& records) {
    LogContents log;
    for (const auto& [lsn, payload] : records) {
      log.records.push_back({Lsn{lsn}, RecordKind::kCommand, as_bytes(payload)});
      log.end = Lsn{lsn + 50};
    }
    return log;
  }
  Verdict judge(const Records& records) { return witness_.judge(log_of(records)); }
  void settle(const Records& records) { witness_.settle(log_of(records)); }

  // Records of rows alone.
  Verdict judge_rows(std::vector<uint64_t> lsns) {
    LogContents log;
    for (const uint64_t lsn : lsns) log.records.push_back({Lsn{lsn}, RecordKind::kLogical, as_bytes("rows")});
    log.end = Lsn{lsns.back() + 50};
    return witness_.judge(log);
  }

  Witness witness_;
};

TEST_F(WitnessTest, HoldsRecordsOfRowsAgainstLsnsAndUnansweredCalls) {
  EXPECT_TRUE(judge_rows({100, 300}).good());
  EXPECT_TRUE(judge_rows({100, 200, 300}).good());
  EXPECT_EQ(judge_rows({100, 200}).lost, 1u);
  EXPECT_EQ(judge_rows({100, 200, 250, 300}).invented, 1u);
}

TEST_F(WitnessTest, AcceptsALogWithAndWithoutTheUnansweredCall) {
  EXPECT_TRUE(judge({{100, "deposit 1"}, {300, "deposit 2"}}).good());
  EXPECT_TRUE(judge({{100, "deposit 1"}, {200, "deposit 3"}, {300, "deposit 2"}}).good());
  EXPECT_EQ(judge({{100, "deposit 1"}, {300, "deposit 2"}}).acknowledged, 2u);
}

TEST_F(WitnessTest, FindsALostCall) {
  EXPECT_EQ(judge({{100, "deposit 1"}}).lost, 1u) << "the tail is gone";
  EXPECT_EQ(judge({{300, "deposit 2"}}).lost, 1u) << "a hole";
  EXPECT_EQ(judge({{100, "deposit 1"}, {300, "deposit 1"}}).lost, 1u) << "another call in its place";
}

TEST_F(WitnessTest, FindsAnInventedCall) {
  EXPECT_EQ(judge({{100, "deposit 1"}, {200, "overdraw"}, {300, "deposit 2"}}).invented, 1u);
  EXPECT_EQ(judge({{100, "deposit 1"}, {200, "deposit 4"}, {300, "deposit 2"}}).invented, 1u);
  EXPECT_EQ(judge({{100, "deposit 1"}, {200, "deposit 1"}, {300, "deposit 2"}}).invented, 1u) << "run twice";
  EXPECT_EQ(judge({{100, "deposit 1"}, {200, "deposit 3"}, {250, "deposit 3"}, {300, "deposit 2"}}).invented,
            1u);
}

TEST_F(WitnessTest, FindsAReaderWhoWasToldTooEarly) {
  ClientJournal journal;
  journal.push_back({bytes("balance"), true, ReplyStatus::kReadOnly, Lsn{400}, bytes("r4")});
  journal.push_back({bytes("deposit 5"), false, {}, {}, {}});
  witness_.add(std::move(journal));
  EXPECT_EQ(judge({{100, "deposit 1"}, {300, "deposit 2"}}).lost, 1u);
  EXPECT_TRUE(judge({{100, "deposit 1"}, {300, "deposit 2"}, {400, "deposit 5"}}).good());
}

TEST_F(WitnessTest, HoldsTheLogToWhatItHadOfUnansweredCallsOnceItWasSettled) {
  settle({{100, "deposit 1"}, {200, "deposit 3"}, {300, "deposit 2"}});
  EXPECT_TRUE(judge({{100, "deposit 1"}, {200, "deposit 3"}, {300, "deposit 2"}}).good());
  EXPECT_EQ(judge({{100, "deposit 1"}, {300, "deposit 2"}}).lost, 1u);
  EXPECT_EQ(judge({{100, "deposit 1"}, {200, "deposit 4"}, {300, "deposit 2"}}).lost, 1u);
}

TEST_F(WitnessTest, FindsACallThatWasLostAndComesUpAgain) {
  settle({{100, "deposit 1"}, {300, "deposit 2"}});
  EXPECT_TRUE(judge({{100, "deposit 1"}, {300, "deposit 2"}}).good());
  EXPECT_EQ(judge({{100, "deposit 1"}, {300, "deposit 2"}, {400, "deposit 3"}}).invented, 1u);
}

TEST_F(WitnessTest, FindsWrongResults) {
  witness_.replayed(Lsn{100}, as_bytes("r1"));
  witness_.replayed(Lsn{300}, as_bytes("other"));
  const Verdict verdict = judge({{100, "deposit 1"}, {300, "deposit 2"}});
  EXPECT_EQ(verdict.wrong_results, 1u);
  EXPECT_FALSE(verdict.first_fault.empty());
}

}  // namespace
}  // namespace mneme
