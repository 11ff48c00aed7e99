// Goal: a program that brings a database along finds in it after any end what its connections were told;
// connections live with changes of the schema that others make; what cannot be is refused with the reason;
// whatever the program does to its process (its locale, working directory, floating point, signals, children,
// threads that end), the database is as without.
//
// Method: databases in directories of the test's own, opened, left and opened again; procedures interpreted.
// Their machine code and kills are the end-to-end test's. A locale with a decimal comma is written by the
// test: what glibc would read of an installed one.
#include "embedding/embedded_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <cfenv>
#include <chrono>
#include <clocale>
#include <filesystem>
#include <fstream>
#include <limits>
#include <locale>
#include <map>
#include <set>
#include <thread>

#include "procedures/native/native_toolchain.h"

namespace mneme {
namespace {

using testing::HasSubstr;

Argument integer(int64_t number) {
  return Argument::of(Value::of_int(number));
}

class EmbeddedDatabaseTest : public testing::Test {
 protected:
  static constexpr const char* kTable = "CREATE TABLE counter (id INT PRIMARY KEY, n BIGINT NOT NULL)";
  static constexpr const char* kAdd =
      "CREATE PROCEDURE add(p_id INT, p_n BIGINT, INOUT p_now BIGINT) LANGUAGE plpgsql AS $$ BEGIN "
      "UPDATE counter SET n = n + p_n WHERE id = p_id RETURNING n INTO p_now; "
      "IF NOT FOUND THEN RAISE EXCEPTION 'no counter %', p_id; END IF; END; $$";

