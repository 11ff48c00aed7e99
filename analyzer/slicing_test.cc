// Goal    operations are put into exactly the slices and blocks that the paper's algorithms give.
// Method  a table: the body of a procedure `t` over small tables -> its slices, operations counted from 1 in
//         program order. Where a second procedure is needed to make blocks, it stands after the first.
#include <gtest/gtest.h>

#include "analyzer/dependency_graph.h"
#include "analyzer/procedure_analysis.h"
#include "analyzer/testing/test_programs.h"

namespace mneme {
namespace {

constexpr std::string_view kSlicingSchema = R"(
CREATE TABLE a (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE b (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE c (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
)";

std::string sliced_procedure(std::string_view name, std::string_view body) {
  return std::string("CREATE PROCEDURE ") + std::string(name) +
         "(p INT, q INT, ps INT[], INOUT r INT) LANGUAGE plpgsql AS $$\n"
         "DECLARE x INT; y INT; z INT; w RECORD; xs INT[] := '{}';\n"
         "BEGIN\n" +
         std::string(body) + "\nEND; $$;\n";
}

struct SlicingCase {
  const char* name;
  const char* body;
  const char* slices;
};

class LocalSlices : public testing::TestWithParam<SlicingCase> {};

TEST_P(LocalSlices, AreAsExpected) {
  const auto program = compile_or_die(std::string(kSlicingSchema) + sliced_procedure("t", GetParam().body));
  const DependencyGraph graph = analyze(*program, AnalysisOptions::paper());
  EXPECT_EQ(describe(graph.procedures[0]), GetParam().slices);
}

constexpr SlicingCase kSlicingCases[] = {
    {"independent_writes", R"(
       UPDATE a SET v = 1 WHERE id = p;
       UPDATE b SET v = 1 WHERE id = p;)",
     "T1{1} T2{2};"},
    {"same_table", R"(
       UPDATE a SET v = 1 WHERE id = p;
       UPDATE a SET v = 1 WHERE id = q;)",
     "T1{1 2};"},
    {"reads_of_one_table_do_not_conflict", R"(
       SELECT v INTO x FROM a WHERE id = p;
       SELECT v INTO y FROM a WHERE id = q;
       UPDATE b SET v = x WHERE id = p;
       UPDATE c SET v = y WHERE id = p;)",
     "T1{1} T2{2} T3{3} T4{4}; T1->T3 T2->T4"},
    {"value_through_assignments", R"(
       SELECT v INTO x FROM a WHERE id = p;
       y := x + 1;
       z := y * 2;
       UPDATE b SET v = z WHERE id = p;)",
     "T1{1} T2{2}; T1->T2"},
    {"overwritten_value_does_not_flow", R"(
       SELECT v INTO x FROM a WHERE id = p;
       x := 3;
       UPDATE b SET v = x WHERE id = p;)",
     "T1{1} T2{2};"},
    {"value_of_either_branch", R"(
       SELECT v INTO x FROM a WHERE id = p;
       IF p > 0 THEN x := 0; ELSE y := 1; END IF;
       UPDATE b SET v = x WHERE id = p;)",
     "T1{1} T2{2}; T1->T2"},
    {"set_in_both_branches", R"(
       SELECT v INTO x FROM a WHERE id = p;
       IF p > 0 THEN x := 0; ELSE x := 1; END IF;
       UPDATE b SET v = x WHERE id = p;)",
     "T1{1} T2{2};"},
    {"condition", R"(
       SELECT v INTO x FROM a WHERE id = p;
       IF x > 0 THEN UPDATE b SET v = 1 WHERE id = p; END IF;
       UPDATE c SET v = 1 WHERE id = p;)",
     "T1{1} T2{2} T3{3}; T1->T2"},
    {"condition_decides_a_value", R"(
       SELECT v INTO x FROM a WHERE id = p;
       y := 1;
       IF x > 0 THEN y := 2; END IF;
       UPDATE b SET v = y WHERE id = p;)",
     "T1{1} T2{2}; T1->T2"},
    {"found", R"(
       SELECT v INTO x FROM a WHERE id = p;
       IF FOUND THEN UPDATE b SET v = 1 WHERE id = p; END IF;)",
     "T1{1} T2{2}; T1->T2"},
    {"found_of_the_last_operation_only", R"(
       SELECT v INTO x FROM a WHERE id = p;
       UPDATE b SET v = 1 WHERE id = p;
       IF FOUND THEN UPDATE c SET v = 1 WHERE id = p; END IF;)",
     "T1{1} T2{2} T3{3}; T2->T3"},
    {"found_of_a_loop_that_a_jump_to_an_outer_one_leaves", R"(
       <<rounds>> LOOP
         FOR w IN SELECT id FROM a WHERE id < p ORDER BY id LOOP EXIT rounds; END LOOP;
         SELECT v INTO x FROM b WHERE id = p;
         EXIT;
       END LOOP;
       IF FOUND THEN UPDATE c SET v = 1 WHERE id = p; END IF;)",
     "T1{1} T2{2} T3{3}; T1->T2 T1->T3 T2->T3"},
    {"guard_of_raise_orders_nothing", R"(
       SELECT v INTO x FROM a WHERE id = p;
       IF NOT FOUND THEN RAISE EXCEPTION 'none'; END IF;
       UPDATE b SET v = 1 WHERE id = p;)",
     "T1{1} T2{2};"},
    {"other_branch_of_a_guard_surely_runs", R"(
       SELECT v INTO x FROM a WHERE id = p;
       IF x > 0 THEN UPDATE b SET v = 1 WHERE id = p; ELSE RAISE EXCEPTION 'none'; END IF;)",
     "T1{1} T2{2};"},
    {"return_skips_what_follows", R"(
       SELECT v INTO x FROM a WHERE id = p;
       IF x > 0 THEN RETURN; END IF;
       UPDATE b SET v = 1 WHERE id = p;)",
     "T1{1} T2{2}; T1->T2"},
    {"loop_bound", R"(
       SELECT v INTO x FROM a WHERE id = p;
       FOR i IN 1..x LOOP UPDATE b SET v = i WHERE id = i; END LOOP;
       UPDATE c SET v = 1 WHERE id = p;)",
     "T1{1} T2{2} T3{3}; T1->T2"},
    {"loop_is_distributed", R"(
       FOR i IN 1..cardinality(ps) LOOP
         SELECT v INTO x FROM a WHERE id = ps[i];
         UPDATE b SET v = x WHERE id = ps[i];
       END LOOP;)",
     "T1{1} T2{2}; T1->T2"},
    {"loop_carried_sum_of_reads", R"(
       x := 0;
       FOR i IN 1..cardinality(ps) LOOP
         SELECT v INTO y FROM a WHERE id = ps[i];
         x := x + y;
         UPDATE b SET v = x WHERE id = ps[i];
       END LOOP;)",
     "T1{1} T2{2}; T1->T2"},
    {"loop_carried_cycle", R"(
       x := p;
       FOR i IN 1..3 LOOP
         SELECT v INTO y FROM a WHERE id = x;
         UPDATE b SET v = v + 1 WHERE id = y RETURNING v INTO x;
       END LOOP;)",
     "T1{1 2};"},
    {"cycle_over_three", R"(
       x := p;
       FOR i IN 1..3 LOOP
         SELECT v INTO y FROM a WHERE id = x;
         SELECT v INTO z FROM b WHERE id = y;
         UPDATE c SET v = v + 1 WHERE id = z RETURNING v INTO x;
       END LOOP;)",
     "T1{1 2 3};"},
    {"exit_decides_later_iterations", R"(
       FOR i IN 1..3 LOOP
         UPDATE a SET v = i WHERE id = i;
         SELECT v INTO x FROM b WHERE id = i;
         EXIT WHEN x > 0;
         UPDATE c SET v = i WHERE id = i;
       END LOOP;)",
     "T1{2} T2{1} T3{3}; T1->T2 T1->T3"},
    {"continue_decides_the_rest_of_the_iteration", R"(
       FOR i IN 1..3 LOOP
         UPDATE a SET v = i WHERE id = i;
         SELECT v INTO x FROM b WHERE id = i;
         CONTINUE WHEN x > 0;
         UPDATE c SET v = i WHERE id = i;
       END LOOP;)",
     "T1{1} T2{2} T3{3}; T2->T3"},
    {"while_condition", R"(
       x := 0;
       WHILE x < 3 LOOP
         UPDATE a SET v = v + 1 WHERE id = p RETURNING v INTO x;
         UPDATE b SET v = 1 WHERE id = p;
       END LOOP;)",
     "T1{1} T2{2}; T1->T2"},
    {"rows_of_a_query_drive_the_loop", R"(
       FOR w IN SELECT id, v FROM a WHERE id < p LOOP
         UPDATE b SET v = w.v WHERE id = w.id;
       END LOOP;)",
     "T1{1} T2{2}; T1->T2"},
    {"arrays", R"(
       FOR i IN 1..3 LOOP
         SELECT v INTO x FROM a WHERE id = i;
         xs := array_append(xs, x);
       END LOOP;
       FOR i IN 1..3 LOOP
         UPDATE b SET v = xs[i] WHERE id = i;
       END LOOP;)",
     "T1{1} T2{2}; T1->T2"},
    {"between_two_of_one_slice", R"(
       SELECT v INTO x FROM a WHERE id = p;
       SELECT v INTO y FROM b WHERE id = x;
       UPDATE a SET v = y WHERE id = p;)",
     "T1{1 2 3};"},
};

