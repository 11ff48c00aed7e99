// Goal: a user's files become the calls and rows that they describe, the same ones each time, and what they
// can't be is refused with the file, the line and the reason.
//
// Method: CSV texts with all that RFC 4180 allows; rules of every kind, drawn a thousand times and held
// against their bounds; small workloads of files in a directory of the test's own.
#include "workloads/own/own_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "engine/transaction/database.h"
#include "procedures/interpreter/call_text.h"
#include "workloads/shared/csv.h"
#include "workloads/shared/load.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> records_of(std::string_view text) {
  std::vector<std::string> records;
  const Result<void> read =
      for_each_csv_record(text, "x.csv", [&](size_t line, std::span<const CsvField> fields) -> Result<void> {
        std::string record = std::to_string(line);
        for (const CsvField& field : fields) record += (field.quoted ? "|q:" : "|") + field.text;
        records.push_back(record);
        return {};
      });
  if (!read) records.push_back(read.error().message);
  return records;
}

TEST(Csv, TakesFieldsQuotesAndCommentsApart) {
  EXPECT_THAT(records_of("a,b\n# c,d\n\n \t\ne\r\n"), ElementsAre("1|a|b", "5|e"));
  EXPECT_THAT(records_of("a,,\"\",\"x,\"\"y\"\"\nz\",b"), ElementsAre("1|a||q:|q:x,\"y\"\nz|b"));
  EXPECT_THAT(records_of("\"a\nb\"\nc,"), ElementsAre("1|q:a\nb", "3|c|"));
  EXPECT_THAT(records_of(""), ElementsAre());
}

TEST(Csv, RefusesQuotesThatDoNotFit) {
  EXPECT_THAT(records_of("a\n\"b"),
              ElementsAre("1|a", HasSubstr("x.csv, line 2: the quote that begins there is never closed")));
  EXPECT_THAT(records_of("\"a\"b,c"), ElementsAre(HasSubstr("x.csv, line 1: 'b' follows a closing quote")));
}

constexpr int64_t kMost = 5000;
const Type kInt{.kind = TypeKind::kInt};
const Type kMoney{.kind = TypeKind::kNumeric, .precision = 12, .scale = 2};
const Type kName{.kind = TypeKind::kVarchar, .length = 12};

// How often each value comes of a thousand draws.
std::map<std::string, int> drawn(const Type& type, std::string_view rule) {
  Arena kept;
  const Result<DrawnValue> value = DrawnValue::parse(type, rule, kMost, kept);
  if (!value) return {{value.error().message, 0}};
  EXPECT_TRUE(value->is_rule());
  std::map<std::string, int> counts;
  Arena memory;
  for (int64_t i = 1; i <= 1000; ++i) {
    Random random({7, static_cast<uint64_t>(i)});
    Drawing drawing{random, i, memory};
    ++counts[print_argument(type, value->draw(drawing)).value_or("NULL")];
  }
  return counts;
}

std::string refusal(const Type& type, std::string_view field) {
  Arena kept;
  const Result<DrawnValue> value = DrawnValue::parse(type, field, kMost, kept);
  return value ? "taken" : value.error().message;
}

TEST(DrawnValue, ARangeDrawsAllOfIt) {
  const auto small = drawn(kInt, "=-2..2");
  EXPECT_EQ(small.size(), 5u);
  for (const auto& [value, count] : small) EXPECT_GT(count, 120) << value;
  EXPECT_EQ(drawn(kInt, "=7..7").size(), 1u);
  const auto money = drawn(kMoney, "= 0.01 .. 0.10 ");
  EXPECT_EQ(money.size(), 10u);
  EXPECT_TRUE(money.contains("0.01") && money.contains("0.10"));
  const Type day{.kind = TypeKind::kTimestamp};
  for (const auto& [value, count] : drawn(day, "=2024-01-01..2024-01-02"))
    EXPECT_THAT(value, HasSubstr("2024-01-0"));
  const Type real{.kind = TypeKind::kDouble};
  for (const auto& [value, count] : drawn(real, "=0.5..0.75")) {
    EXPECT_GE(std::stod(value), 0.5);
    EXPECT_LT(std::stod(value), 0.75);
  }
}