  void SetUp() override { std::filesystem::remove_all(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<EmbeddedDatabase> open(EmbeddedOptions options = {.connections = 2}) {
    options.execution = Execution::kInterpreted;
    auto opened = EmbeddedDatabase::open(directory_, std::move(options));
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return *std::move(opened);
  }
  static Connection connect(EmbeddedDatabase& database) {
    Result<Connection> connection = database.connect();
    EXPECT_TRUE(connection.ok()) << connection.error().message;
    return *std::move(connection);
  }
  static void run(Connection& connection, const std::string& text) {
    const StatementResult result = connection.run(text);
    EXPECT_TRUE(result.ok()) << text << ": " << result.message;
  }
  static std::string value(Connection& connection, const std::string& select) {
    const StatementResult result = connection.run(select);
    EXPECT_TRUE(result.ok()) << result.message;
    return result.rows.size() == 1 ? result.rows[0][0].value_or("NULL") : "not one row";
  }

  const std::string directory_ = testing::TempDir() + "mneme-embedded-" + std::to_string(getpid());
};

TEST_F(EmbeddedDatabaseTest, FindsAgainWhatItWasTold) {
  {
    const auto database = open();
    Connection connection = connect(*database);
    run(connection, kTable);
    run(connection, kAdd);
    run(connection, "INSERT INTO counter VALUES (1, 0)");
    for (int64_t i = 1; i <= 10; ++i) {
      const CallResult result = connection.call("add", {integer(1), integer(i)});
      ASSERT_TRUE(result.committed()) << result.message;
      ASSERT_EQ(result.results[0].scalar.as_int(), i * (i + 1) / 2);
    }
  }
  const auto database = open();
  Connection connection = connect(*database);
  EXPECT_EQ(value(connection, "SELECT n FROM counter WHERE id = 1"), "55");
  EXPECT_EQ(connection.call("add", {integer(1), integer(1)}).results[0].scalar.as_int(), 56);
}

// In a log that gathers until somebody waits.
TEST_F(EmbeddedDatabaseTest, ACallTellsOnlyOfWhatIsDurable) {
  const auto database = open({.log = {.group = {.interval = std::chrono::hours(1)}}});
  Connection connection = connect(*database);
  run(connection, kTable);
  run(connection, kAdd);
  run(connection, "INSERT INTO counter VALUES (1, 0)");
  for (int64_t i = 0; i < 3; ++i) {
    const CallResult result = connection.call("add", {integer(1), integer(1)});
    ASSERT_TRUE(result.committed()) << result.message;
    EXPECT_LT(result.lsn, database->working().log().durable());
  }
}

TEST_F(EmbeddedDatabaseTest, ARaisedCallHasChangedNothing) {
  const auto database = open();
  Connection connection = connect(*database);
  run(connection, kTable);
  run(connection, kAdd);
  const CallResult result = connection.call("add", {integer(7), integer(1)});
  EXPECT_EQ(result.status, CallResult::Status::kRolledBack);
  EXPECT_THAT(std::string(result.message), HasSubstr("no counter 7"));
}

TEST_F(EmbeddedDatabaseTest, CallsFollowTheSchemaThatAnotherConnectionChanges) {
  const auto database = open();
  Connection one = connect(*database);
  Connection other = connect(*database);
  run(one, kTable);
  run(one, "INSERT INTO counter VALUES (1, 5)");
  EXPECT_THAT(std::string(other.call("add", {integer(1), integer(1)}).message),
              HasSubstr("there is no procedure add"));
  run(one, kAdd);
  EXPECT_EQ(other.call("add", {integer(1), integer(1)}).results[0].scalar.as_int(), 6);
  run(one, "DROP PROCEDURE add");
  EXPECT_EQ(other.call("add", {integer(1), integer(1)}).status, CallResult::Status::kRefused);
  run(other,
      "CREATE PROCEDURE add(p_id INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE counter SET n = 0 WHERE id = p_id; "
      "END; $$");
  EXPECT_TRUE(one.call("add", {integer(1)}).committed());
  EXPECT_EQ(value(other, "SELECT n FROM counter WHERE id = 1"), "0");
}

TEST_F(EmbeddedDatabaseTest, RefusesCallsThatCanNotBe) {
  const auto database = open();
  Connection connection = connect(*database);
  run(connection, kTable);
  run(connection, kAdd);
  EXPECT_EQ(connection.call("add", {integer(1)}).status, CallResult::Status::kRefused);
  EXPECT_EQ(connection.call("add", {integer(1), integer(1), integer(1), integer(1)}).status,
            CallResult::Status::kRefused);
  EXPECT_EQ(connection.call("add", {integer(int64_t{1} << 40), integer(1)}).status,
            CallResult::Status::kRefused);
  run(connection, "BEGIN");
  EXPECT_THAT(std::string(connection.call("add", {integer(1), integer(1)}).message),
              HasSubstr("a transaction block is open"));
  run(connection, "ROLLBACK");
}

TEST_F(EmbeddedDatabaseTest, HasAsManyConnectionsAsItWasOpenedFor) {
  const auto database = open({.connections = 2});
  std::optional<Connection> one(connect(*database));
  const Connection other = connect(*database);
  const Result<Connection> third = database->connect();
  ASSERT_FALSE(third.ok());
  EXPECT_THAT(third.error().message, HasSubstr("has 2 connections, as many as it was opened for"));
  Connection moved = std::move(*one);
  one.reset();
  EXPECT_FALSE(database->connect().ok());
  { const Connection last = std::move(moved); }
  EXPECT_TRUE(database->connect().ok());
}

TEST_F(EmbeddedDatabaseTest, RefusesADirectoryThatIsInUse) {
  const auto database = open();
  const auto again = EmbeddedDatabase::open(directory_);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr(directory_));
  EXPECT_FALSE(EmbeddedDatabase::open(directory_ + "-none", {.connections = 0}).ok());
}

// One of each type; what is given is returned.
class TypedArgumentsTest : public EmbeddedDatabaseTest {
 protected:
  static constexpr const char* kEcho =
      "CREATE PROCEDURE echo(INOUT p_bool BOOLEAN, INOUT p_small SMALLINT, INOUT p_int INT, INOUT p_big "
      "BIGINT, "
      "INOUT p_numeric NUMERIC(5,2), INOUT p_double DOUBLE PRECISION, INOUT p_char CHAR(4), INOUT p_varchar "
      "VARCHAR(4), "
      "INOUT p_timestamp TIMESTAMP) LANGUAGE plpgsql AS $$ BEGIN "
      "INSERT INTO echoed VALUES (coalesce(p_int, 0), p_bool, p_small, p_int, p_big, p_numeric, p_double, "
      "p_char, p_varchar, p_timestamp); END; $$";
  static constexpr const char* kSum =
      "CREATE PROCEDURE sum(p_list INT[], INOUT p_sum BIGINT) LANGUAGE plpgsql AS $$ BEGIN p_sum := 0; "
      "FOR i IN 1..cardinality(p_list) LOOP p_sum := p_sum + coalesce(p_list[i], 100); END LOOP; END; $$";
  enum Parameter : size_t {
    kBool,
    kSmall,
    kInt,
    kBig,
    kNumeric,
    kDouble,
    kChar,
    kVarchar,
    kTimestamp,
    kParameters
  };

  void SetUp() override {
    EmbeddedDatabaseTest::SetUp();
    database_ = open();
    connection_.emplace(connect(*database_));
    run(*connection_,
        "CREATE TABLE echoed (id INT PRIMARY KEY, b BOOLEAN, s SMALLINT, i INT, l BIGINT, n NUMERIC(5,2), d "
        "DOUBLE PRECISION, c CHAR(4), "
        "v VARCHAR(4), t TIMESTAMP)");
    run(*connection_, kEcho);
    run(*connection_, kSum);
  }
  void TearDown() override {
    connection_.reset();
    database_.reset();
    EmbeddedDatabaseTest::TearDown();
  }
  CallResult echo(Parameter parameter, const Argument& argument) {
    std::vector<Argument> arguments(kParameters);
    arguments[parameter] = argument;
    return connection_->call("echo", arguments);
  }
  void expect_refused(const CallResult& result, std::string_view sqlstate, const std::string& message) {
    EXPECT_EQ(result.status, CallResult::Status::kRefused) << message;
    EXPECT_EQ(result.sqlstate, sqlstate) << message << ": " << result.message;
    EXPECT_THAT(std::string(result.message), HasSubstr(message));
    EXPECT_EQ(value(*connection_, "SELECT count(*) FROM echoed"), "0");
  }

