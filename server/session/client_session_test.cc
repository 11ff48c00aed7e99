// Goal: a client's messages are answered as PostgreSQL 15 answers them: types, order, codes and states.
// Method: a session on a database of its own, without sockets; scripts of messages, and their replies as
// lines.
#include "server/session/client_session.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "engine/table/access_gate.h"
#include "engine/table/row_wait.h"
#include "server/testing/session_fixture.h"

namespace mneme {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ClientSessionTest, StartsAsClientsExpect) {
  session_.receive(as_bytes(std::string_view("\0\0\0\x08\x04\xd2\x16\x2f", 8)));  // SSLRequest
  EXPECT_EQ(session_.advance(ClientSession::Waiting::kNever), ClientSession::Step::kWaits);
  EXPECT_EQ(as_text(session_.replies().take(Lsn{})), "N");
  const std::vector<std::string> lines = told(Frontend().startup());
  EXPECT_EQ(lines.front(), "R");
  EXPECT_THAT(lines,
              testing::IsSupersetOf({"S server_version", "S client_encoding", "S TimeZone", "S DateStyle",
                                     "S integer_datetimes", "S standard_conforming_strings", "K"}));
  EXPECT_EQ(lines.back(), "Z I");
}

class ClientSessionEncryption : public ClientSessionTest {
 protected:
  static constexpr std::string_view kSslRequest{"\0\0\0\x08\x04\xd2\x16\x2f", 8};
  static constexpr std::string_view kGssRequest{"\0\0\0\x08\x04\xd2\x16\x30", 8};

  // The bytes of the answer.
  std::string asked(ClientSession& session, std::string_view request, ClientSession::Step wanted) {
    session.receive(as_bytes(request));
    EXPECT_EQ(session.advance(ClientSession::Waiting::kNever), wanted);
    return std::string(as_text(session.replies().take(Lsn{})));
  }
};

TEST_F(ClientSessionEncryption, IsGrantedOnceWhereTheServerHasACertificate) {
  ClientSession session(host_, 8, 1, {.offers_tls = true, .needs_tls = true});
  EXPECT_EQ(asked(session, kGssRequest, ClientSession::Step::kWaits), "N");
  EXPECT_EQ(asked(session, kSslRequest, ClientSession::Step::kTls), "S");
  EXPECT_EQ(told(session, Frontend().startup()).back(), "Z I");
  ClientSession again(host_, 9, 1, {.offers_tls = true});
  EXPECT_EQ(asked(again, kSslRequest, ClientSession::Step::kTls), "S");
  EXPECT_THAT(told(again, Frontend().raw(kSslRequest)), ElementsAre("E 0A000"));
  ClientSession refused(host_, 10, 1);
  EXPECT_EQ(asked(refused, kSslRequest, ClientSession::Step::kWaits), "N");
  EXPECT_THAT(told(refused, Frontend().raw(kSslRequest)), ElementsAre("E 0A000"));
}

TEST_F(ClientSessionEncryption, BytesBehindTheRequestAreRefused) {
  for (const bool offers : {true, false}) {
    for (const std::string_view request : {kSslRequest, kGssRequest}) {
      ClientSession session(host_, 8, 1, {.offers_tls = offers});
      EXPECT_THAT(told(session, Frontend().raw(request).startup()), ElementsAre("E 08P01"));
    }
  }
}

TEST_F(ClientSessionEncryption, ASessionInTheClearIsRefusedWhereTlsIsRequired) {
  ClientSession session(host_, 8, 1, {.offers_tls = true, .needs_tls = true, .peer = "at 10.0.0.7:40312"});
  EXPECT_THAT(told(session, Frontend().startup()), ElementsAre("E 28000"));
}

TEST_F(ClientSessionEncryption, ScramOffersToBindToTheCertificateInsideTlsAlone) {
  const std::string path = directory_.path() + "/users";
  std::ofstream(path) << "ann secret\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  host_.asked = std::make_unique<const Users>(*Users::read(path));
  const auto mechanisms = [&](bool enciphered, const std::string& end_point) {
    ClientSession session(host_, 8, 1, {.offers_tls = true, .end_point = end_point});
    if (enciphered) {
      EXPECT_EQ(asked(session, kSslRequest, ClientSession::Step::kTls), "S");
    }
    return asked(session, as_text(Frontend().startup("ann").take()), ClientSession::Step::kWaits);
  };
  EXPECT_THAT(mechanisms(true, "digest"), HasSubstr(std::string("SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0", 33)));
  for (const std::string& other : {mechanisms(false, "digest"), mechanisms(true, "")}) {
    EXPECT_THAT(other, HasSubstr("SCRAM-SHA-256"));
    EXPECT_THAT(other, testing::Not(HasSubstr("PLUS")));
  }
}

