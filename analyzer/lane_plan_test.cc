// Goal    lanes are cut by as many columns as are known at dispatch, and by none that would part rows which
//         meet, unless the accesses that do are wide; slices are parted where no flow joins their rows.
// Method  tables: procedures -> the lane columns of each table that they write; -> the parts of slices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyzer/dependency_graph.h"
#include "analyzer/testing/test_programs.h"

namespace mneme {
namespace {

constexpr std::string_view kLaneSchema = R"(
CREATE TABLE a (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE d (x1 INT NOT NULL, x2 INT NOT NULL, v INT NOT NULL, n NUMERIC(6,2), PRIMARY KEY (x1, x2));
CREATE INDEX d_by_v ON d (v);
CREATE TABLE h (h1 INT, h2 INT);
CREATE INDEX h_by_1 ON h (h1);
CREATE TABLE u (id INT NOT NULL, k INT NOT NULL, PRIMARY KEY (id));
CREATE UNIQUE INDEX u_by_k ON u (k);
CREATE TABLE f (f1 NUMERIC(6,2) NOT NULL, v INT, PRIMARY KEY (f1));
)";

struct LaneCase {
  const char* name;
  const char* body;
  // "table(columns)" of each table written, "table(columns|finer columns)" where there are other ways,
  // "table(*)" for any lane
  const char* lanes;
};

class Lanes : public testing::TestWithParam<LaneCase> {};

TEST_P(Lanes, AreAsExpected) {
  const auto program =
      compile_or_die(std::string(kLaneSchema) +
                     "CREATE PROCEDURE t(p INT, q INT, ps INT[], m NUMERIC(8,4)) LANGUAGE plpgsql AS $$\n"
                     "DECLARE x INT; y INT; w RECORD;\nBEGIN\n" +
                     GetParam().body + "\nEND; $$;");
  const DependencyGraph graph = analyze(*program, AnalysisOptions::paper());
  std::string lanes;
  for (const Block& block : graph.blocks) {
    for (const LaneTable& lane_table : block.lanes) {
      const TableDefinition& table = program->catalog.table(lane_table.table);
      lanes += (lanes.empty() ? "" : " ") + table.name + "(";
      for (size_t i = 0; i < lane_table.columns.size(); ++i) {
        lanes += (i > 0 ? " " : "") + table.column(lane_table.columns[i]).name;
      }
      for (const std::vector<ColumnId>& way : lane_table.finer) {
        lanes += "|";
        for (size_t i = 0; i < way.size(); ++i) lanes += (i > 0 ? " " : "") + table.column(way[i]).name;
      }
      lanes += lane_table.any_lane ? "*)" : ")";
    }
  }
  EXPECT_EQ(lanes, GetParam().lanes);
}

constexpr LaneCase kLaneCases[] = {
    {"whole_key", "UPDATE d SET v = 1 WHERE x1 = p AND x2 = q;", "d(x1 x2)"},
    {"shared_prefix", "UPDATE d SET v = 1 WHERE x1 = p AND x2 = q; DELETE FROM d WHERE x1 = q;",
     "d(x1|x1 x2)"},
    {"no_shared_column", "UPDATE d SET n = 1 WHERE x1 = p AND x2 = q; DELETE FROM d WHERE v = p;",
     "d(|x1 x2)"},
    {"values_of_earlier_blocks",
     "SELECT v INTO x FROM a WHERE id = p; UPDATE a SET v = 1 WHERE id = q; UPDATE d SET v = 1 WHERE x1 = x "
     "AND x2 = p;",
     "a(id) d(x1 x2)"},
    {"values_of_the_same_slice",
     "SELECT v INTO x FROM d WHERE x1 = p AND x2 = q; UPDATE d SET v = 1 WHERE x1 = p AND x2 = x;",
     "d(x1|x1 x2)"},
    {"computed_from_arguments",
     "x := p + 1; UPDATE d SET v = 1 WHERE x1 = x AND x2 = p / q; UPDATE d SET v = 2 WHERE x1 = p AND x2 = "
     "1;",
     "d(x1 x2)"},
    {"could_fail_where_it_would_not_run",
     "SELECT v INTO x FROM d WHERE x1 = p AND x2 = q; IF x > 0 THEN UPDATE d SET v = 1 WHERE x1 = p AND x2 = "
     "p / q; "
     "END IF;",
     "d(x1|x1 x2)"},
    {"set_in_an_unknown_branch",
     "y := p; SELECT v INTO x FROM a WHERE id = p; IF x > 0 THEN y := q; END IF; UPDATE a SET v = 1 WHERE id "
     "= y;",
     "a(|id)"},
    {"set_in_a_known_branch",
     "y := p; SELECT v INTO x FROM a WHERE id = p; IF q > 0 THEN y := q; END IF; UPDATE a SET v = x WHERE id "
     "= y;",
     "a(id)"},
    {"by_a_hint_alone", "SELECT sum(v) INTO x FROM a WHERE id > p; UPDATE a SET v = 1 WHERE id = x;",
     "a(|id)"},
    {"no_hint_where_columns_are_known_everywhere",
     "SELECT sum(v) INTO x FROM d WHERE x1 = p; UPDATE d SET v = 1 WHERE x1 = p AND x2 = x;", "d(x1)"},
    {"assigned", "UPDATE d SET x2 = x2 + 1 WHERE x1 = p AND x2 = q;", "d(x1)"},
    {"assigned_whole_key", "UPDATE a SET id = id + 1 WHERE id = p;", "a()"},
    {"several_values", "UPDATE d SET v = 1 WHERE x1 = p AND x2 IN (p, q);", "d(x1)"},
    {"values_of_an_array", "UPDATE a SET v = 1 WHERE id = ANY (ps);", "a()"},
    {"range", "DELETE FROM d WHERE x1 = p AND x2 > q;", "d(x1)"},
    {"rows_of_a_loop",
     "SELECT v INTO x FROM d WHERE x1 = p AND x2 = p; FOR w IN SELECT id, v FROM a WHERE id < x LOOP "
     "UPDATE d SET v = 1 WHERE x1 = w.id AND x2 = p; END LOOP;",
     "d(x2|x1 x2)"},
    {"inserts_without_a_key", "INSERT INTO h VALUES (p, q);", "h(*)"},
    {"inserts_and_deletes_without_a_key", "INSERT INTO h VALUES (p, q); DELETE FROM h WHERE h1 = p;",
     "h(h1|h1 h2)"},
    {"inserts_with_two_keys", "INSERT INTO u VALUES (p, q);", "u(id)"},
    {"unique_key_changes_hands", "DELETE FROM u WHERE id = p; INSERT INTO u VALUES (p, q);", "u(|id)"},
    {"unique_key_is_updated", "UPDATE u SET k = k + 1 WHERE id = p;", "u()"},
    {"join_on_an_outer_row",
     "SELECT sum(d.v) INTO x FROM a JOIN d ON d.x1 = p AND d.x2 = a.id WHERE a.id < p; "
     "UPDATE d SET v = x WHERE x1 = p AND x2 = q;",
     "d(x1|x1 x2)"},
    {"another_scale", "UPDATE f SET v = 1 WHERE f1 = m;", "f()"},
};

INSTANTIATE_TEST_SUITE_P(Table, Lanes, testing::ValuesIn(kLaneCases),
                         [](const testing::TestParamInfo<LaneCase>& info) { return info.param.name; });

// A table in one lane says for each column of its key which statement costs it.
TEST(LaneLosses, AreNamedWithTheirLines) {
  const auto lost = [](const std::string& body) {
    const auto program =
        compile_or_die(std::string(kLaneSchema) +
                       "CREATE PROCEDURE t(p INT, q INT, m NUMERIC(8,4)) LANGUAGE plpgsql AS $$\n"
                       "DECLARE x INT;\nBEGIN\n" +
                       body + "\nEND; $$;");
    const auto lines_before = std::ranges::count(std::string_view(kLaneSchema), '\n') + 3;
    std::string text;
    for (const Block& block : analyze(*program).blocks) {
      for (const LaneTable& lanes : block.lanes) {
        EXPECT_EQ(lanes.lost.empty(), !lanes.columns.empty());
        for (const LostColumn& loss : lanes.lost) text += (text.empty() ? "" : "; ") + loss.text();
      }
    }
    const size_t line = text.find("line ");
    if (line == std::string::npos) return text;
    const size_t end = text.find_first_not_of("0123456789", line + 5);
    return text.substr(0, line) +
           fmt::format("statement {}", std::stol(text.substr(line + 5)) - lines_before) + text.substr(end);
  };
  EXPECT_EQ(lost("UPDATE d SET n = 1 WHERE x1 = p AND x2 = q;"), "");
  EXPECT_EQ(lost("UPDATE a SET v = p WHERE id = q;\nUPDATE a SET v = v * 2 WHERE id > p;"),
            "id: statement 2 does not say which; WHERE id = ... would, by an index that begins with it");
  EXPECT_EQ(lost("UPDATE a SET id = id + 1 WHERE id = p;"), "id: statement 1 assigns it");
  EXPECT_EQ(
      lost("SELECT v INTO x FROM a WHERE id = p;\nUPDATE a SET v = 1 WHERE id = x;"),
      "id: statement 2 takes its value from what the slice itself reads; a hint says it, and a parameter "
      "would be known");
  EXPECT_EQ(lost("DELETE FROM u WHERE id = p;\nINSERT INTO u VALUES (p, q);"),
            "id: unique keys of u_by_k, which do without it, change hands");
}

// By the first way no access is wide, and by a finer one those that do not fix its columns, move rows between
// its lanes, or give up a unique key that a row of another lane may take.
TEST(LaneWays, WideAccessesAreThoseThatTheWayDoesNotServe) {
  const auto wide = [](const std::string& body) {
    const auto program = compile_or_die(std::string(kLaneSchema) +
                                        "CREATE PROCEDURE t(p INT, q INT) LANGUAGE plpgsql AS $$\nBEGIN\n" +
                                        body + "\nEND; $$;");
    const DependencyGraph graph = analyze(*program);
    std::string text;
    for (const Slice& slice : graph.local(ProcedureId(0)).slices) {
      for (const LocatedAccess& access : slice.located) {
        EXPECT_FALSE(access.is_wide[0]);
        text += std::ranges::count(access.is_wide, true) > 0 ? 'w' : '-';
      }
    }
    return text;
  };
  EXPECT_EQ(wide("UPDATE a SET v = p WHERE id = q; UPDATE a SET v = v * 2 WHERE id > p;"), "-w");
  EXPECT_EQ(wide("UPDATE a SET v = p WHERE id = q; UPDATE a SET id = id + 1 WHERE id = p;"), "-w");
  EXPECT_EQ(
      wide("UPDATE u SET id = id WHERE k = p; INSERT INTO u VALUES (p, q); DELETE FROM u WHERE id = p;"),
      "w-w");
}

// What a hint says is not wide for a call that has one: keys that the slice itself finds, if expressions that
// cannot fail give them, of accesses that do not move rows. It stands under the first operation of that key.
TEST(LaneWays, HintsNarrowAccessesWhoseKeysTheSliceFinds) {
  const auto narrowed = [](const std::string& body) {
    const auto program = compile_or_die(std::string(kLaneSchema) +
                                        "CREATE PROCEDURE t(p INT, q INT) LANGUAGE plpgsql AS $$\n"
                                        "DECLARE x INT; y INT;\nBEGIN\n" +
                                        body + "\nEND; $$;");
    const DependencyGraph graph = analyze(*program);
    std::string text;
    for (const Slice& slice : graph.local(ProcedureId(0)).slices) {
      for (const LocatedAccess& access : slice.located) {
        const bool is_hinted = access.is_wide_hinted != access.is_wide;
        EXPECT_EQ(is_hinted, access.hint.valid());
        text += is_hinted ? fmt::format("{}", access.hint.value) : "-";
      }
    }
    return text;
  };
  const std::string read = "SELECT v INTO x FROM a WHERE id = p; ";
  EXPECT_EQ(narrowed(read + "UPDATE a SET v = q WHERE id = x;"), "-1");
  EXPECT_EQ(narrowed(read + "SELECT v INTO y FROM a WHERE id = x; UPDATE a SET v = y * 2 WHERE id = x;"),
            "-11");
  EXPECT_EQ(narrowed(read + "INSERT INTO a VALUES (x, q); DELETE FROM a WHERE id = q;"), "-1-");
  EXPECT_EQ(narrowed(read + "UPDATE a SET v = q WHERE id = x + 1;"), "--");
  EXPECT_EQ(narrowed(read + "UPDATE a SET v = q WHERE id > x;"), "--");
  EXPECT_EQ(narrowed(read + "UPDATE a SET id = q WHERE id = x;"), "--");
  AnalysisOptions on_demand;
  on_demand.lanes_from_arguments = true;
  const auto program = compile_or_die(
      std::string(kLaneSchema) + "CREATE PROCEDURE t(p INT) LANGUAGE plpgsql AS $$\nDECLARE x INT;\nBEGIN\n" +
      read + "UPDATE a SET v = p WHERE id = x;\nEND; $$;");
  const DependencyGraph graph = analyze(*program, on_demand);
  for (const Slice& slice : graph.local(ProcedureId(0)).slices) {
    for (const LocatedAccess& access : slice.located) EXPECT_FALSE(access.hint.valid());
  }
}

struct PartCase {
  const char* name;
  const char* body;
  const char* parts;  // the lines of each part's operations, of slices that have parts
};

class Parts : public testing::TestWithParam<PartCase> {};

TEST_P(Parts, AreAsExpected) {
  const auto program = compile_or_die(std::string(kLaneSchema) +
                                      "CREATE PROCEDURE t(p INT, q INT) LANGUAGE plpgsql AS $$\n"
                                      "DECLARE x INT; y INT;\nBEGIN\n" +
                                      GetParam().body + "\nEND; $$;");
  const DependencyGraph graph = analyze(*program);
  const auto lines_before = std::ranges::count(std::string_view(kLaneSchema), '\n') + 3;
  std::string text;
  for (const Slice& slice : graph.local(ProcedureId(0)).slices) {
    for (const SlicePart& part : slice.parts) {
      if (!text.empty()) text += " | ";
      for (const OperationId id : part.replayed) {
        const uint32_t line = program->procedures[0].operations[id.value].where.line;
        text += fmt::format("{}{}", id == part.replayed.front() ? "" : " ", line - lines_before);
      }
    }
  }
  EXPECT_EQ(text, GetParam().parts);
}

constexpr PartCase kPartCases[] = {
    {"amy_and_bob", "UPDATE a SET v = v - 1 WHERE id = p;\nUPDATE a SET v = v * 2 WHERE id = q;", "1 | 2"},
    {"a_guard_is_not_replayed",
     "SELECT v INTO x FROM a WHERE id = p;\nIF x < 1 THEN RAISE EXCEPTION 'few'; END IF;\n"
     "UPDATE a SET v = v - 1 WHERE id = p;\nUPDATE a SET v = v * 2 WHERE id = q;",
     "3 | 4"},
    {"a_value_flows", "SELECT v INTO x FROM a WHERE id = p;\nUPDATE a SET v = v + x WHERE id = q;", ""},
    {"a_condition_flows",
     "SELECT v INTO x FROM a WHERE id = p;\nIF x > 1 THEN\nUPDATE a SET v = v * 2 WHERE id = q;\nEND IF;",
     ""},
    {"the_same_row", "UPDATE a SET v = v - 1 WHERE id = p;\nUPDATE a SET v = v * 2 WHERE id = p;", ""},
    {"what_stands_between_stays",
     "SELECT v INTO x FROM a WHERE id = p;\nUPDATE a SET v = v * 2 WHERE id = q;\n"
     "UPDATE a SET v = x WHERE id = p + 1;",
     ""},
    {"one_loop",
     "FOR i IN 1..p LOOP\nUPDATE a SET v = v * 2 WHERE id = i;\nUPDATE a SET v = v * 3 WHERE id = i + q;\n"
     "END LOOP;\nUPDATE a SET v = 1 WHERE id = p;",
     "2 3 | 5"},
};

INSTANTIATE_TEST_SUITE_P(Table, Parts, testing::ValuesIn(kPartCases),
                         [](const testing::TestParamInfo<PartCase>& info) { return info.param.name; });

}  // namespace
}  // namespace mneme