  std::unique_ptr<EmbeddedDatabase> database_;
  std::optional<Connection> connection_;
};

TEST_F(TypedArgumentsTest, TakesWhatIsMadeForEachType) {
  const std::vector<Argument> given = {Argument::of(Value::of_bool(true)),
                                       Argument::of(Value::of_int(-32768)),
                                       Argument::of(Value::of_int(2147483647)),
                                       Argument::of(Value::of_int(std::numeric_limits<int64_t>::min())),
                                       Argument::of(Value::of_numeric(-99999)),
                                       Argument::of(Value::of_double(-0.0)),
                                       Argument::of(Value::of_text("ab")),
                                       Argument::of(Value::of_text("ab  ")),
                                       Argument::of(Value::of_int(252455615999999999))};
  const CallResult result = connection_->call("echo", given);
  ASSERT_TRUE(result.committed()) << result.message;
  ASSERT_EQ(result.results.size(), given.size());
  EXPECT_EQ(result.results[kVarchar].scalar.as_text(), "ab  ");
  EXPECT_EQ(value(*connection_,
                  "SELECT CAST(n AS TEXT) || ' ' || CAST(t AS TEXT) || ' ' || CAST(d AS TEXT) FROM echoed"),
            "-999.99 9999-12-31 23:59:59.999999 -0");
  EXPECT_TRUE(echo(kBool, integer(0)).committed()) << "a boolean's representation";
  run(*connection_, "DELETE FROM echoed WHERE id = 0");
  EXPECT_TRUE(echo(kInt, Argument::of(Value::null())).committed());

  const Value list[] = {Value::of_int(1), Value::null(), Value::of_int(3)};
  EXPECT_EQ(connection_->call("sum", {Argument::of_array(list)}).results[0].scalar.as_int(), 104);
  EXPECT_EQ(connection_->call("sum", {Argument::of_array({})}).results[0].scalar.as_int(), 0);
}

TEST_F(TypedArgumentsTest, RefusesAValueThatWasMadeForAnotherType) {
  const Argument boolean = Argument::of(Value::of_bool(true));
  const Argument whole = integer(1);
  const Argument numeric = Argument::of(Value::of_numeric(100));
  const Argument real = Argument::of(Value::of_double(1));
  const Argument text = Argument::of(Value::of_text("1"));
  const std::map<Parameter, std::pair<std::string, std::vector<Argument>>> kinds = {
      {kBool, {"boolean", {numeric, real, text}}},
      {kSmall, {"smallint", {boolean, numeric, real, text}}},
      {kInt, {"int", {boolean, numeric, real, text}}},
      {kBig, {"bigint", {boolean, numeric, real, text}}},
      {kNumeric, {"numeric(5,2)", {boolean, whole, real, text}}},
      {kDouble, {"double precision", {boolean, whole, numeric, text}}},
      {kChar, {"char(4)", {boolean, whole, numeric, real}}},
      {kVarchar, {"varchar(4)", {boolean, whole, numeric, real}}},
      {kTimestamp, {"timestamp", {boolean, numeric, real, text}}}};
  for (const auto& [parameter, kind] : kinds) {
    for (const Argument& argument : kind.second) {
      expect_refused(echo(parameter, argument), "42804",
                     "argument " + std::to_string(parameter + 1) + " of echo, of type " + kind.first +
                         ", is given as a");
    }
  }
}

TEST_F(TypedArgumentsTest, RefusesWhatNoStatementCouldGive) {
  constexpr int64_t kYear10000 = 252455616000000000;
  expect_refused(echo(kTimestamp, integer(kYear10000)), "22008", "lies outside of the years 1 to 9999");
  expect_refused(echo(kTimestamp, integer(std::numeric_limits<int64_t>::min())), "22008", "lies outside");
  expect_refused(echo(kBool, integer(2)), "22P02", "is neither true nor false");
  expect_refused(echo(kSmall, integer(32768)), "22003", "is out of range");
  expect_refused(echo(kInt, integer(-2147483649)), "22003", "is out of range");
  expect_refused(echo(kNumeric, Argument::of(Value::of_numeric(100000))), "22003", "has too many digits");
  expect_refused(echo(kVarchar, Argument::of(Value::of_text("12345"))), "22001", "is too long");
  expect_refused(echo(kVarchar, Argument::of(Value::of_text("\xc3\xa4"))), "22P02", "not ASCII");
  expect_refused(echo(kVarchar, Argument::of(Value::of_text({"a\0b", 3}))), "22P02", "not ASCII");
  expect_refused(echo(kChar, Argument::of(Value::of_text("a "))), "22P02", "keeps the blanks at its end");

  const Value list[] = {Value::of_int(1)};
  expect_refused(echo(kInt, Argument::of_array(list)), "42804", "is given as an array");
  expect_refused(connection_->call("sum", {integer(1)}), "42804",
                 "argument 1 of sum, of type int[], is given as a single value");
  const Value texts[] = {Value::of_int(1), Value::of_text("2")};
  expect_refused(connection_->call("sum", {Argument::of_array(texts)}), "42804", "is given as a text");
  const Value large[] = {Value::of_int(1), Value::of_int(int64_t{1} << 31)};
  expect_refused(connection_->call("sum", {Argument::of_array(large)}), "22003", "is out of range");
  expect_refused(connection_->call("none", {}), "42883", "there is no procedure none");
  expect_refused(connection_->call("sum", {integer(1), integer(1), integer(1)}), "42883",
                 "takes 2 arguments, not 3");
}

TEST_F(EmbeddedDatabaseTest, RefusesAChangeOfTheSchemaThatWouldWaitForItsOwnThread) {
  const auto database = open({.connections = 3, .lock_timeout = std::nullopt});
  Connection one = connect(*database);
  Connection other = connect(*database);
  run(one, kTable);
  for (const std::string end : {"COMMIT", "ROLLBACK"}) {
    run(one, "BEGIN");
    run(one, "INSERT INTO counter VALUES (1, 1)");
    for (const std::string change : {"CREATE TABLE more (id INT PRIMARY KEY)", kAdd, "DROP TABLE counter"}) {
      const StatementResult refused = other.run(change);
      EXPECT_EQ(refused.sqlstate, "55P03");
      EXPECT_THAT(refused.message,
                  HasSubstr("the transaction block that this thread has open on another connection"));
    }
    run(other, "SELECT n FROM counter");
    run(one, end);
    run(other, "DELETE FROM counter");
  }
  // Also a failed block is one.
  run(one, "BEGIN");
  EXPECT_FALSE(one.run("SELECT nothing").ok());
  EXPECT_EQ(other.run("CREATE TABLE more (id INT PRIMARY KEY)").sqlstate, "55P03");
  // One that was begun by a thread that has ended belongs to the one that goes on with it.
  run(one, "ROLLBACK");
  std::thread([&] { run(one, "BEGIN"); }).join();
  run(one, "INSERT INTO counter VALUES (1, 1)");
  EXPECT_EQ(other.run("CREATE TABLE more (id INT PRIMARY KEY)").sqlstate, "55P03");
  run(one, "COMMIT");
  run(other, "CREATE TABLE more (id INT PRIMARY KEY)");
}

TEST_F(EmbeddedDatabaseTest, RefusesStatementsThatWouldWaitForAChangeThatWaitsForTheirThread) {
  const auto database = open({.connections = 3, .lock_timeout = std::nullopt});
  Connection one = connect(*database);
  Connection other = connect(*database);
  run(one, kTable);
  run(one, kAdd);
  run(one, "INSERT INTO counter VALUES (1, 0)");
  run(one, "BEGIN");
  std::thread changer([&] {
    Connection third = connect(*database);
    run(third, "CREATE TABLE more (id INT PRIMARY KEY)");
  });
  // Until the change waits, both run.
  StatementResult refused;
  do refused = other.run("SELECT n FROM counter");
  while (refused.ok());
  EXPECT_EQ(refused.sqlstate, "40P01") << refused.message;
  const CallResult call = other.call("add", {integer(1), integer(1)});
  EXPECT_EQ(call.status, CallResult::Status::kRefused);
  EXPECT_EQ(call.sqlstate, "40P01") << call.message;
  EXPECT_EQ(other.run("CREATE TABLE most (id INT PRIMARY KEY)").sqlstate, "55P03");
  run(one, "UPDATE counter SET n = 7 WHERE id = 1");
  run(one, "COMMIT");
  changer.join();
  EXPECT_EQ(value(other, "SELECT n FROM counter"), "7");
  run(other, "DROP TABLE more");
}

TEST_F(EmbeddedDatabaseTest, AChangeOfTheSchemaWaitsNoLongerThanItsTimeForAnotherThreadsBlock) {
  const auto database = open({.connections = 2, .lock_timeout = std::chrono::milliseconds(1)});
  Connection one = connect(*database);
  Connection other = connect(*database);
  run(one, kTable);
  std::thread([&] { run(one, "BEGIN"); }).join();
  const StatementResult refused = other.run("DROP TABLE counter");
  EXPECT_EQ(refused.sqlstate, "55P03");
  EXPECT_THAT(refused.message,
              HasSubstr("DROP TABLE has waited 1 ms for transactions that other connections have open"));
  run(other, "INSERT INTO counter VALUES (1, 1)");
  run(one, "COMMIT");
  run(other, "DROP TABLE counter");
}

// What glibc reads of an installed locale (locale/localeinfo.h): a number that says which category and layout
// it is, the count of entries, where each begins, and the entries: the decimal point, the thousands'
// separator, grouping, the first two as wide characters, the character set.
void write_comma_locale(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "comma");
  const std::string entries(
      ","
      "\0"
      "."
      "\0"
      "\3\3\0\0"
      ","
      "\0\0\0"
      "."
      "\0\0\0"
      "ANSI_X3.4-1968\0",
      31);
  const uint32_t head[] = {0x20031115 ^ LC_NUMERIC, 6, 32, 34, 36, 40, 44, 48};
  std::ofstream file(folder / "comma" / "LC_NUMERIC", std::ios::binary);
  file.write(reinterpret_cast<const char*>(head), sizeof head);
  file.write(entries.data(), static_cast<std::streamsize>(entries.size()));
}

class CommaLocale {
 public:
  CommaLocale() {
    write_comma_locale(folder_);
    ::setenv("LOCPATH", folder_.c_str(), 1);
    const bool is_set = std::setlocale(LC_NUMERIC, "comma") != nullptr;
    EXPECT_TRUE(is_set && std::string(std::localeconv()->decimal_point) == ",");
    std::locale::global(std::locale(std::locale::classic(), new Grouped));
  }
  ~CommaLocale() {
    std::locale::global(std::locale::classic());
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
    std::filesystem::remove_all(folder_);
  }