TEST_F(ClientSessionTest, AStrangerIsAskedAndGetsNoFurther) {
  const std::string path = directory_.path() + "/users";
  std::ofstream(path) << "# the bank's\nann secret\n";
  EXPECT_FALSE(Users::read(path).ok());
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  host_.asked = std::make_unique<const Users>(*Users::read(path));
  EXPECT_THAT(told(Frontend().startup("ann")), ElementsAre("R"));
  EXPECT_THAT(told("SELECT 1"), ElementsAre("E 08P01"));
  ClientSession other(host_, 8, 1);
  EXPECT_THAT(told(other, Frontend().startup("nobody")), ElementsAre("R"));
  EXPECT_THAT(told(other, Frontend().sasl_first("n,,n=,r=abc")), ElementsAre("R"));
  EXPECT_THAT(told(other, Frontend().sasl("c=biws,r=abc,p=AAAA")), ElementsAre("E 08P01"));
}

TEST_F(ClientSessionTest, ACancelRequestReachesTheHost) {
  std::vector<std::byte> bytes;
  MessageWriter out(bytes);
  out.i32(16);
  out.i32(80877102);
  out.i32(42);
  out.i32(1);
  session_.receive(bytes);
  EXPECT_EQ(session_.advance(ClientSession::Waiting::kNever), ClientSession::Step::kEnds);
  EXPECT_EQ(host_.cancelled, 42U);
}

constexpr const char* kEndless =
    "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";

TEST_F(ClientSessionTest, StatementsEndAtTheirDeadline) {
  start();
  told("SET statement_timeout = '20ms'");
  EXPECT_THAT(told(kEndless), ElementsAre("E 57014", "Z I"));
  EXPECT_THAT(told(Frontend().parse(kEndless).bind().execute().parse("SELECT 1").bind().execute().sync()),
              ElementsAre("1", "2", "E 57014", "Z I"));
  EXPECT_THAT(told(std::string("SELECT id FROM item WHERE id = 1; ") + kEndless + "; SELECT 2"),
              ElementsAre("T id:23", "D 1", "C SELECT 1", "E 57014", "Z I"));
  told("BEGIN");
  EXPECT_THAT(told(kEndless), ElementsAre("E 57014", "Z E"));
  EXPECT_THAT(told("ROLLBACK"), ElementsAre("C ROLLBACK", "Z I"));
  EXPECT_THAT(told(std::string("SET statement_timeout = 0; DELETE FROM item WHERE id IN "
                               "(SELECT a FROM generate_series(1, 2) a, generate_series(1, 1000) b)")),
              ElementsAre("C SET", "C DELETE 2", "Z I"));
}

// No row is ever settled. A wait ends when it is asked to, alone.
class ClosedGate final : public AccessGate {
 public:
  explicit ClosedGate(Database& database) : database_(database) { database.set_gate(this); }
  ~ClosedGate() override { database_.set_gate(nullptr); }

  // Called where a wait begins.
  std::function<void()> at_wait = [] {};

  bool before_read(WorkerId, IndexId, const KeyRange&) override { return wait(); }
  bool before_insert(WorkerId, TableId, const std::byte*) override { return wait(); }
  bool before_change(WorkerId, TableId, ImageParts, std::span<const ColumnId>) override { return wait(); }
  bool before_move(WorkerId, TableId) override { return wait(); }
  bool before_erase(WorkerId, TableId) override { return wait(); }

 private:
  bool wait() const {
    at_wait();
    while (!RowWait::must_end()) std::this_thread::yield();
    return false;
  }

  Database& database_;
};

TEST_F(ClientSessionTest, AStatementWaitsForRowsThatAreRecoveredAsLongAsItsClientWants) {
  start();
  told("CREATE PROCEDURE add(p_id INT) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO item VALUES (p_id); END $$");
  const auto gate = std::make_unique<ClosedGate>(database_->working().database());
  told("SET mneme.settle_timeout = '1ms'");
  EXPECT_THAT(told("SELECT name FROM item WHERE id = 1"), ElementsAre("E 57P03", "Z I"));
  EXPECT_THAT(told("INSERT INTO item VALUES (9)"), ElementsAre("E 57P03", "Z I"));
  EXPECT_THAT(told("CALL add(10)"), ElementsAre("E 57P03", "Z I"));
  told("BEGIN");
  EXPECT_THAT(told("DELETE FROM item WHERE id = 1"), ElementsAre("E 57P03", "Z E"));
  told("ROLLBACK");
  told("SET mneme.settle_timeout = 0; SET statement_timeout = '1ms'");
  EXPECT_THAT(told("CALL add(10)"), ElementsAre("E 57014", "Z I"));
  EXPECT_THAT(told("DELETE FROM item WHERE id = 1"), ElementsAre("E 57014", "Z I"));

  const auto stop = std::make_shared<StopRequest>();
  ClientSession session(host_, 8, 1, {.stop = stop});
  told(session, Frontend().startup());
  gate->at_wait = [&] { stop->cancel(); };
  EXPECT_THAT(told(session, Frontend().query("CALL add(10)")), ElementsAre("E 57014", "Z I"));
  EXPECT_THAT(told(session, Frontend().query("DELETE FROM item WHERE id = 1")),
              ElementsAre("E 57014", "Z I"));
}

