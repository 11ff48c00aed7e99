// Goal: a typed argument becomes the value that a statement would give, and what no statement could give is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "embedding/testing/embedded_fixture.h"

namespace mneme {
namespace {

using testing::HasSubstr;

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
  expect_refused(echo(kVarchar, Argument::of(Value::of_text("\xc3"))), "22021", "not valid UTF-8");
  expect_refused(echo(kVarchar, Argument::of(Value::of_text({"a\0b", 3}))), "22021", "not valid UTF-8");
  expect_refused(echo(kVarchar, Argument::of(Value::of_text("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4x"))), "22001",
                 "is too long");
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

}  // namespace
}  // namespace mneme
