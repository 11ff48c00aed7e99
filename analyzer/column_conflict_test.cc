// Goal    operations are in conflict by the columns that they have in common, and by nothing that can be left
//         out.
// Method  a table: the bodies of two procedures -> the blocks that they make, by each choice of options that
//         matters; then which updates count as additions, and which reasons are given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/dependency_graph.h"
#include "analyzer/table_use.h"
#include "analyzer/testing/test_programs.h"

namespace mneme {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kConflictSchema = R"(
CREATE TABLE a (id INT NOT NULL, v INT NOT NULL, w INT NOT NULL, o INT, big BIGINT NOT NULL, n NUMERIC(6,2) NOT NULL,
                wide NUMERIC(30,2) NOT NULL, d DOUBLE PRECISION NOT NULL, k INT NOT NULL, PRIMARY KEY (id));
CREATE INDEX a_by_k ON a (k);
CREATE TABLE b (id INT NOT NULL, v INT NOT NULL, w INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE h (h1 INT, h2 INT);
)";

constexpr AnalysisOptions kColumns{ConflictGrain::kColumn, {true, true, true}, Decomposition::kPacman, false};
constexpr AnalysisOptions kPlainColumns{
    ConflictGrain::kColumn, {false, false, false}, Decomposition::kPacman, false};
constexpr AnalysisOptions kTablesUnwritten{
    ConflictGrain::kTable, {true, false, false}, Decomposition::kPacman, false};
constexpr AnalysisOptions kChopping{
    ConflictGrain::kColumn, {false, false, false}, Decomposition::kChopping, false};

std::string procedure(std::string_view name, std::string_view body) {
  return fmt::format(
      "CREATE PROCEDURE {}(p INT, q INT, m NUMERIC(8,4), INOUT r INT) LANGUAGE plpgsql AS $$\nDECLARE x INT; "
      "y INT;\n"
      "BEGIN\n{}\nEND; $$;\n",
      name, body);
}

struct ConflictCase {
  const char* name;
  AnalysisOptions options;
  const char* first;
  const char* second;
  const char* blocks;
};

class ColumnBlocks : public testing::TestWithParam<ConflictCase> {};

TEST_P(ColumnBlocks, AreAsExpected) {
  const auto program = compile_or_die(std::string(kConflictSchema) + procedure("t", GetParam().first) +
                                      procedure("u", GetParam().second));
  EXPECT_EQ(describe_blocks(analyze(*program, GetParam().options)), GetParam().blocks);
}

constexpr ConflictCase kConflictCases[] = {
    {"other_columns", kColumns, "UPDATE a SET v = 1 WHERE id = p;", "UPDATE a SET w = 1 WHERE id = p;",
     "α{T1} β{U1};"},
    {"one_column", kColumns, "UPDATE a SET v = 1, w = 1 WHERE id = p;", "UPDATE a SET w = 2 WHERE id = p;",
     "α{T1 U1};"},
    {"reads_another_column", kColumns,
     "SELECT v INTO x FROM a WHERE id = p; UPDATE b SET v = x WHERE id = p;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1} β{T2} γ{U1}; α->β"},
    {"reads_the_column", kColumns, "SELECT w INTO x FROM a WHERE id = p; UPDATE b SET v = x WHERE id = p;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1 U1} β{T2}; α->β"},
    {"filters_by_the_column", kColumns, "UPDATE a SET v = 1 WHERE id = p AND w > 0;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1 U1};"},
    {"computes_with_the_column", kColumns, "UPDATE a SET v = w WHERE id = p;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1 U1};"},
    {"a_row_comes", kColumns, "INSERT INTO b VALUES (p, 1, 1);", "UPDATE b SET w = 1 WHERE id = p;",
     "α{T1 U1};"},
    {"a_row_goes", kColumns, "DELETE FROM b WHERE id = p;",
     "SELECT count(*) INTO x FROM b WHERE id = p; UPDATE a SET v = x WHERE id = p;", "α{T1 U1} β{U2}; α->β"},
    {"a_row_moves_in_an_index", kColumns, "UPDATE a SET k = q WHERE id = p;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1 U1};"},
    {"what_only_the_result_shows", kColumns, "UPDATE a SET v = 1 WHERE id = p RETURNING w INTO r;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1} β{U1};"},
    {"what_is_not_replayed", kColumns,
     "SELECT w INTO r FROM a WHERE id = p; UPDATE b SET v = 1 WHERE id = p;",
     "UPDATE a SET w = 1 WHERE id = p; SELECT v INTO r FROM b WHERE id = p;", "α{T1 U2} β{T2} γ{U1};"},

    {"tables_unwritten_column", kTablesUnwritten,
     "SELECT v INTO x FROM a WHERE id = p; UPDATE b SET v = x WHERE id = p;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1} β{T2} γ{U1}; α->β"},
    {"tables_written_column", kTablesUnwritten,
     "SELECT w INTO x FROM a WHERE id = p; UPDATE b SET v = x WHERE id = p;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1 U1} β{T2}; α->β"},
    {"tables_whose_rows_come", kTablesUnwritten,
     "SELECT v INTO x FROM b WHERE id = p; UPDATE a SET v = x WHERE id = p;",
     "INSERT INTO b VALUES (p, 1, 1);", "α{T1 U1} β{T2}; α->β"},

    {"insert_only", kColumns, "INSERT INTO h VALUES (p, q);", "INSERT INTO h VALUES (q, p);", "α{T1} β{U1};"},
    {"insert_only_not_elided", kPlainColumns, "INSERT INTO h VALUES (p, q);", "INSERT INTO h VALUES (q, p);",
     "α{T1 U1};"},
    {"inserted_and_read", kColumns, "INSERT INTO b VALUES (p, q, 1);",
     "INSERT INTO b VALUES (q, p, 1); SELECT v INTO x FROM b WHERE id = p; UPDATE a SET v = x WHERE id = p;",
     "α{T1 U1} β{U2}; α->β"},

    {"increments", kColumns, "UPDATE a SET v = v + p WHERE id = q;", "UPDATE a SET v = v - q WHERE id = p;",
     "α{T1} β{U1};"},
    {"increments_not_elided", kPlainColumns, "UPDATE a SET v = v + p WHERE id = q;",
     "UPDATE a SET v = v - q WHERE id = p;", "α{T1 U1};"},
    {"increment_and_a_reader", kColumns, "UPDATE a SET v = v + p WHERE id = q;",
     "UPDATE a SET v = v + 1 WHERE id = q; SELECT v INTO x FROM a WHERE id = p; UPDATE b SET v = x WHERE id "
     "= p;",
     "α{T1 U1} β{U2}; α->β"},
    {"increment_and_a_plain_write", kColumns, "UPDATE a SET v = v + p WHERE id = q;",
     "UPDATE a SET v = p WHERE id = q;", "α{T1 U1};"},
    {"increment_with_returning", kColumns, "UPDATE a SET v = v + p WHERE id = q;",
     "UPDATE a SET v = v + 1 WHERE id = q RETURNING v INTO x; UPDATE b SET v = x WHERE id = p;",
     "α{T1 U1} β{U2}; α->β"},

    // Two calls of t could read and write a and b in opposite orders.
    {"chopping", kChopping, "UPDATE a SET v = 1 WHERE id = p; UPDATE b SET v = 1 WHERE id = p;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1} β{U1};"},
    {"not_chopping", kPlainColumns, "UPDATE a SET v = 1 WHERE id = p; UPDATE b SET v = 1 WHERE id = p;",
     "UPDATE a SET w = 1 WHERE id = p;", "α{T1} β{T2} γ{U1};"},
    {"chopping_leaves_reads_of_what_nobody_writes", kChopping,
     "SELECT w INTO x FROM a WHERE id = p; UPDATE b SET v = x WHERE id = p;",
     "UPDATE a SET v = 1 WHERE id = p;", "α{T1} β{T2} γ{U1}; α->β"},
    // t's pieces meet by way of u as a whole.
    {"chopping_by_another_procedure", kChopping,
     "SELECT v INTO x FROM a WHERE id = p; SELECT v INTO y FROM b WHERE id = p; INSERT INTO h VALUES (x, y);",
     "UPDATE a SET v = 1 WHERE id = p; UPDATE b SET v = 1 WHERE id = p;", "α{T1 U1};"},
};

INSTANTIATE_TEST_SUITE_P(Table, ColumnBlocks, testing::ValuesIn(kConflictCases),
                         [](const testing::TestParamInfo<ConflictCase>& info) { return info.param.name; });

// The columns that the one update of a procedure adds to.
std::vector<std::string> added(const std::string& update) {
  const auto program = compile_or_die(std::string(kConflictSchema) + procedure("t", update + ";"));
  const TableDefinition& table = program->catalog.tables()[0];
  std::vector<std::string> names;
  const std::vector<TableUse> uses = table_uses(program->catalog, program->procedures[0].operations[0]);
  for (const ColumnId column : uses[0].adds) names.push_back(table.column(column).name);
  return names;
}

TEST(Additions, AreOfWholeUnitsAndNothingElse) {
  EXPECT_THAT(added("UPDATE a SET v = v + p WHERE id = q"), ElementsAre("v"));
  EXPECT_THAT(added("UPDATE a SET v = p + v, w = w - 1 WHERE id = q"), ElementsAre("v", "w"));
  EXPECT_THAT(added("UPDATE a SET big = big + p WHERE id = q"), ElementsAre("big"));
  EXPECT_THAT(added("UPDATE a SET n = n + 1.25 WHERE id = q"), ElementsAre("n"));
  EXPECT_THAT(added("UPDATE a SET v = v + w WHERE id = q"), ElementsAre("v"));
  EXPECT_THAT(added("UPDATE a SET v = p - v WHERE id = q"), ElementsAre());
  EXPECT_THAT(added("UPDATE a SET v = v + v WHERE id = q"), ElementsAre());
  EXPECT_THAT(added("UPDATE a SET v = w + 1 WHERE id = q"), ElementsAre());
  EXPECT_THAT(added("UPDATE a SET v = v * 2 WHERE id = q"), ElementsAre());
  EXPECT_THAT(added("UPDATE a SET v = v + 1 WHERE id = q AND v > 0"), ElementsAre()) << "the filter reads it";
  EXPECT_THAT(added("UPDATE a SET v = v + 1, w = v WHERE id = q"), ElementsAre()) << "another column gets it";
  EXPECT_THAT(added("UPDATE a SET v = v + 1 WHERE id = q RETURNING v INTO r"), ElementsAre());
  EXPECT_THAT(added("UPDATE a SET n = n + m WHERE id = q"), ElementsAre()) << "it is rounded";
  EXPECT_THAT(added("UPDATE a SET wide = wide + 1 WHERE id = q"), ElementsAre())
      << "no processor adds 16 bytes at once";
  EXPECT_THAT(added("UPDATE a SET d = d + 1 WHERE id = q"), ElementsAre()) << "sums depend on their order";
  EXPECT_THAT(added("UPDATE a SET o = o + 1 WHERE id = q"), ElementsAre()) << "it may be NULL";
  EXPECT_THAT(added("UPDATE a SET k = k + 1 WHERE id = q"), ElementsAre()) << "an index holds it";
}

TEST(Additions, AreMadeAtomicallyOnlyWhereBlocksShareTheColumn) {
  const auto program = compile_or_die(std::string(kConflictSchema) +
                                      procedure("t", "UPDATE a SET v = v - p, w = w + 1 WHERE id = q;") +
                                      procedure("u", "UPDATE a SET v = v + 1 WHERE id = p;"));
  const DependencyGraph graph = analyze(*program, kColumns);
  ASSERT_EQ(graph.shared_columns.size(), 1u);
  EXPECT_EQ(graph.shared_columns[0].blocks.size(), 2u);
  const std::vector<ir::Assignment>& first = graph.procedures[0].replay.operations[0].assignments;
  const std::vector<ir::Assignment>& second = graph.procedures[1].replay.operations[0].assignments;
  EXPECT_EQ(first[0].how, ir::Assignment::How::kSubtract);
  EXPECT_EQ(first[0].value.kind, ir::ExprKind::kVariable);
  EXPECT_EQ(first[1].how, ir::Assignment::How::kSet) << "nobody else adds to it";
  EXPECT_EQ(second[0].how, ir::Assignment::How::kAdd);
}

TEST(Reasons, NameColumnProceduresLinesAndWhatTheyDo) {
  const auto program = compile_or_die(
      std::string(kConflictSchema) +
      procedure("t", "UPDATE a SET v = 1 WHERE id = p;\nUPDATE a SET v = 2 WHERE id = q;") +
      procedure("u", "SELECT v INTO x FROM a WHERE id = p;\nUPDATE b SET v = x WHERE id = p;"));
  const DependencyGraph graph = analyze(*program, kColumns);
  ASSERT_EQ(graph.procedures[0].slices.size(), 1u);
  EXPECT_THAT(graph.procedures[0].slices[0].merges,
              ElementsAre("a.v: t (line 10) writes, t (line 11) writes"));
  EXPECT_THAT(graph.blocks[0].merges, ElementsAre("a.v: t (line 10) writes, u (line 16) reads"));
  EXPECT_TRUE(graph.blocks[1].merges.empty());
}

TEST(Reasons, TellWhatACycleRunsThrough) {
  const auto program = compile_or_die(std::string(kConflictSchema) + procedure("t", R"(
    x := p;
    FOR i IN 1..3 LOOP
      SELECT w INTO y FROM a WHERE id = x;
      UPDATE b SET v = v + 1 WHERE id = y RETURNING v INTO x;
    END LOOP;)"));
  const DependencyGraph graph = analyze(*program, kColumns);
  ASSERT_EQ(graph.procedures[0].slices.size(), 1u);
  ASSERT_EQ(graph.procedures[0].slices[0].merges.size(), 1u);
  EXPECT_THAT(graph.procedures[0].slices[0].merges[0], HasSubstr("in a cycle: y, set at line"));
}

}  // namespace
}  // namespace mneme