TEST_F(ClientSessionTest, ACancelEndsWhatRunsAndNothingLater) {
  const auto stop = std::make_shared<StopRequest>();
  ClientSession session(host_, 8, 1, {.stop = stop});
  told(session, Frontend().startup());
  stop->cancel();
  EXPECT_THAT(told(session, Frontend().query("SELECT 1")),
              ElementsAre("T ?column?:23", "D 1", "C SELECT 1", "Z I"));
  std::atomic<bool> is_done{false};
  std::thread canceller([&] {
    while (!is_done.load()) stop->cancel();
  });
  EXPECT_THAT(told(session, Frontend().query(kEndless)), ElementsAre("E 57014", "Z I"));
  is_done.store(true);
  canceller.join();
  told(session, Frontend().query("CREATE TABLE item (id INT PRIMARY KEY)"));
  told(session, Frontend().query("COPY item FROM STDIN"));
  told(session, Frontend().copy_data("1\n"));
  stop->cancel();
  EXPECT_THAT(told(session, Frontend().copy_data("2\n").bare('c')), ElementsAre("E 57014", "Z I"));
  EXPECT_THAT(told(session, Frontend().query("SELECT id FROM item")),
              ElementsAre("T id:23", "C SELECT 0", "Z I"));
}

// The block's client may be served by the same thread, which must not keep trying.
TEST_F(ClientSessionTest, AStatementThatMeetsAnOpenBlocksInsertLeavesItsThreadToOthers) {
  start();
  told("CREATE PROCEDURE add(p_id INT) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO item VALUES (p_id); END $$");
  const auto stop = std::make_shared<StopRequest>();
  ClientSession session(host_, 8, 1, {.stop = stop});
  told(session, Frontend().startup());
  const auto waits = [&](Frontend& messages) {
    session.receive(messages.take());
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(session.advance(ClientSession::Waiting::kNever), ClientSession::Step::kRetry);
  };
  Frontend nothing;
  const auto answer = [&] {
    while (session.advance(ClientSession::Waiting::kNever) == ClientSession::Step::kRetry) {
    }
    return told(session, nothing);
  };
  std::unique_ptr<Connection> other = host_.take_seat();
  ASSERT_TRUE(other->run("BEGIN").ok());
  ASSERT_TRUE(other->run("INSERT INTO item VALUES (10)").ok());
  waits(Frontend().query("INSERT INTO item VALUES (10)"));
  stop->cancel();
  EXPECT_THAT(answer(), ElementsAre("E 57014", "Z I"));
  waits(Frontend().query("CALL add(10)"));
  ASSERT_TRUE(other->run("COMMIT").ok());
  EXPECT_THAT(answer(), ElementsAre("E 23505", "Z I"));

  ASSERT_TRUE(other->run("BEGIN").ok());
  ASSERT_TRUE(other->run("INSERT INTO item VALUES (11)").ok());
  waits(Frontend().parse("INSERT INTO item VALUES ($1) RETURNING id").bind({"11"}).execute().bare('S'));
  ASSERT_TRUE(other->run("ROLLBACK").ok());
  EXPECT_THAT(answer(), ElementsAre("1", "2", "D 11", "C INSERT 0 1", "Z I"));
  host_.give_back(std::move(other));
}

TEST_F(ClientSessionTest, NothingBeginsOnceTheConnectionEnds) {
  start();
  session_.stop();
  EXPECT_THAT(told("DELETE FROM item"), IsEmpty());
  session_.end("57P01", "the server ends");
  EXPECT_THAT(told(""), ElementsAre("E 57P01"));
}