 private:
  struct Grouped : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::filesystem::path folder_ = testing::TempDir() + "mneme-locale-" + std::to_string(getpid());
};

// Everything that reads or writes a fraction.
constexpr const char* kFractions =
    "SELECT CAST('1.5' AS DOUBLE PRECISION), CAST(CAST(1234567.25 AS DOUBLE PRECISION) AS TEXT), "
    "CAST(CAST('2.675' AS DOUBLE PRECISION) AS NUMERIC(10,2)), CAST(1.25 AS DOUBLE PRECISION) * 3, "
    "CAST('9007199254740993' AS DOUBLE PRECISION), CAST('5e-324' AS DOUBLE PRECISION), CAST(CAST(12345.678 "
    "AS NUMERIC(10,3)) AS TEXT), "
    "CAST('2024-02-29 01:02:03.5' AS TIMESTAMP) FROM counter WHERE id = 1";

TEST_F(EmbeddedDatabaseTest, ADecimalCommaInTheProcessesLocaleChangesNothing) {
  std::vector<std::vector<std::optional<std::string>>> before;
  {
    const auto database = open();
    Connection connection = connect(*database);
    run(connection, kTable);
    run(connection, "INSERT INTO counter VALUES (1, 1)");
    const StatementResult fractions = connection.run(kFractions);
    ASSERT_TRUE(fractions.ok()) << fractions.message;
    before = fractions.rows;
    ASSERT_EQ(before.size(), 1u);
    EXPECT_EQ(before[0][0], "1.5");
    EXPECT_EQ(before[0][1], "1234567.25");
    run(connection, "CREATE TABLE kept (id INT PRIMARY KEY, d DOUBLE PRECISION, t VARCHAR(30))");
    run(connection,
        "CREATE PROCEDURE keep(p_id INT, p_text VARCHAR(30)) LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO kept VALUES (p_id, CAST(p_text AS DOUBLE PRECISION), CAST(CAST(p_text AS DOUBLE "
        "PRECISION) / 3 AS TEXT)); END; $$");
    ASSERT_TRUE(connection.call("keep", {integer(1), Argument::of(Value::of_text("2.5"))}).committed());
  }
  std::vector<std::vector<std::optional<std::string>>> kept;
  {
    const CommaLocale locale;
    const auto database = open();  // replays the call
    Connection connection = connect(*database);
    EXPECT_EQ(connection.run(kFractions).rows, before);
    const CallResult call = connection.call("keep", {integer(2), Argument::of(Value::of_text("2.5"))});
    EXPECT_TRUE(call.committed()) << call.message;
    EXPECT_FALSE(connection.call("keep", {integer(3), Argument::of(Value::of_text("2,5"))}).committed());
    kept = connection.run("SELECT d, t FROM kept ORDER BY id").rows;
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_EQ(kept[0], kept[1]);
    EXPECT_EQ(kept[0][0], "2.5");
  }
  const auto database = open();
  EXPECT_EQ(connect(*database).run("SELECT d, t FROM kept ORDER BY id").rows, kept);
}

// A third is rounded, 5e-324 is flushed to zero, and 0.0 / 0.0 traps, where the thread says so.
TEST_F(EmbeddedDatabaseTest, AThreadsFloatingPointModeChangesNothingAndStays) {
  std::vector<std::vector<std::optional<std::string>>> kept;
  {
    const auto database = open();
    Connection connection = connect(*database);
    run(connection,
        "CREATE TABLE kept (id INT PRIMARY KEY, third DOUBLE PRECISION, tiny DOUBLE PRECISION, sum DOUBLE "
        "PRECISION)");
    run(connection,
        "CREATE PROCEDURE keep(p_id INT, p_one DOUBLE PRECISION, p_tiny DOUBLE PRECISION) LANGUAGE plpgsql "
        "AS $$ BEGIN "
        "INSERT INTO kept VALUES (p_id, p_one / 3, p_tiny / 2, CAST('0.1' AS DOUBLE PRECISION) + p_one); "
        "END; $$");
    const Argument one = Argument::of(Value::of_double(1));
    const Argument tiny = Argument::of(Value::of_double(4e-320));
    ASSERT_TRUE(connection.call("keep", {integer(1), one, tiny}).committed());

    const uint32_t plain = _mm_getcsr();
    std::fesetround(FE_UPWARD);
    EXPECT_TRUE(connection.call("keep", {integer(2), one, tiny}).committed());
    run(connection, "INSERT INTO kept VALUES (12, CAST(1 AS DOUBLE PRECISION) / 3, 0, 0)");
    EXPECT_EQ(std::fegetround(), FE_UPWARD) << "the program's stays";
    std::fesetround(FE_TONEAREST);
    constexpr uint32_t kFlushToZero = 0x8040;
    _mm_setcsr(plain | kFlushToZero);
    EXPECT_TRUE(connection.call("keep", {integer(3), one, tiny}).committed());
    EXPECT_EQ(_mm_getcsr() & kFlushToZero, kFlushToZero);
    _mm_setcsr(plain);
    ::feenableexcept(FE_INEXACT | FE_UNDERFLOW);
    EXPECT_TRUE(connection.call("keep", {integer(4), one, tiny}).committed());
    std::fesetenv(FE_DFL_ENV);
    kept = connection.run("SELECT third, tiny, sum FROM kept WHERE id < 10 ORDER BY id").rows;
    ASSERT_EQ(kept.size(), 4u);
    EXPECT_NE(kept[0][1], "0");
    for (const auto& row : kept) EXPECT_EQ(row, kept[0]);
    EXPECT_EQ(value(connection, "SELECT third FROM kept WHERE id = 12"), kept[0][0]);
  }
  std::fesetround(FE_UPWARD);
  {
    const auto database = open();
    EXPECT_EQ(connect(*database).run("SELECT third, tiny, sum FROM kept WHERE id < 10 ORDER BY id").rows,
              kept);
  }
  std::fesetround(FE_TONEAREST);
}

TEST_F(EmbeddedDatabaseTest, ARelativeDirectoryIsOneOfTheWorkingDirectoryOfItsOpening) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directories(directory_ + "/here");
  std::filesystem::create_directories(directory_ + "/there");
  std::filesystem::current_path(directory_ + "/here");
  {
    DurableLogOptions log;
    log.segment_bytes = size_t{1} << 20;
    log.ring_bytes = size_t{1} << 20;
    auto opened = EmbeddedDatabase::open("bank", {.execution = Execution::kInterpreted, .log = log});
    std::filesystem::current_path(directory_ + "/there");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Connection connection = connect(**opened);
    run(connection, "CREATE TABLE long (id INT PRIMARY KEY, t VARCHAR(8000))");
    run(connection, "INSERT INTO long VALUES (0, repeat('x', 8000))");
    // Over several segments, which are made one after the other.
    for (int i = 1; i <= 400; ++i)
      run(connection, "INSERT INTO long VALUES (" + std::to_string(i) + ", repeat('x', 8000))");
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/there"));
  std::filesystem::current_path(directory_ + "/here");
  {
    auto opened = EmbeddedDatabase::open("bank", {.execution = Execution::kInterpreted});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Connection connection = connect(**opened);
    EXPECT_EQ(value(connection, "SELECT count(*) FROM long"), "401");
  }
  std::filesystem::current_path(before);
  EXPECT_FALSE(EmbeddedDatabase::open("").ok());
}

// Runs in a child of fork(); its status, 0 if all went well.
template <typename Do>
int in_child(Do do_it) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(do_it());
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(EmbeddedDatabaseTest, AChildOfForkHasNotGotTheDatabase) {
  auto database = open();
  std::optional<Connection> connection(connect(*database));
  run(*connection, kTable);
  run(*connection, kAdd);
  run(*connection, "INSERT INTO counter VALUES (1, 0)");
  run(*connection, "BEGIN");
  run(*connection, "UPDATE counter SET n = 1 WHERE id = 1");
  EXPECT_EQ(in_child([&] {
              const StatementResult statement = connection->run("COMMIT");
              if (statement.sqlstate != "08003" || statement.message.find("forked") == std::string::npos)
                return 1;
              const CallResult call = connection->call("add", {integer(1), integer(1)});
              if (call.status != CallResult::Status::kRefused || call.sqlstate != "08003") return 2;
              if (database->connect().ok()) return 3;
              if (EmbeddedDatabase::open(directory_, {.execution = Execution::kInterpreted}).ok()) return 4;
              connection.reset();
              database.reset();
              return 0;
            }),
            0);
  run(*connection, "COMMIT");
  EXPECT_TRUE(connection->call("add", {integer(1), integer(1)}).committed());
  EXPECT_EQ(value(*connection, "SELECT n FROM counter"), "2");
}

// Over each kind of log whose files are locked.
TEST_F(EmbeddedDatabaseTest, AChildOfForkThatLivesOnDoesNotKeepTheDirectory) {
  std::vector<DurableLogOptions> logs(4);
  logs[1].io.method = IoMethod::kThreads;
  logs[2].layout = LogLayout::kEpoch;
  logs[3].device = LogDeviceKind::kNvm;
  for (DurableLogOptions& log : logs) {
    std::filesystem::remove_all(directory_);
    log.segment_bytes = size_t{4} << 20;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    auto database = open({.log = log});
    std::optional<Connection> connection(connect(*database));
    run(*connection, kTable);
    const pid_t child = ::fork();
    if (child == 0) {
      char byte;
      ::close(ends[1]);
      ::_exit(static_cast<int>(::read(ends[0], &byte, 1)));
    }
    run(*connection, "INSERT INTO counter VALUES (1, 3)");
    connection.reset();
    database.reset();
    database = open({.log = log});
    if (database != nullptr) {
      EXPECT_EQ(value(*std::make_unique<Connection>(connect(*database)), "SELECT n FROM counter"), "3");
    }
    ::close(ends[0]);
    ::close(ends[1]);
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    database.reset();
  }
}

TEST_F(EmbeddedDatabaseTest, WhatNoticeThrowsIsDropped) {
  int notices = 0;
  {
    const auto database = open();
    Connection connection = connect(*database);
    run(connection, kTable);
    run(connection, kAdd);
    run(connection, "INSERT INTO counter VALUES (1, 0)");
  }
  // A compiler that isn't there is told of in the first call.
  ::setenv("MNEME_CXX", "/nonexistent", 1);
  std::optional<Connection> connection;
  std::string refused;
  auto opened = EmbeddedDatabase::open(directory_, {.connections = 2, .notice = [&](const std::string&) {
                                                      ++notices;
                                                      if (connection)
                                                        refused = connection->run("SELECT 1").message;
                                                      throw std::runtime_error("a notice");
                                                    }});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  connection.emplace(connect(**opened));
  const CallResult result = connection->call("add", {integer(1), integer(1)});
  EXPECT_TRUE(result.committed()) << result.message;
  EXPECT_GT(notices, 0);
  EXPECT_THAT(refused, HasSubstr("this connection is running another statement or call"));
  ::unsetenv("MNEME_CXX");
  run(*connection, "DROP PROCEDURE add");
  EXPECT_EQ(value(*connection, "SELECT n FROM counter"), "1");
}

TEST_F(EmbeddedDatabaseTest, AConnectionThatWasMovedFromRefuses) {
  const auto database = open();
  Connection one = connect(*database);
  Connection moved = std::move(one);
  EXPECT_EQ(one.run("BEGIN").sqlstate, "08003");
  EXPECT_EQ(one.call("add", {}).status, CallResult::Status::kRefused);
  run(moved, kTable);
}

TEST_F(EmbeddedDatabaseTest, LivesAsLongAsItsLastConnection) {
  auto database = open();
  std::optional<Connection> connection(connect(*database));
  run(*connection, kTable);
  database.reset();
  run(*connection, "INSERT INTO counter VALUES (1, 9)");
  EXPECT_FALSE(EmbeddedDatabase::open(directory_).ok()) << "it is still open";
  connection.reset();
  database = open();
  EXPECT_EQ(value(*(connection.emplace(connect(*database)), &*connection), "SELECT n FROM counter"), "9");
}

TEST_F(EmbeddedDatabaseTest, MayBeAStaticObject) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run_and_exit = [this] {
    static std::optional<Connection> connection;  // ends after the database
    static std::unique_ptr<EmbeddedDatabase> database;
    database = open();
    connection.emplace(connect(*database));
    run(*connection, kTable);
    run(*connection, "BEGIN");
    run(*connection, "INSERT INTO counter VALUES (1, 1)");
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(run_and_exit(), testing::ExitedWithCode(0), "");
}

std::set<std::string> names_in(const char* directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.insert(entry.path().filename().string());
  return names;
}

std::string link_of(const std::string& descriptor) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + descriptor, error).string();
}