TEST(DrawnValue, ASkewPrefersTheFirst) {
  const auto counts = drawn(kInt, "=11..110 zipf 0.9");
  EXPECT_GT(counts.at("11"), 100);
  EXPECT_LE(counts.size(), 100u);
}

TEST(DrawnValue, OneOfSeveral) {
  EXPECT_EQ(drawn(kInt, "=1|20|300").size(), 3u);
  EXPECT_EQ(drawn(kName, "={red|green}").size(), 2u);
}

TEST(DrawnValue, TextIsWhatStaysAndWhatIsDrawn) {
  const auto names = drawn(kName, "=u-{1..3}.{digits 2}");
  for (const auto& [name, count] : names) EXPECT_THAT(name, testing::MatchesRegex("u-[123]\\.[0-9][0-9]"));
  EXPECT_GT(names.size(), 200u);
  for (const auto& [name, count] : drawn(kName, "={letters 2..4}"))
    EXPECT_THAT(name, testing::MatchesRegex("[A-Z]{2,4}"));
  EXPECT_EQ(drawn(kName, "=n{number}").size(), 1000u);
  const Type fixed{.kind = TypeKind::kChar, .length = 4};
  EXPECT_EQ(drawn(fixed, "={a|b} ").size(), 2u);
}

TEST(DrawnValue, ARuleAloneIsATextWithoutBraces) {
  EXPECT_EQ(drawn(kName, "=red|green|blue").size(), 3u);
  EXPECT_EQ(drawn(kName, "=1..20").size(), 20u);
  EXPECT_GT(drawn(kName, "=1..20 zipf 0.9").at("1"), 100);
  EXPECT_EQ(drawn(kName, "=number").size(), 1000u);
  for (const auto& [name, count] : drawn(kName, "=letters 2..4"))
    EXPECT_THAT(name, testing::MatchesRegex("[A-Z]{2,4}"));
  for (const auto& [name, count] : drawn(kName, "=digits 4"))
    EXPECT_THAT(name, testing::MatchesRegex("[0-9]{4}"));
  Type list = kName;
  list.is_array = true;
  EXPECT_EQ(drawn(list, "=1 of red|green").size(), 2u);
}

TEST(DrawnValue, ArraysAreOfSoManyElements) {
  Type list = kInt;
  list.is_array = true;
  std::set<size_t> sizes;
  for (const auto& [value, count] : drawn(list, "=2..3 of 1|2")) {
    EXPECT_THAT(value, testing::MatchesRegex("\\{[12](,[12]){1,2}\\}"));
    sizes.insert(value.size());
  }
  EXPECT_EQ(sizes.size(), 2u);
}

TEST(DrawnValue, AValueStaysWhatItIs) {
  Arena kept;
  Arena memory;
  Random random({1});
  Drawing drawing{random, 1, memory};
  const Result<DrawnValue> value = DrawnValue::parse(kName, "==x", kMost, kept);
  ASSERT_TRUE(value.ok());
  EXPECT_FALSE(value->is_rule());
  EXPECT_EQ(value->draw(drawing).scalar.as_text(), "=x");
  EXPECT_TRUE(DrawnValue::null().draw(drawing).scalar.is_null());
}