TEST_F(ClientSessionTest, DurationsAreShownAsPostgresqlShowsThem) {
  start();
  const auto shown = [&](const std::string& value) {
    const std::vector<std::string> set = told("SET statement_timeout = " + value);
    return set.front() == "C SET" ? told("SHOW statement_timeout")[1] : set.front();
  };
  EXPECT_EQ(shown("0"), "D 0");
  EXPECT_EQ(shown("1500"), "D 1500ms");
  EXPECT_EQ(shown("'60 s'"), "D 1min");
  EXPECT_EQ(shown("'1.5h'"), "D 90min");
  EXPECT_EQ(shown("'1d'"), "D 1d");
  EXPECT_EQ(shown("'2499us'"), "D 2ms");
  for (const char* bad : {"-1", "'x'", "'1 year'", "'2147483648'", "'nan'", "''"})
    EXPECT_EQ(shown(bad), "E 22023");
  told("SET statement_timeout = DEFAULT");
  EXPECT_EQ(told("SHOW statement_timeout")[1], "D 0");
}

TEST_F(ClientSessionTest, GarbageEndsItsConnectionAlone) {
  EXPECT_THAT(told(Frontend().raw(std::string_view("\xff\xff\xff\xff", 4))), ElementsAre("E 08P01"));
  ClientSession other(host_, 8, 1);
  EXPECT_EQ(told(other, Frontend().startup()).back(), "Z I");
  EXPECT_THAT(told(other, Frontend().raw(std::string_view("!\x00\x00\x00\x04", 5))), ElementsAre("E 08P01"));
  EXPECT_EQ(host_.free(), 2U);
}

TEST_F(ClientSessionTest, SimpleQueries) {
  start();
  EXPECT_THAT(told("SELECT id, name FROM item WHERE id < 3"),
              ElementsAre("T id:23,name:1043", "D 1|one", "D 2|two", "C SELECT 2", "Z I"));
  EXPECT_THAT(told("SELECT price FROM item WHERE id = 3"),
              ElementsAre("T price:1700", "D 1.50", "C SELECT 1", "Z I"));
  EXPECT_THAT(told(""), ElementsAre("I", "Z I"));
  EXPECT_THAT(told(" SELECT id FROM nowhere"), ElementsAre("E 42P01 at 17", "Z I"));
  EXPECT_THAT(told("SELEC"), ElementsAre(HasSubstr("E 42601"), "Z I"));
  EXPECT_THAT(told("INSERT INTO item VALUES (1, 'x', 1)"), ElementsAre("E 23505", "Z I"));
  EXPECT_THAT(told("DELETE FROM item WHERE id = 1 RETURNING name"),
              ElementsAre("T name:1043", "D one", "C DELETE 1", "Z I"));
}

TEST_F(ClientSessionTest, SeveralStatementsInAQueryAreOneTransaction) {
  start();
  EXPECT_THAT(told("DELETE FROM item WHERE id = 1; INSERT INTO item VALUES (2, 'x', 1); DELETE FROM item"),
              ElementsAre("C DELETE 1", "E 23505", "Z I"));
  EXPECT_THAT(told("SELECT count(*) FROM item"), testing::Contains("D 3"));
  EXPECT_THAT(told("DELETE FROM item WHERE id = 1; DELETE FROM item WHERE id = 2"),
              ElementsAre("C DELETE 1", "C DELETE 1", "Z I"));
  EXPECT_THAT(told("SELECT count(*) FROM item"), testing::Contains("D 1"));
  EXPECT_EQ(host_.free(), 2U);
}

TEST_F(ClientSessionTest, BlocksHoldTheirSeatAndFail) {
  start();
  EXPECT_THAT(told("BEGIN"), ElementsAre("C BEGIN", "Z T"));
  EXPECT_EQ(host_.free(), 1U);
  EXPECT_THAT(told("UPDATE item SET price = 9"), ElementsAre("C UPDATE 3", "Z T"));
  EXPECT_THAT(told("INSERT INTO item VALUES (1, 'x', 1)"), ElementsAre("E 23505", "Z E"));
  EXPECT_THAT(told("SELECT id FROM item"), ElementsAre("E 25P02", "Z E"));
  EXPECT_THAT(told("COMMIT"), ElementsAre("C ROLLBACK", "Z I"));
  EXPECT_EQ(host_.free(), 2U);
  EXPECT_THAT(told("SELECT id FROM item WHERE price = 9"), ElementsAre("T id:23", "C SELECT 0", "Z I"));
  EXPECT_THAT(told("COMMIT"), ElementsAre("N 25P01", "C COMMIT", "Z I"));
  EXPECT_THAT(told("BEGIN READ ONLY"), ElementsAre("C BEGIN", "Z T"));
  EXPECT_THAT(told("DELETE FROM item"), ElementsAre("E 25006", "Z E"));
  EXPECT_THAT(told("ROLLBACK"), ElementsAre("C ROLLBACK", "Z I"));
}