TEST_F(EmbeddedDatabaseTest, OpeningAndClosingLeavesNothingOpen) {
  const auto cycle = [&] {
    const auto database = open();
    Connection connection = connect(*database);
    connection.run(kTable);
    connection.run("DROP TABLE counter");
    EXPECT_FALSE(EmbeddedDatabase::open(directory_, {.execution = Execution::kInterpreted}).ok());
  };
  for (int i = 0; i < 3; ++i) cycle();
  const size_t descriptors = names_in("/proc/self/fd").size();
  const size_t threads = names_in("/proc/self/task").size();
  for (int i = 0; i < 10; ++i) cycle();
  std::string open_now;
  for (const std::string& descriptor : names_in("/proc/self/fd"))
    open_now += descriptor + " " + link_of(descriptor) + "\n";
  EXPECT_LE(names_in("/proc/self/fd").size(), descriptors) << open_now;
  // The library for parallel loops keeps its own, as many as there are processors.
  EXPECT_LE(names_in("/proc/self/task").size(), threads + std::thread::hardware_concurrency());
}

TEST_F(EmbeddedDatabaseTest, RefusesTheSameDirectoryByAnotherName) {
  const std::string link = directory_ + "-link";
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(directory_, link);
  {
    const auto database = open();
    EXPECT_FALSE(EmbeddedDatabase::open(link).ok());
    EXPECT_FALSE(
        EmbeddedDatabase::open(directory_ + "/../" + std::filesystem::path(directory_).filename().string())
            .ok());
    const auto second =
        EmbeddedDatabase::open(directory_ + "-second", {.execution = Execution::kInterpreted});
    EXPECT_TRUE(second.ok()) << "two databases in one process";
  }
  EXPECT_TRUE(EmbeddedDatabase::open(link, {.execution = Execution::kInterpreted}).ok());
  std::filesystem::remove(link);
  std::filesystem::remove_all(directory_ + "-second");
}