TEST(DrawnValue, RefusesWhatCanNotBe) {
  EXPECT_THAT(refusal(kInt, "=5..1"), HasSubstr("is empty: write the lower bound first"));
  EXPECT_THAT(refusal(kInt, "=1..3000000000"), HasSubstr("out of range"));
  EXPECT_THAT(refusal(kInt, "=some"), HasSubstr("is no rule for a value of type int"));
  EXPECT_THAT(refusal(kInt, "x"), HasSubstr("invalid input syntax"));
  EXPECT_THAT(refusal(kInt, "=1..9 zipf 1.5"), HasSubstr("a skew is from 0"));
  EXPECT_THAT(refusal(kInt, "=1..2000000000 zipf 0.5"), HasSubstr("100000000 values at most"));
  EXPECT_THAT(refusal({.kind = TypeKind::kSmallInt}, "=number"), "taken");
  EXPECT_THAT(refusal({.kind = TypeKind::kDouble}, "=1..2 zipf 0.5"),
              HasSubstr("which a double has none of"));
  EXPECT_THAT(refusal({.kind = TypeKind::kBoolean}, "=false..true"), HasSubstr("is no rule"));
  EXPECT_THAT(refusal({.kind = TypeKind::kNumeric, .precision = 30}, "=1..9999999999999999999999"),
              HasSubstr("18 digits at most"));
  EXPECT_THAT(refusal(kName, "={letters 4..13}"),
              HasSubstr("may take 13 bytes, and varchar(12) has room for 12"));
  EXPECT_THAT(refusal(kName, "={letters x}"), HasSubstr("'x' is no count"));
  EXPECT_THAT(refusal(kName, "=plain"), HasSubstr("is no rule"));
  EXPECT_THAT(refusal(kName, "={1..2"), HasSubstr("is no rule"));
  Type list = kInt;
  list.is_array = true;
  EXPECT_THAT(refusal(list, "=1..3"), HasSubstr("is no rule"));
  EXPECT_THAT(refusal(list, "=20000 of 1..3"), HasSubstr("is no count"));

  Arena kept;
  const Result<DrawnValue> small = DrawnValue::parse({.kind = TypeKind::kSmallInt}, "=number", 40'000, kept);
  ASSERT_FALSE(small.ok());
  EXPECT_THAT(small.error().message, HasSubstr("declare it as BIGINT"));
}

class OwnWorkloadTest : public testing::Test {
 protected:
  static constexpr std::string_view kSql = R"(
CREATE TABLE account (id INT NOT NULL, owner VARCHAR(20), balance NUMERIC(12,2) NOT NULL, PRIMARY KEY (id));
CREATE PROCEDURE move(a INT, b INT, amount NUMERIC(12,2)) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance - amount WHERE id = a;
  UPDATE account SET balance = balance + amount WHERE id = b;
END; $$;
CREATE PROCEDURE look(a INT, INOUT found NUMERIC(12,2)) LANGUAGE plpgsql AS $$
BEGIN
  SELECT balance INTO found FROM account WHERE id = a;
END; $$;)";

  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  Result<std::unique_ptr<Workload>> make(std::string_view calls, std::string_view rows = "",
                                         std::string mix = "default", std::string_view sql = kSql) {
    WorkloadOptions options;
    options.seed = 3;
    options.mix = std::move(mix);
    options.files = {write("bank.sql", sql), write("calls.csv", calls),
                     rows.empty() ? "" : write("rows.csv", rows)};
    return make_workload("bank.sql", options);
  }
  std::string refused(std::string_view calls, std::string_view rows = "", std::string mix = "default",
                      std::string_view sql = kSql) {
    const auto workload = make(calls, rows, std::move(mix), sql);
    return workload ? "taken" : workload.error().message;
  }
  static std::vector<std::string> calls_of(const Workload& workload, const StreamId& stream, uint64_t count) {
    const auto program = compile(workload.sql(), "bank.sql");
    const auto generator = workload.generator(stream);
    std::vector<std::string> calls;
    for (uint64_t i = 0; i < count; ++i) calls.push_back(print_call(**program, generator->call(i)));
    return calls;
  }

  const std::string folder_ = testing::TempDir() + "mneme-own-workload-" + std::to_string(getpid());
};

