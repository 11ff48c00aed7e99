// Goal: LISTEN and NOTIFY as PostgreSQL has them: at the commit, in its order, once each, and no more of them
// in memory than the server has room for.
// Method: sessions of one database, without sockets; their replies as lines.
#include <gmock/gmock.h>

#include "server/session/client_session.h"
#include "server/testing/session_fixture.h"

namespace mneme {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ClientNotifyTest : public ClientSessionTest {
 protected:
  ClientNotifyTest() : listener_(host_, 8, 99) {
    start();
    told(listener_, Frontend().startup());
  }
  std::vector<std::string> heard(std::string_view query) { return told(listener_, Frontend().query(query)); }
  // Returns the notifications that the listener gets without asking anything.
  std::vector<std::string> news() {
    listener_.deliver_if_idle();
    if (const auto gate = listener_.replies().gate()) {
      EXPECT_TRUE(database_->working().log().wait_durable(*gate));
    }
    Replies replies;
    replies.add(listener_.replies().take(Lsn{UINT64_MAX}));
    return replies.take();
  }

  ClientSession listener_;
};

TEST_F(ClientNotifyTest, MessagesReachThoseThatListenOnTheChannel) {
  EXPECT_THAT(heard("LISTEN news"), ElementsAre("C LISTEN", "Z I"));
  EXPECT_THAT(told("NOTIFY news, 'hello'"), ElementsAre("C NOTIFY", "Z I"));
  EXPECT_THAT(told("NOTIFY other"), ElementsAre("C NOTIFY", "Z I"));
  EXPECT_THAT(told("NOTIFY NEWS"), ElementsAre("C NOTIFY", "Z I"));
  EXPECT_THAT(news(), ElementsAre("A 7 news hello", "A 7 news "));
  heard("UNLISTEN news");
  told("NOTIFY news, 'more'");
  EXPECT_THAT(news(), IsEmpty());
  heard("LISTEN news; LISTEN \"Other\"");
  told("NOTIFY news; NOTIFY \"Other\", 'x'");
  EXPECT_THAT(news(), ElementsAre("A 7 news ", "A 7 Other x"));
  heard("DISCARD ALL");
  told("NOTIFY news");
  EXPECT_THAT(news(), IsEmpty());
}

TEST_F(ClientNotifyTest, ABlockNotifiesAsItCommits) {
  heard("LISTEN news");
  told("BEGIN");
  told("NOTIFY news, 'kept'");
  told("SAVEPOINT one");
  told("NOTIFY news, 'lost'");
  told("ROLLBACK TO one");
  told("NOTIFY news, 'kept'");
  told("SELECT pg_notify('news', 'called')");
  EXPECT_THAT(news(), IsEmpty());
  EXPECT_THAT(told("COMMIT"), ElementsAre("C COMMIT", "Z I"));
  EXPECT_THAT(news(), ElementsAre("A 7 news kept", "A 7 news called"));
  told("BEGIN");
  told("NOTIFY news, 'rolled back'");
  told("ROLLBACK");
  told("BEGIN");
  told("NOTIFY news, 'failed'");
  told("SELECT 1 / 0");
  EXPECT_THAT(told("COMMIT"), ElementsAre("C ROLLBACK", "Z I"));
  EXPECT_THAT(told("NOTIFY news, 'failed'; SELECT 1 / 0"), Contains(HasSubstr("E 22012")));
  EXPECT_THAT(news(), IsEmpty());
}

TEST_F(ClientNotifyTest, AnUncommittedListenHearsNothing) {
  heard("BEGIN");
  heard("LISTEN news");
  told("NOTIFY news, 'before'");
  heard("COMMIT");
  told("NOTIFY news, 'behind'");
  EXPECT_THAT(news(), ElementsAre("A 7 news behind"));
  heard("BEGIN");
  heard("UNLISTEN *");
  heard("ROLLBACK");
  told("NOTIFY news, 'still'");
  EXPECT_THAT(news(), ElementsAre("A 7 news still"));
}

TEST_F(ClientNotifyTest, AListenersBlockIsNotInterrupted) {
  heard("LISTEN news");
  heard("BEGIN");
  told("NOTIFY news, 'one'");
  EXPECT_THAT(news(), IsEmpty());
  EXPECT_THAT(heard("SELECT 1"), ElementsAre("T ?column?:23", "D 1", "C SELECT 1", "Z T"));
  EXPECT_THAT(heard("COMMIT"), ElementsAre("C COMMIT", "A 7 news one", "Z I"));
  EXPECT_THAT(heard("NOTIFY news, 'own'"), ElementsAre("C NOTIFY", "A 8 news own", "Z I"));
}

TEST_F(ClientNotifyTest, AMessageLeavesOnceItsSendersChangesAreDurable) {
  heard("LISTEN news");
  told("BEGIN");
  told("UPDATE item SET price = price + 1 WHERE id = 1");
  told("NOTIFY news");
  told("COMMIT");
  ASSERT_TRUE(listener_.deliver_if_idle());
  EXPECT_TRUE(listener_.replies().gate().has_value());
}

TEST_F(ClientNotifyTest, AStatementsRowsNotifyOnceEach) {
  heard("LISTEN news");
  EXPECT_THAT(told("SELECT pg_notify('news', name) FROM item WHERE id < 3 ORDER BY id"),
              ElementsAre("T pg_notify:25", "D ", "D ", "C SELECT 2", "Z I"));
  EXPECT_THAT(news(), ElementsAre("A 7 news one", "A 7 news two"));
  told("SELECT pg_notify('news', 'same') FROM item");
  EXPECT_THAT(news(), ElementsAre("A 7 news same"));
  EXPECT_THAT(told("SELECT pg_notify('', 'x')"), Contains("E 22023"));
  EXPECT_THAT(told("SELECT pg_notify('news', repeat('x', 8000))"), Contains("E 22023"));
  EXPECT_THAT(news(), IsEmpty());
}

TEST_F(ClientNotifyTest, ACommitFailsWhoseMessagesFindNoRoom) {
  heard("LISTEN news");
  heard("BEGIN");
  const std::string many =
      "SELECT count(pg_notify('news', repeat('x', 7900) || g)) FROM generate_series(1, 5000) g";
  EXPECT_THAT(told(many), Contains("C SELECT 1"));
  told("BEGIN");
  told("UPDATE item SET price = 77 WHERE id = 1");
  told("SELECT count(pg_notify('news', repeat('y', 7900) || g)) FROM generate_series(1, 5000) g");
  EXPECT_THAT(told("COMMIT"), ElementsAre("E 54000", "Z I"));
  EXPECT_THAT(told("SELECT price FROM item WHERE id = 1"), Contains("D 1.00"));
  EXPECT_THAT(told("NOTIFY other"), ElementsAre("C NOTIFY", "Z I")) << "nobody listens there";
  EXPECT_THAT(heard("COMMIT").size(), 5002u);
  EXPECT_THAT(told("NOTIFY news, 'again'"), ElementsAre("C NOTIFY", "Z I"));
  EXPECT_THAT(news(), ElementsAre("A 7 news again"));
}

TEST_F(ClientNotifyTest, AStandbyNeitherListensNorNotifies) {
  host_.standby = true;
  EXPECT_THAT(told("NOTIFY news"), Contains("E 25006"));
  EXPECT_THAT(told("LISTEN news"), Contains("E 25006"));
  EXPECT_THAT(told("UNLISTEN *"), Contains("C UNLISTEN"));
}

}  // namespace
}  // namespace mneme