TEST_F(EmbeddedDatabaseTest, ThreadsOfADatabaseRunNoHandlersOfTheProgram) {
  const std::set<std::string> before = names_in("/proc/self/task");
  const auto database = open();
  Connection connection = connect(*database);
  run(connection, kTable);
  int looked_at = 0;
  int ending = 0;
  for (const std::string& thread : names_in("/proc/self/task")) {
    if (before.contains(thread)) continue;
    std::ifstream status("/proc/self/task/" + thread + "/status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      const uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
      for (const int signal : {SIGALRM, SIGUSR1, SIGCHLD, SIGPROF, SIGPIPE})
        EXPECT_TRUE(blocked >> (signal - 1) & 1) << signal;
      // the kernel's own threads, of io_uring, block everything
      ending += blocked >> (SIGTERM - 1) & 1 ? 0 : 1;
      ++looked_at;
    }
  }
  EXPECT_GT(looked_at, 0);
  EXPECT_GT(ending, 0);
  sigset_t own;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_FALSE(sigismember(&own, SIGALRM)) << "the program's own mask stays";
}

// Each system call that waits is cut short by a handler that asks for no restart.
TEST_F(EmbeddedDatabaseTest, SignalsInterruptNothing) {
  static std::atomic<int> handled{0};
  struct sigaction action {};
  action.sa_handler = [](int) { handled.fetch_add(1); };
  struct sigaction former {};
  ASSERT_EQ(::sigaction(SIGALRM, &action, &former), 0);
  const itimerval often{{0, 500}, {0, 500}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  int64_t rows = 0;
  for (int life = 0; life < 3; ++life) {
    const auto database = open();
    if (database == nullptr) break;
    Connection connection = connect(*database);
    if (life == 0) run(connection, kTable);
    const int before = handled.load();
    // So long that some signals come meanwhile.
    do run(connection, "INSERT INTO counter VALUES (" + std::to_string(rows++) + ", 0)");
    while (handled.load() < before + 5);
    EXPECT_EQ(value(connection, "SELECT count(*) FROM counter"), std::to_string(rows));
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &former, nullptr);
}

// As daemons do; a program that waits for any child takes the status away as well.
TEST_F(EmbeddedDatabaseTest, AProgramThatIgnoresItsChildrenHasACompiler) {
  ::setenv("MNEME_CXX", "/bin/ls", 1);  // it tells its version
  const auto former = ::signal(SIGCHLD, SIG_IGN);
  const Result<NativeToolchain> toolchain = NativeToolchain::of_this_program();
  ::signal(SIGCHLD, former);
  ::unsetenv("MNEME_CXX");
  ASSERT_TRUE(toolchain.ok()) << toolchain.error().message;
  EXPECT_THAT(toolchain->version, HasSubstr("ls"));
}

TEST_F(EmbeddedDatabaseTest, WorksOnASmallStack) {
  const auto database = open();
  struct Work {
    EmbeddedDatabase& database;
    std::string fault;
  } work{*database, "not run"};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  constexpr size_t kStackBytes = size_t{4} << 20;  // its frames are several times as large
#else
  constexpr size_t kStackBytes = size_t{512} << 10;
#endif
#else
  constexpr size_t kStackBytes = size_t{512} << 10;
#endif
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  ASSERT_EQ(::pthread_create(
                &thread, &attributes,
                [](void* of) -> void* {
                  auto& mine = *static_cast<Work*>(of);
                  Connection connection = connect(mine.database);
                  run(connection, kTable);
                  run(connection, kAdd);
                  run(connection, "INSERT INTO counter VALUES (1, 0)");
                  const CallResult result = connection.call("add", {integer(1), integer(2)});
                  mine.fault = result.message;
                  run(connection, "SELECT id, n + 1 FROM counter ORDER BY id");
                  return nullptr;
                },
                &work),
            0);
  ::pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(work.fault, "");
}

TEST_F(EmbeddedDatabaseTest, RefusesTextThatIsNoStatement) {
  const auto database = open();
  Connection connection = connect(*database);
  run(connection, kTable);
  for (const std::string& text :
       {std::string(), std::string(" \n"), std::string(";"), std::string("-- nothing"), std::string("\0", 1),
        std::string("SELECT n FROM counter\0", 22), std::string("SELECT n FROM counter\0; DROP", 28),
        std::string("SELECT '\0' FROM counter", 23), std::string("SELECT '\xff' FROM counter"),
        std::string("\xff\xfe"), "SELECT " + std::string(100'000, 'x') + " FROM counter"}) {
    const StatementResult result = connection.run(text);
    EXPECT_FALSE(result.ok()) << text;
    EXPECT_FALSE(result.message.empty());
  }
  run(connection, "SELECT n FROM counter");
}

}  // namespace
}  // namespace mneme