TEST_F(OwnWorkloadTest, TakesLinesInTurnTheStreamsOneAfterTheOther) {
  const auto workload = make("procedure,arguments\nmove,1,2,3.50\nlook,4\nlook,5,7\n");
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  const std::string move = "CALL move('1'::int, '2'::int, '3.50'::numeric(12,2))";
  const std::string four = "CALL look('4'::int, NULL::numeric(12,2))";
  const std::string five = "CALL look('5'::int, '7.00'::numeric(12,2))";
  EXPECT_THAT(calls_of(**workload, {0, 1, 0}, 4), ElementsAre(move, four, five, move));
  EXPECT_THAT(calls_of(**workload, {0, 2, 0}, 3), ElementsAre(move, five, four));
  EXPECT_THAT(calls_of(**workload, {1, 2, 5}, 3), ElementsAre(four, move, five));
}

TEST_F(OwnWorkloadTest, DrawsLinesByTheirWeights) {
  const auto workload = make("move*30,=1..9,=1..9,1\nlook*70,=1..9\n");
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  const auto calls = calls_of(**workload, {0, 2, 1}, 1000);
  const auto looks =
      std::ranges::count_if(calls, [](const std::string& call) { return call.starts_with("CALL look"); });
  EXPECT_GT(looks, 620);
  EXPECT_LT(looks, 780);
  EXPECT_EQ(calls, calls_of(**workload, {0, 2, 1}, 1000));
  EXPECT_NE(calls, calls_of(**workload, {1, 2, 1}, 1000));
  EXPECT_NE(calls, calls_of(**workload, {0, 2, 2}, 1000));
}

TEST_F(OwnWorkloadTest, AMixDrawsProceduresAndThenTheirLines) {
  const auto workload = make("look*3,1\nmove,1,2,3\nlook,2\n", "", "look=90,move=10");
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  std::map<std::string, int> counts;
  for (const std::string& call : calls_of(**workload, {0, 1, 0}, 2000)) ++counts[call.substr(5, 10)];
  EXPECT_NEAR(counts["look('1'::"], 1350, 120);
  EXPECT_NEAR(counts["look('2'::"], 450, 120);
  EXPECT_NEAR(counts["move('1'::"], 200, 60);
}

TEST_F(OwnWorkloadTest, NumbersOfCallsAreNeverTheSame) {
  const auto workload = make("note,=number\n", "", "default",
                             "CREATE TABLE entry (id BIGINT NOT NULL, PRIMARY KEY (id));"
                             "CREATE PROCEDURE note(p_id BIGINT) LANGUAGE plpgsql AS $$ BEGIN "
                             "INSERT INTO entry (id) VALUES (p_id); END; $$;");
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  std::set<std::string> numbers;
  for (const StreamId& stream :
       {StreamId{0, 2, 0}, StreamId{1, 2, 0}, StreamId{0, 3, 1}, StreamId{2, 3, 1}}) {
    for (const std::string& call : calls_of(**workload, stream, 100)) numbers.insert(call);
  }
  EXPECT_EQ(numbers.size(), 400u);
}

TEST_F(OwnWorkloadTest, LoadsItsRows) {
  const auto workload =
      make("look,1\n",
           "account*25000,=number,=owner-{number},=1.00..2.00\naccount,25001,,0\naccount,25002,\"\",1\n");
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  EXPECT_EQ((*workload)->part_count(), 3u);
  const auto program = compile((*workload)->sql(), "bank.sql");
  Database database((*program)->catalog, 1);
  ASSERT_TRUE(load(**workload, database, 2, [](uint32_t, uint32_t) {}).ok());
  size_t rows = 0;
  size_t nulls = 0;
  int64_t ids = 0;
  DatabaseRows(database).scan(TableId(0), [&](std::span<const Value> row) {
    ++rows;
    ids += row[0].as_int();
    nulls += row[1].is_null() ? 1 : 0;
    if (row[0].as_int() > 25000) return;
    EXPECT_EQ(row[1].as_text(), "owner-" + std::to_string(row[0].as_int()));
  });
  EXPECT_EQ(rows, 25002u);
  EXPECT_EQ(nulls, 1u);
  EXPECT_EQ(ids, int64_t{25002} * 25003 / 2);
}

