// Goal: what of `mneme bench` needs no server: no password is shown, the text of COPY is escaped, calls count
// where they end, and tables differ exactly where their rows do.
#include <gtest/gtest.h>

#include "cli/bench/bench_driver.h"
#include "cli/bench/bench_report.h"
#include "cli/bench/client_tally.h"
#include "cli/bench/copy_text.h"
#include "cli/bench/target_connection.h"
#include "cli/bench/target_database.h"

namespace mneme {
namespace {

constexpr uint64_t kBenchSecond = 1'000'000'000;

std::string shown_target(const std::string& text) {
  const Result<Target> target = parse_target(text);
  return target ? target->shown : "refused: " + target.error().message;
}

TEST(BenchTarget, IsShownWithoutItsPassword) {
  EXPECT_EQ(shown_target("postgresql://ann:s3cret@db.example:5433/shop"),
            "postgresql://ann@db.example:5433/shop");
  EXPECT_EQ(shown_target("postgres://ann:s3%40cret@db.example/shop?sslmode=require&password=s3cret"),
            "postgresql://ann@db.example/shop?sslmode=require");
  EXPECT_EQ(shown_target("host=/tmp/pg user=ann password='s3 cret' dbname=shop sslpassword=s3cret"),
            "postgresql://ann@%2Ftmp%2Fpg/shop");
}

TEST(BenchTarget, OfWhichNothingCanBeReadIsNotRepeated) {
  for (const char* text : {"http://ann:s3cret@db.example/", "postgresql://ann:s3%zzcret@db.example/",
                           "s3cret", "host=a password='s3cret"}) {
    const Result<Target> target = parse_target(text);
    ASSERT_FALSE(target.ok()) << text;
    EXPECT_EQ(target.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_EQ(target.error().message.find("cret"), std::string::npos) << target.error().message;
  }
}

TEST(BenchErrors, AreConflictsOrRollbacksOrTheEnd) {
  EXPECT_EQ(class_of("40001"), ErrorClass::kConflict);
  EXPECT_EQ(class_of("40P01"), ErrorClass::kConflict);
  EXPECT_EQ(class_of("P0001"), ErrorClass::kRollback);
  EXPECT_EQ(class_of("23505"), ErrorClass::kRollback);
  EXPECT_EQ(class_of("22012"), ErrorClass::kRollback);
  EXPECT_EQ(class_of("42883"), ErrorClass::kFatal);
  EXPECT_EQ(class_of("57P01"), ErrorClass::kFatal);
}

TableDefinition bench_table() {
  TableDefinition table;
  table.name = "word";
  table.columns = {{.name = "id", .type = {.kind = TypeKind::kInt}},
                   {.name = "price", .type = {.kind = TypeKind::kNumeric, .precision = 6, .scale = 2}},
                   {.name = "text", .type = {.kind = TypeKind::kVarchar, .length = 40}}};
  return table;
}

TEST(CopyText, EscapesWhatPartsRowsAndValues) {
  const TableDefinition table = bench_table();
  const std::string text = "a\tb\\c\nd\re\\N";
  const Value row[] = {Value::of_int(7), Value::null(), Value::of_text(text)};
  std::string line;
  append_copy_line(table, row, line);
  EXPECT_EQ(line, "7\t\\N\ta\\tb\\\\c\\nd\\re\\\\N\n");
  std::vector<std::optional<std::string>> values;
  ASSERT_TRUE(split_copy_line(line.substr(0, line.size() - 1), values));
  EXPECT_EQ(values, (std::vector<std::optional<std::string>>{"7", std::nullopt, text}));
}

TEST(CopyText, TellsNullFromNothingAndFromItsOwnMark) {
  std::vector<std::optional<std::string>> values;
  ASSERT_TRUE(split_copy_line("\\N\t\t\\\\N\t\\b\\f\\v", values));
  EXPECT_EQ(values, (std::vector<std::optional<std::string>>{std::nullopt, "", "\\N", "\b\f\v"}));
  ASSERT_TRUE(split_copy_line("", values));
  EXPECT_EQ(values.size(), 1u);
  EXPECT_FALSE(split_copy_line("a\\", values));
}

TEST(BenchDigest, CountsDuplicatesAndNotTheOrder) {
  const auto digest_of_lines = [](std::initializer_list<std::string_view> lines) {
    TableDigest digest;
    for (const std::string_view line : lines) digest.add(line);
    return digest;
  };
  EXPECT_EQ(digest_of_lines({"1\ta", "2\tb"}), digest_of_lines({"2\tb", "1\ta"}));
  EXPECT_NE(digest_of_lines({"1\ta", "2\tb"}), digest_of_lines({"1\ta", "2\tc"}));
  EXPECT_NE(digest_of_lines({"1\ta", "1\ta"}), digest_of_lines({"1\ta"}));
  EXPECT_NE(digest_of_lines({"1\ta", "1\ta"}), digest_of_lines({"2\tb", "2\tb"}));
}

TEST(BenchDifference, NamesTheKeyAndTheColumns) {
  const TableDefinition table = bench_table();
  const ColumnId key[] = {ColumnId{0}};
  const TextRow one = {"7", "1.50", "a"};
  const TextRow same_key = {"7", "1.75", std::nullopt};
  const TextRow other_key = {"8", "1.50", "a"};
  EXPECT_EQ(difference_of(table, key, &one, &same_key),
            "under id '7': price is '1.50' in the first and '1.75' in the second; text is 'a' in the first "
            "and NULL "
            "in the second");
  EXPECT_EQ(difference_of(table, key, &one, &other_key),
            "in the order of the key the first has id '7', where the second has id '8'");
  EXPECT_EQ(difference_of(table, key, &one, nullptr), "only the first has the row of id '7'");
  EXPECT_EQ(difference_of(table, key, nullptr, &one), "only the second has the row of id '7'");
}

TEST(ClientTally, CountsWhatEndsInTheWindowAndBehindIt) {
  const MeasuredWindow window(kBenchSecond, /*warmup_ns=*/kBenchSecond, /*duration_ns=*/2 * kBenchSecond);
  ClientTally tally(window, 1);
  tally.committed(0, kBenchSecond, 2 * kBenchSecond - 1);  // ends in the warm-up
  tally.conflicted(0, 2 * kBenchSecond - 1);               // likewise
  tally.committed(0, kBenchSecond, 2 * kBenchSecond);      // began there
  tally.committed(0, 3 * kBenchSecond, 3 * kBenchSecond + 5);
  tally.rolled_back(0, "P0001", 3 * kBenchSecond + 6);
  tally.conflicted(0, 3 * kBenchSecond + 7);
  EXPECT_TRUE(window.may_begin(4 * kBenchSecond - 1));
  EXPECT_FALSE(window.may_begin(4 * kBenchSecond));
  tally.committed(0, 4 * kBenchSecond - 1, 4 * kBenchSecond + kBenchSecond / 2);  // ends late
  const ProcedureReport& procedure = tally.procedures()[0];
  EXPECT_EQ(procedure.committed, 3u);
  EXPECT_EQ(procedure.aborted, 1u);
  EXPECT_EQ(procedure.user_aborts, 1u);
  EXPECT_EQ(procedure.latency_ns.max(), kBenchSecond);
  EXPECT_EQ(tally.rollbacks().at("P0001"), 1u);
  const double seconds = window.measured_seconds(tally.last_end_ns(), 5 * kBenchSecond);
  EXPECT_DOUBLE_EQ(seconds, 2.5);
  EXPECT_EQ(tally.per_second(seconds), (std::vector<double>{1, 1}));
}

TEST(ClientTally, IsMergedSecondBySecond) {
  const MeasuredWindow window(0, 0, 3 * kBenchSecond);
  ClientTally one(window, 2), other(window, 2);
  one.committed(0, 0, 5);
  other.committed(1, 0, 2 * kBenchSecond);
  other.rolled_back(1, "23505", 2 * kBenchSecond + 1);
  one.merge(other);
  EXPECT_EQ(one.per_second(3), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(one.procedures()[1].committed, 1u);
  EXPECT_EQ(one.rollbacks().at("23505"), 1u);
  EXPECT_EQ(one.last_end_ns(), 2 * kBenchSecond + 1);
}

RoundReport round_of(uint64_t committed, double seconds) {
  RoundReport round;
  round.seconds = seconds;
  round.procedures.resize(1);
  round.procedures[0].committed = committed;
  return round;
}

TEST(BenchReport, HasTheMedianOfRoundsAndRunsFields) {
  BenchReport report;
  report.workload = "smallbank";
  report.scale_field = "scale";
  report.procedures = {"balance"};
  TargetReport& target = report.targets.emplace_back();
  target.target = *parse_target("postgresql://ann:s3cret@db.example/shop");
  target.rounds = {round_of(300, 1), round_of(100, 1), round_of(500, 1), round_of(200, 1)};
  EXPECT_DOUBLE_EQ(target.median_throughput(), 250);
  target.rounds.pop_back();
  EXPECT_DOUBLE_EQ(target.median_throughput(), 300);
  const Json json = report.json();
  EXPECT_EQ(json["command"], "bench");
  EXPECT_EQ(json["committed"], 900);
  EXPECT_EQ(json["throughput_tps"], 300);
  EXPECT_EQ(json["targets"][0]["rounds"].size(), 3u);
  EXPECT_EQ(json["by_procedure"]["balance"]["committed"], 900);
  EXPECT_EQ((json.dump() + report.text()).find("s3cret"), std::string::npos);
}

}  // namespace
}  // namespace mneme