TEST_F(ClientSessionTest, ABlockThatIsLeftIsRolledBack) {
  start();
  {
    ClientSession other(host_, 8, 1);
    told(other, Frontend().startup());
    told(other, Frontend().query("BEGIN; DELETE FROM item"));
    EXPECT_EQ(host_.free(), 1U);
    EXPECT_EQ(other.advance(ClientSession::Waiting::kNever), ClientSession::Step::kWaits);
    told(other, Frontend().bare('X'));
  }
  EXPECT_EQ(host_.free(), 2U);
  EXPECT_THAT(told("SELECT count(*) FROM item"), testing::Contains("D 3"));
}

TEST_F(ClientSessionTest, ParametersTakeTheirTypesFromTheContext) {
  start();
  EXPECT_THAT(told(Frontend()
                       .parse("SELECT name FROM item WHERE id = $1 AND price > $2 AND name = $3")
                       .describe('S')
                       .bind({"2", "1.999", "two"})
                       .execute()
                       .sync()),
              ElementsAre("1", "t 23 1700 1043", "T name:1043", "2", "D two", "C SELECT 1", "Z I"));
  // A number keeps its digits until it is assigned.
  EXPECT_THAT(told(Frontend()
                       .parse("UPDATE item SET price = price + $1 WHERE id = $2")
                       .bind({"0.004", "1"})
                       .execute()
                       .sync()),
              ElementsAre("1", "2", "C UPDATE 1", "Z I"));
  EXPECT_THAT(told("SELECT price FROM item WHERE id = 1"), testing::Contains("D 1.00"));
  EXPECT_THAT(
      told(Frontend().parse("SELECT id FROM item WHERE price = $1").bind({"1.0000"}).execute().sync()),
      ElementsAre("1", "2", "D 1", "C SELECT 1", "Z I"));
  EXPECT_THAT(
      told(Frontend().parse("SELECT id FROM item WHERE id = ANY ($1)").bind({"{3,1}"}).execute().sync()),
      ElementsAre("1", "2", "D 1", "D 3", "C SELECT 2", "Z I"));
  // A value keeps its meaning where another execution brings more digits.
  EXPECT_THAT(told(Frontend()
                       .parse("SELECT id FROM item WHERE price = $1", "by_price")
                       .bind({"2"}, "by_price", "two")
                       .bind({"1.00000"}, "by_price", "one")
                       .execute(0, "one")
                       .execute(0, "two")
                       .sync()),
              ElementsAre("1", "2", "2", "D 1", "C SELECT 1", "D 2", "C SELECT 1", "Z I"));
  EXPECT_THAT(told(Frontend().parse("SELECT id FROM item WHERE id = $1").bind({"x"}).execute().sync()),
              ElementsAre("1", "E 22P02", "Z I"));
  EXPECT_THAT(told(Frontend().parse("SELECT id FROM item WHERE id = $2").sync()),
              ElementsAre("E 42P18 at 1", "Z I"));
}

TEST_F(ClientSessionTest, BlocksByExtendedQuery) {
  start();
  EXPECT_THAT(
      told(Frontend().parse("BEGIN").bind().execute().parse("DELETE FROM item").bind().execute().sync()),
      ElementsAre("1", "2", "C BEGIN", "1", "2", "C DELETE 3", "Z T"));
  EXPECT_THAT(told(Frontend().parse("COMMIT", "end").bind({}, "end", "p").execute(0, "p").sync()),
              ElementsAre("1", "2", "C COMMIT", "Z I"));
  EXPECT_THAT(told(Frontend().execute(0, "p").sync()), ElementsAre("E 34000", "Z I"));
  EXPECT_THAT(told("SELECT count(*) FROM item"), testing::Contains("D 0"));
}

