// Goal: SELECT ... FOR UPDATE and its kind leave out, by SKIP LOCKED, the rows that another session's open
// block keeps, and fail with 55P03 at them, by NOWAIT; with both protocols. What two workers of a queue take
// are different rows.
// Method: two sessions of one database, without sockets, that take turns.
#include <gmock/gmock.h>

#include "base/testing/test_directory.h"
#include "server/session/client_session.h"
#include "server/testing/session_fixture.h"

namespace mneme {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class QueueOfJobs : public testing::TestWithParam<ConcurrencyControl> {
 protected:
  QueueOfJobs()
      : database_(*EmbeddedDatabase::open(directory_.path(),
                                          {.connections = 2,
                                           .execution = Execution::kInterpreted,
                                           .concurrency = {GetParam(), /*early_lock_release=*/true}})),
        host_(*database_),
        one_(host_, 7, 1),
        other_(host_, 8, 1) {
    for (ClientSession* session : {&one_, &other_}) told(*session, Frontend().startup());
    one("CREATE TABLE job (id INT PRIMARY KEY, state VARCHAR(10), worker INT)");
    one("INSERT INTO job VALUES (1, 'new', 0), (2, 'new', 0), (3, 'new', 0)");
  }

  std::vector<std::string> told(ClientSession& session, Frontend& messages) {
    session.receive(messages.take());
    for (int tries = 0; tries < 100; ++tries) {
      if (session.advance(ClientSession::Waiting::kAllowed) != ClientSession::Step::kRetry) break;
    }
    if (const auto gate = session.replies().gate()) {
      EXPECT_TRUE(database_->working().log().wait_durable(*gate));
    }
    Replies replies;
    replies.add(session.replies().take(Lsn{UINT64_MAX}));
    std::vector<std::string> lines;
    for (std::string& line : replies.take()) {
      if (line[0] == 'D' || line[0] == 'E') lines.push_back(std::move(line));
    }
    return lines;
  }
  std::vector<std::string> one(std::string_view query) { return told(one_, Frontend().query(query)); }
  std::vector<std::string> other(std::string_view query) { return told(other_, Frontend().query(query)); }