INSTANTIATE_TEST_SUITE_P(Table, LocalSlices, testing::ValuesIn(kSlicingCases),
                         [](const testing::TestParamInfo<SlicingCase>& info) { return info.param.name; });

struct GlobalCase {
  const char* name;
  const char* first;
  const char* second;
  const char* first_slices;
  const char* second_slices;
  const char* blocks;
};

class GlobalBlocks : public testing::TestWithParam<GlobalCase> {};

TEST_P(GlobalBlocks, AreAsExpected) {
  const auto program = compile_or_die(std::string(kSlicingSchema) + sliced_procedure("t", GetParam().first) +
                                      sliced_procedure("u", GetParam().second));
  const DependencyGraph graph = analyze(*program, AnalysisOptions::paper());
  EXPECT_EQ(describe(graph.procedures[0]), GetParam().first_slices);
  EXPECT_EQ(describe(graph.procedures[1]), GetParam().second_slices);
  EXPECT_EQ(describe_blocks(graph), GetParam().blocks);
}

constexpr GlobalCase kGlobalCases[] = {
    {"nothing_shared", "UPDATE a SET v = 1 WHERE id = p;", "UPDATE b SET v = 1 WHERE id = p;", "T1{1};",
     "U1{1};", "α{T1} β{U1};"},
    {"readers_of_one_table_stay_apart", R"(
       SELECT v INTO x FROM a WHERE id = p;
       UPDATE b SET v = x WHERE id = p;)",
     R"(
       SELECT v INTO x FROM a WHERE id = p;
       UPDATE c SET v = x WHERE id = p;)",
     "T1{1} T2{2}; T1->T2", "U1{1} U2{2}; U1->U2", "α{T1} β{T2} γ{U1} δ{U2}; α->β γ->δ"},
    {"opposite_orders_make_one_block", R"(
       UPDATE a SET v = v + 1 WHERE id = p RETURNING v INTO x;
       UPDATE b SET v = x WHERE id = p;)",
     R"(
       UPDATE b SET v = v + 1 WHERE id = p RETURNING v INTO x;
       UPDATE a SET v = x WHERE id = p;)",
     "T1{1 2};", "U1{1 2};", "α{T1 U1};"},
    {"a_writer_elsewhere_unites_reads", R"(
       SELECT v INTO x FROM a WHERE id = p;
       SELECT v INTO y FROM a WHERE id = q;
       UPDATE b SET v = x + y WHERE id = p;)",
     "UPDATE a SET v = 1 WHERE id = p;", "T1{1 2} T2{3}; T1->T2", "U1{1};", "α{T1 U1} β{T2}; α->β"},
    {"uniting_reads_takes_what_is_between", R"(
       SELECT v INTO x FROM a WHERE id = p;
       SELECT v INTO y FROM b WHERE id = x;
       SELECT v INTO z FROM a WHERE id = y;
       UPDATE c SET v = z WHERE id = p;)",
     "UPDATE a SET v = 1 WHERE id = p;", "T1{1 2 3} T2{4}; T1->T2", "U1{1};", "α{T1 U1} β{T2}; α->β"},
    {"procedures_that_only_read_are_left_out", "UPDATE a SET v = 1 WHERE id = p;", R"(
       SELECT v INTO x FROM a WHERE id = p;
       SELECT v INTO r FROM b WHERE id = x;)",
     "T1{1};", "U1{1} U2{2}; U1->U2", "α{T1};"},
};

INSTANTIATE_TEST_SUITE_P(Table, GlobalBlocks, testing::ValuesIn(kGlobalCases),
                         [](const testing::TestParamInfo<GlobalCase>& info) { return info.param.name; });

// A pass takes the square of the statements, over 64; one for each of them would take their cube.
TEST(ProgramDependence, TakesFewPassesHoweverManyStatements) {
  std::string statements;
  for (int i = 0; i < 300; ++i)
    statements +=
        "x := x + 1; IF x > p THEN y := x; END IF; FOR i IN 1..x LOOP y := y + i; x := y; END LOOP; ";
  const auto program =
      compile("CREATE PROCEDURE p(p INT) LANGUAGE plpgsql AS $$ DECLARE x INT := 0; y INT; BEGIN " +
                  statements + "END $$;",
              "test.sql");
  ASSERT_TRUE(program.ok()) << program.error().message;
  const ProcedureAnalysis analysis((*program)->procedures[0]);
  EXPECT_LE(analysis.dependence().passes(), 8U);
}

}  // namespace
}  // namespace mneme