TEST_F(ClientSessionTest, ChangesOfTheSchemaInBlocks) {
  start();
  EXPECT_THAT(told("BEGIN"), ElementsAre("C BEGIN", "Z T"));
  EXPECT_THAT(told("CREATE TABLE kept (n INT)"), ElementsAre("N 25001", "C CREATE TABLE", "Z T"));
  EXPECT_THAT(told("INSERT INTO kept VALUES (1)"), ElementsAre("C INSERT 0 1", "Z T"));
  EXPECT_THAT(told("DROP TABLE kept"), ElementsAre("E 25001", "Z E"));
  EXPECT_THAT(told("ROLLBACK"), ElementsAre("C ROLLBACK", "Z I"));
  EXPECT_THAT(told("SELECT n FROM kept"), ElementsAre("T n:23", "C SELECT 0", "Z I"));
  // What has only read loses nothing.
  EXPECT_THAT(told("BEGIN"), ElementsAre("C BEGIN", "Z T"));
  EXPECT_THAT(told("SELECT n FROM kept"), ElementsAre("T n:23", "C SELECT 0", "Z T"));
  EXPECT_THAT(told("ALTER TABLE kept ADD COLUMN m INT"), ElementsAre("N 25001", "C ALTER TABLE", "Z T"));
  EXPECT_THAT(told("INSERT INTO kept VALUES (1, 2)"), ElementsAre("C INSERT 0 1", "Z T"));
  EXPECT_THAT(told("COMMIT"), ElementsAre("C COMMIT", "Z I"));
  EXPECT_THAT(told("BEGIN"), ElementsAre("C BEGIN", "Z T"));
  EXPECT_THAT(told("SELECT n FROM kept FOR UPDATE"), ElementsAre("T n:23", "D 1", "C SELECT 1", "Z T"));
  EXPECT_THAT(told("DROP TABLE kept"), ElementsAre("E 25001", "Z E"));
  told("ROLLBACK");
}

// As clients write it that know an extension of PostgreSQL's.
TEST_F(ClientSessionTest, RandomUuidsHaveAnotherName) {
  start();
  EXPECT_THAT(told("CREATE TABLE marked (n INT, mark UUID DEFAULT uuid_generate_v4())"),
              ElementsAre("C CREATE TABLE", "Z I"));
  told("INSERT INTO marked (n) VALUES (1), (2)");
  EXPECT_THAT(told("SELECT count(DISTINCT mark) FROM marked"), testing::Contains("D 2"));
  EXPECT_THAT(told("SELECT uuid_generate_v4() IS NULL"), testing::Contains("D f"));
}

TEST_F(ClientSessionTest, TablesAreEmptiedAndGetKeys) {
  start();
  told("CREATE TABLE plain (a INT, b INT)");
  told("INSERT INTO plain VALUES (1, 10), (2, 20), (3, NULL)");
  EXPECT_THAT(told("UPDATE plain SET b = 20 WHERE a = 2"), ElementsAre("C UPDATE 1", "Z I"));
  EXPECT_THAT(told("ALTER TABLE plain ADD PRIMARY KEY (b)"), ElementsAre("E 23502", "Z I"));
  told("INSERT INTO plain VALUES (3, 3)");
  EXPECT_THAT(told("ALTER TABLE plain ADD PRIMARY KEY (a)"), ElementsAre("E 23505", "Z I"));
  EXPECT_THAT(told("DELETE FROM plain WHERE b = 3"), ElementsAre("C DELETE 1", "Z I"));
  EXPECT_THAT(told("ALTER TABLE plain ADD PRIMARY KEY (a)"), ElementsAre("C ALTER TABLE", "Z I"));
  EXPECT_THAT(told("ALTER TABLE plain ADD PRIMARY KEY (a)"), ElementsAre(HasSubstr("E 42P16"), "Z I"));
  EXPECT_THAT(told("UPDATE plain SET b = 30 WHERE a = 3"), ElementsAre("C UPDATE 1", "Z I"));
  EXPECT_THAT(told("SELECT a, b FROM plain"),
              ElementsAre("T a:23,b:23", "D 1|10", "D 2|20", "D 3|30", "C SELECT 3", "Z I"));
  EXPECT_THAT(told("TRUNCATE plain, item"), ElementsAre("C TRUNCATE TABLE", "Z I"));
  EXPECT_THAT(told("SELECT count(*) FROM plain"), testing::Contains("D 0"));
  EXPECT_THAT(told("INSERT INTO plain VALUES (1, 1)"), ElementsAre("C INSERT 0 1", "Z I"));
}

TEST_F(ClientSessionTest, FunctionsOfTheSession) {
  start();
  EXPECT_THAT(told("SELECT 1 AS one, current_user, pg_catalog.current_schema(), pg_backend_pid()"),
              ElementsAre("T one:23,current_user:25,current_schema:25,pg_backend_pid:23",
                          "D 1|tester|public|7", "C SELECT 1", "Z I"));
  EXPECT_THAT(told("SELECT id FROM public.item WHERE id = 1"), testing::Contains("D 1"));
  EXPECT_THAT(told("SELECT id FROM other.item"), ElementsAre("E 42P01 at 16", "Z I"));
}

TEST_F(ClientSessionTest, RowsComeInPortions) {
  start();
  EXPECT_THAT(told(Frontend().parse("SELECT id FROM item").bind().execute(2).execute(2).execute(2).sync()),
              ElementsAre("1", "2", "D 1", "D 2", "s", "D 3", "C SELECT 1", "C SELECT 0", "Z I"));
}