  test::TemporaryDirectory directory_;
  std::unique_ptr<EmbeddedDatabase> database_;
  OneSeat host_;
  ClientSession one_;
  ClientSession other_;
};

constexpr std::string_view kNext =
    "SELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";
constexpr std::string_view kTake =
    "UPDATE job SET state = 'run' WHERE id = (SELECT id FROM job WHERE state = 'new' ORDER BY id FOR UPDATE "
    "SKIP LOCKED LIMIT 1) RETURNING id";

TEST_P(QueueOfJobs, WorkersTakeDifferentRows) {
  one("BEGIN");
  other("BEGIN");
  EXPECT_THAT(one(kNext), ElementsAre("D 1"));
  EXPECT_THAT(other(kNext), ElementsAre("D 2"));
  EXPECT_THAT(one(kNext), ElementsAre("D 1")) << "its own";
  one("UPDATE job SET state = 'done' WHERE id = 1");
  other("UPDATE job SET state = 'done' WHERE id = 2");
  EXPECT_THAT(one(kNext), ElementsAre("D 3"));
  EXPECT_THAT(other(kNext), ElementsAre());
  EXPECT_THAT(one("COMMIT"), ElementsAre());
  EXPECT_THAT(other(kNext), ElementsAre("D 3"));
  EXPECT_THAT(other("COMMIT"), ElementsAre());
  EXPECT_THAT(one("SELECT id FROM job WHERE state = 'done' ORDER BY id"), ElementsAre("D 1", "D 2"));
}

TEST_P(QueueOfJobs, AnUpdateTakesWhatNobodyHas) {
  one("BEGIN");
  EXPECT_THAT(one(kTake), ElementsAre("D 1"));
  EXPECT_THAT(other(kTake), ElementsAre("D 2"));
  other("BEGIN");
  EXPECT_THAT(other(kTake), ElementsAre("D 3"));
  EXPECT_THAT(other(kTake), ElementsAre());
  EXPECT_THAT(one("COMMIT"), ElementsAre());
  EXPECT_THAT(other("COMMIT"), ElementsAre());
}

TEST_P(QueueOfJobs, EachFormOfTakingLooksAtItsOwnRowsAlone) {
  const char* const forms[] = {
      "WITH next AS (SELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) "
      "UPDATE job SET state = 'run' FROM next WHERE job.id = next.id RETURNING job.id",
      "UPDATE job SET state = 'run' WHERE id IN (SELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1 "
      "FOR UPDATE SKIP LOCKED) RETURNING id",
      "DELETE FROM job WHERE id = (SELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE "
      "SKIP "
      "LOCKED) RETURNING id",
  };
  one("INSERT INTO job SELECT g, 'new', 0 FROM generate_series(4, 9) g");
  int next = 1;
  for (const char* const form : forms) {
    one("BEGIN");
    other("BEGIN");
    EXPECT_THAT(one(form), ElementsAre("D " + std::to_string(next++))) << form;
    EXPECT_THAT(other(form), ElementsAre("D " + std::to_string(next++))) << form;
    EXPECT_THAT(one("COMMIT"), ElementsAre()) << form;
    EXPECT_THAT(other("COMMIT"), ElementsAre()) << form;
  }
}

TEST_P(QueueOfJobs, NoWaitFailsAtARowThatAnotherHas) {
  one("BEGIN");
  EXPECT_THAT(one("SELECT id FROM job WHERE id = 2 FOR UPDATE"), ElementsAre("D 2"));
  EXPECT_THAT(other("SELECT id FROM job WHERE id = 2 FOR UPDATE NOWAIT"), ElementsAre("E 55P03"));
  EXPECT_THAT(other("SELECT id FROM job WHERE id = 2 FOR SHARE NOWAIT"), ElementsAre("E 55P03"));
  EXPECT_THAT(other("SELECT id FROM job WHERE id = 1 FOR UPDATE NOWAIT"), ElementsAre("D 1"));
  other("BEGIN");
  EXPECT_THAT(other("SELECT id FROM job WHERE id = 2 FOR UPDATE NOWAIT"), ElementsAre("E 55P03"));
  EXPECT_THAT(other("SELECT 1"), ElementsAre("E 25P02"));
  other("ROLLBACK");
  one("ROLLBACK");
  EXPECT_THAT(other("SELECT id FROM job WHERE id = 2 FOR UPDATE NOWAIT"), ElementsAre("D 2"));
}

TEST_P(QueueOfJobs, SharesDoNotRuleEachOtherOut) {
  one("BEGIN");
  other("BEGIN");
  EXPECT_THAT(one("SELECT id FROM job WHERE id = 2 FOR SHARE SKIP LOCKED"), ElementsAre("D 2"));
  EXPECT_THAT(other("SELECT id FROM job WHERE id = 2 FOR KEY SHARE SKIP LOCKED"), ElementsAre("D 2"));
  EXPECT_THAT(other("SELECT id FROM job ORDER BY id FOR UPDATE SKIP LOCKED"), ElementsAre("D 1", "D 3"));
  one("ROLLBACK");
  EXPECT_THAT(other("SELECT id FROM job ORDER BY id FOR UPDATE SKIP LOCKED"),
              ElementsAre("D 1", "D 2", "D 3"));
}

TEST_P(QueueOfJobs, RowsOfAViewAreNotLeftUnlockedInSilence) {
  one("CREATE VIEW open_job AS SELECT id FROM job WHERE state = 'new'");
  EXPECT_THAT(one("SELECT id FROM open_job FOR UPDATE"), testing::Contains(testing::StartsWith("E 0A000")));
  EXPECT_THAT(one("SELECT v.id FROM open_job v JOIN job ON job.id = v.id FOR UPDATE OF v"),
              testing::Contains(testing::StartsWith("E 0A000")));
  EXPECT_THAT(one("SELECT v.id FROM open_job v JOIN job ON job.id = v.id WHERE v.id = 2 FOR UPDATE OF job"),
              ElementsAre("D 2"));
}

TEST_P(QueueOfJobs, ARowThatIsLockedAndChangedCountsAsRead) {
  one("BEGIN");
  EXPECT_THAT(one(kNext), ElementsAre("D 1"));
  if (GetParam() == ConcurrencyControl::kOptimistic) {
    // A plain UPDATE asks for no lock. The block that had the row then fails as it writes.
    EXPECT_THAT(other("UPDATE job SET worker = 9 WHERE id = 1"), ElementsAre());
    one("UPDATE job SET state = 'done' WHERE id = 1");
    EXPECT_THAT(one("COMMIT"), ElementsAre("E 40001"));
    EXPECT_THAT(one("SELECT state, worker FROM job WHERE id = 1"), ElementsAre("D new|9"));
  } else {
    EXPECT_THAT(one("COMMIT"), ElementsAre());
  }
}

TEST_P(QueueOfJobs, RowsThatAreNotLockedAreNotRead) {
  one("BEGIN");
  EXPECT_THAT(one(kNext), ElementsAre("D 1"));
  // These would be read, and be in the way, were they not for SKIP LOCKED.
  EXPECT_THAT(other("UPDATE job SET worker = 9 WHERE id = 3"), ElementsAre());
  EXPECT_THAT(other("INSERT INTO job VALUES (0, 'new', 0)"), ElementsAre());
  one("UPDATE job SET state = 'done' WHERE id = 1");
  EXPECT_THAT(one("COMMIT"), ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(Protocols, QueueOfJobs,
                         testing::Values(ConcurrencyControl::kOptimistic,
                                         ConcurrencyControl::kTwoPhaseLocking),
                         [](const auto& info) {
                           return info.param == ConcurrencyControl::kOptimistic ? "occ" : "2pl";
                         });

}  // namespace
}  // namespace mneme