TEST_F(OwnWorkloadTest, TwoRowsOfOneKeyAreRefused) {
  const auto workload = make("look,1\n", "account,1,anna,5\naccount,1,bert,6\n");
  ASSERT_TRUE(workload.ok());
  const auto program = compile((*workload)->sql(), "bank.sql");
  Database database((*program)->catalog, 1);
  const Result<void> loaded = load(**workload, database, 1, [](uint32_t, uint32_t) {});
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().message,
              HasSubstr("two rows of account in the population of bank.sql have the same key; one of "
                        "them is (1, bert, 6.00)"));
}

TEST_F(OwnWorkloadTest, RefusesLinesThatSayNoCall) {
  EXPECT_THAT(refused("look,1\nlike,2\n"), HasSubstr("calls.csv, line 2: there is no procedure 'like'"));
  EXPECT_THAT(refused("look,1\nlike,2\n"), HasSubstr("creates move, look"));
  EXPECT_THAT(refused("move,1,2\n"),
              HasSubstr("move(int, int, numeric(12,2)) takes 3 arguments, and 2 are given"));
  EXPECT_THAT(refused("look\n"), HasSubstr("takes 1 to 2 arguments, and 0 are given"));
  EXPECT_THAT(refused("look*0,1\n"), HasSubstr("'look*0' is not NAME*COUNT"));
  EXPECT_THAT(refused("look*x,1\n"), HasSubstr("'look*x' is not NAME*COUNT"));
  EXPECT_THAT(refused("look,one\n"), HasSubstr("line 1: argument 1 of look: invalid input syntax"));
  EXPECT_THAT(refused("# nothing\n"), HasSubstr("holds no call"));
  EXPECT_THAT(refused("look,1\n", "", "look=50,move=50"), HasSubstr("names no procedure of this workload"));
  EXPECT_THAT(refused("look,1\n", "", "default", "CREATE TABLE t (a INT NOT NULL, PRIMARY KEY (a));"),
              HasSubstr("creates no procedure"));
  EXPECT_THAT(refused("look,1\n", "", "default", "CREATE TABEL"), HasSubstr("bank.sql:1:"));
}

TEST_F(OwnWorkloadTest, RefusesLinesThatSayNoRow) {
  EXPECT_THAT(refused("look,1\n", "acount,1,x,2\n"),
              HasSubstr("rows.csv, line 1: there is no table 'acount': there are account"));
  EXPECT_THAT(refused("look,1\n", "account,1\n"), HasSubstr("account has 3 columns, and one value is given"));
  EXPECT_THAT(refused("look,1\n", "account,,x,2\n"), HasSubstr("column id of account is NOT NULL"));
  EXPECT_THAT(refused("look,1\n", "account*1000000000000,1,x,2\naccount,2,x,2\n"),
              HasSubstr("more than 1000000000000 rows"));
  EXPECT_THAT(refused("look,1\n", "account,1,x,much\n"),
              HasSubstr("column balance of account: invalid input syntax"));
  EXPECT_THAT(
      refused("look,1\n", "account,1,\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac,2\n"),
      HasSubstr("column owner of account: the value may take 21 bytes, and varchar(20) has room for 20"));
}

TEST_F(OwnWorkloadTest, WantsCallsAndFilesThatAreThere) {
  WorkloadOptions options;
  options.files.sql = folder_ + "/none.sql";
  EXPECT_THAT(make_workload("none.sql", options).error().message, HasSubstr("give --calls FILE.csv"));
  options.files.calls = folder_ + "/none.csv";
  EXPECT_THAT(make_workload("none.sql", options).error().message, HasSubstr("none.sql"));
}

}  // namespace
}  // namespace mneme