TEST_F(ClientSessionTest, AfterAnErrorAllIsSkippedToSync) {
  start();
  EXPECT_THAT(told(Frontend()
                       .parse("INSERT INTO item VALUES ($1, $2, 1)", "add")
                       .bind({"10", "ten"}, "add")
                       .execute()
                       .bind({"1", "one"}, "add")
                       .execute()
                       .bind({"11", "eleven"}, "add")
                       .execute()
                       .sync()),
              ElementsAre("1", "2", "C INSERT 0 1", "2", "E 23505", "Z I"));
  // All of it was one transaction.
  EXPECT_THAT(told("SELECT count(*) FROM item"), testing::Contains("D 3"));
  EXPECT_THAT(
      told(Frontend().bind({"10", "ten"}, "add").execute().bind({"11", "eleven"}, "add").execute().sync()),
      ElementsAre("2", "C INSERT 0 1", "2", "C INSERT 0 1", "Z I"));
  EXPECT_THAT(told(Frontend().close('S', "add").bind({"12", "x"}, "add").sync()),
              ElementsAre("3", "E 26000", "Z I"));
}

TEST_F(ClientSessionTest, NothingIsHandledBeforeTheRequestIsWhole) {
  start();
  EXPECT_THAT(told(Frontend().parse("SELECT id FROM item WHERE id = 1").bind().execute()), IsEmpty());
  EXPECT_THAT(told(Frontend().sync()), ElementsAre("1", "2", "D 1", "C SELECT 1", "Z I"));
}

TEST_F(ClientSessionTest, CallsTakeParametersAndGiveResults) {
  start();
  told(
      "CREATE PROCEDURE raise_price(p_id INT, p_by NUMERIC(8,2), INOUT r NUMERIC(8,2)) LANGUAGE plpgsql AS "
      "$$\n"
      "BEGIN UPDATE item SET price = price + p_by WHERE id = p_id RETURNING price INTO r; END $$");
  EXPECT_THAT(told("CALL raise_price(1, 0.25, NULL)"), ElementsAre("T r:1700", "D 1.25", "C CALL", "Z I"));
  EXPECT_THAT(told(Frontend()
                       .parse("CALL raise_price($1, $2, $3)")
                       .describe('S')
                       .bind({"1", "1", std::nullopt})
                       .execute()
                       .sync()),
              ElementsAre("1", "t 23 1700 1700", "T r:1700", "2", "D 2.25", "C CALL", "Z I"));
  EXPECT_THAT(told("CALL nothing()"), ElementsAre("E 42883 at 6", "Z I"));
}

TEST_F(ClientSessionTest, APreparedStatementFollowsTheSchema) {
  start();
  told(Frontend().parse("SELECT id FROM item WHERE name = $1", "by_name").sync());
  told("CREATE INDEX ON item (name)");
  EXPECT_THAT(told(Frontend().bind({"two"}, "by_name").execute().sync()),
              ElementsAre("2", "D 2", "C SELECT 1", "Z I"));
  told("DROP TABLE item");
  EXPECT_THAT(told(Frontend().bind({"two"}, "by_name").execute().sync()),
              ElementsAre("2", "E 42P01 at 16", "Z I"));
}

TEST_F(ClientSessionTest, CopiesInAndOut) {
  start();
  EXPECT_THAT(told("COPY item FROM STDIN"), ElementsAre("G"));
  EXPECT_THAT(told(Frontend().copy_data("4\tfo").copy_data("ur\t4.00\n5\t\\N\t5.25\n").bare('c')),
              ElementsAre("C COPY 2", "Z I"));
  EXPECT_THAT(told("COPY item (id, name) TO STDOUT (FORMAT csv, HEADER)"),
              ElementsAre("H", "d id,name\n", "d 1,one\n", "d 2,two\n", "d 3,\n", "d 4,four\n", "d 5,\n", "c",
                          "C COPY 5", "Z I"));
  EXPECT_THAT(told("COPY item FROM STDIN"), ElementsAre("G"));
  EXPECT_THAT(told(Frontend().copy_data("6\tx\n")), ElementsAre("E 22P04", "Z I"));
  EXPECT_THAT(told(Frontend().copy_data("7\ty\t1\n").bare('c')), IsEmpty());
  EXPECT_THAT(told("SELECT count(*) FROM item"), testing::Contains("D 5"));
  EXPECT_EQ(host_.free(), 2U);
}

TEST_F(ClientSessionTest, CopiedRowsWaitForThoseThatTheyReferTo) {
  start();
  told("CREATE TABLE part (id INT PRIMARY KEY, of_part INT REFERENCES part (id))");
  EXPECT_THAT(told("COPY part FROM STDIN"), ElementsAre("G"));
  EXPECT_THAT(told(Frontend().copy_data("1\t2\n2\t3\n3\t\\N\n4\t1\n5\t5\n").bare('c')),
              ElementsAre("C COPY 5", "Z I"));
  // 7 refers to a row that does not come: none of the statement's rows stays.
  EXPECT_THAT(told("COPY part FROM STDIN"), ElementsAre("G"));
  EXPECT_THAT(told(Frontend().copy_data("6\t7\n7\t8\n9\t\\N\n").bare('c')), ElementsAre("E 23503", "Z I"));
  EXPECT_THAT(told("SELECT id, of_part FROM part ORDER BY id"),
              testing::IsSupersetOf({"D 1|2", "D 2|3", "D 3|NULL", "D 4|1", "D 5|5", "C SELECT 5"}));
}

TEST_F(ClientSessionTest, SettingsAreTakenBackWithTheirBlock) {
  told(Frontend().startup());
  EXPECT_THAT(told("SET application_name = 'a'"), ElementsAre("C SET", "S application_name", "Z I"));
  EXPECT_THAT(told("BEGIN; SET application_name = 'b'"), testing::Contains("S application_name"));
  told("ROLLBACK");
  EXPECT_THAT(told("SHOW application_name"), ElementsAre("T application_name:25", "D a", "C SHOW", "Z I"));
  EXPECT_THAT(told("SET client_encoding = 'LATIN1'"), ElementsAre("E 22023", "Z I"));
  EXPECT_THAT(told("SET no_such_thing = 1"), ElementsAre("E 42704", "Z I"));
  EXPECT_THAT(told("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
              ElementsAre("C SET", "Z I"));
  EXPECT_THAT(told("SHOW TRANSACTION ISOLATION LEVEL"), testing::Contains("D repeatable read"));
}

TEST_F(ClientSessionTest, AnAdvisoryLockIsWaitedForAndEndsWithItsSession) {
  start();
  auto other = std::make_unique<ClientSession>(host_, 8, 99);
  Frontend startup;
  told(*other, startup.startup());
  EXPECT_THAT(told("SELECT pg_advisory_lock(5)"),
              ElementsAre("T pg_advisory_lock:25", "D ", "C SELECT 1", "Z I"));
  Frontend tries;
  EXPECT_THAT(told(*other, tries.query("SELECT pg_try_advisory_lock(5) AS got")),
              ElementsAre("T got:16", "D f", "C SELECT 1", "Z I"));
  other->receive(Frontend().query("SELECT pg_advisory_lock(5)").take());
  EXPECT_EQ(other->advance(ClientSession::Waiting::kAllowed), ClientSession::Step::kRetry);
  EXPECT_EQ(other->advance(ClientSession::Waiting::kAllowed), ClientSession::Step::kRetry);
  EXPECT_THAT(told("SELECT pg_advisory_unlock(5)"), testing::Contains("D t"));
  Frontend nothing;
  EXPECT_THAT(told(*other, nothing), testing::Contains("C SELECT 1"));
  EXPECT_THAT(told("SELECT pg_try_advisory_xact_lock(5)"), testing::Contains("D f"));
  other.reset();
  EXPECT_THAT(told("SELECT pg_try_advisory_xact_lock(5)"), testing::Contains("D t"));
  EXPECT_THAT(told("SELECT pg_advisory_unlock(5)"), testing::Contains("D f"));
}

TEST_F(ClientSessionTest, AQueryOfSeveralStatementsWaitsForItsRecord) {
  start();
  session_.receive(Frontend().query("DELETE FROM item WHERE id = 1; DELETE FROM item WHERE id = 2").take());
  session_.advance(ClientSession::Waiting::kNever);
  ASSERT_TRUE(session_.replies().gate());
  const Lsn gate = *session_.replies().gate();
  Replies replies;
  replies.add(session_.replies().take(gate));
  EXPECT_THAT(replies.take(), ElementsAre("C DELETE 1", "C DELETE 1"));
  replies.add(session_.replies().take(Lsn{gate.value + 1}));
  EXPECT_THAT(replies.take(), ElementsAre("Z I"));
}

TEST_F(ClientSessionTest, AReplyWaitsForItsRecord) {
  start();
  session_.receive(Frontend().query("DELETE FROM item WHERE id = 1").take());
  session_.advance(ClientSession::Waiting::kNever);
  ASSERT_TRUE(session_.replies().gate());
  EXPECT_TRUE(session_.replies().take(*session_.replies().gate()).empty());
  EXPECT_FALSE(session_.replies().take(Lsn{session_.replies().gate()->value + 1}).empty());
}

}  // namespace
}  // namespace mneme
