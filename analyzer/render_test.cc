// Goal    what `mneme slice` prints says all that the graph holds, in the three forms.
// Method  golden: the paper's bank in full for the drawing and in part for the text; the JSON by its fields.
#include "analyzer/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/testing/test_programs.h"

namespace mneme {
namespace {

using testing::HasSubstr;
using testing::Not;

class Render : public testing::Test {
 protected:
  const std::unique_ptr<Program> bank_ = compile_or_die(source_file("tests/data/bank.sql"));
  const DependencyGraph graph_ = analyze(*bank_, AnalysisOptions::paper());
};

TEST_F(Render, TextShowsSlicesBlocksAndReasons) {
  const std::string text = render_text(*bank_, graph_);
  EXPECT_THAT(text, HasSubstr("Procedure transfer\n  T1  line "));
  EXPECT_THAT(text, HasSubstr("SELECT spouse INTO dst FROM family WHERE name = src\n"));
  EXPECT_THAT(text, HasSubstr("  T1 -> T3\n      dst, set at line 40, decides IF at line 41\n"));
  EXPECT_THAT(text, HasSubstr("Global graph\n"
                              "  α: T1  (family read only)\n"
                              "  β: T2, D1  (current by name)\n"
                              "      current: transfer (line 42) reads, deposit (line 63) writes\n"
                              "  γ: T3, D2  (saving by name)\n"
                              "      saving: transfer (line 46) reads, deposit (line 66) writes\n"
                              "  δ: D3  (stats by nation)\n"));
  EXPECT_THAT(text, HasSubstr("  α -> γ  (other edges imply it)\n"));
  EXPECT_THAT(text, HasSubstr("  β -> δ\n      D1 -> D3: tmp, set at line 62, decides IF at line 68\n"));
}

TEST_F(Render, TextSaysWhatASliceIsOneFor) {
  EXPECT_THAT(
      render_text(*bank_, graph_),
      HasSubstr("  T2 is one slice:\n      current: transfer (line 42) reads, transfer (line 43) writes\n"));
}

TEST_F(Render, WhatOrdersNothingIsTold) {
  const auto program = compile_or_die(R"(
CREATE TABLE a (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE h (x INT);
CREATE PROCEDURE t(p INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE a SET v = v + 1 WHERE id = p; INSERT INTO h VALUES (p); END; $$;
CREATE PROCEDURE u(p INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE a SET v = v - p WHERE id = p; INSERT INTO h VALUES (p); END; $$;
)");
  const DependencyGraph graph = analyze(*program);
  const std::string text = render_text(*program, graph);
  EXPECT_THAT(text, HasSubstr("  h is only inserted into: its rows are in no order\n"));
  EXPECT_THAT(text, HasSubstr("  a.v is only added to: α and γ do so at the same time\n"));
  const nlohmann::ordered_json json = render_json(*program, graph);
  EXPECT_EQ(json["insert_only_tables"], nlohmann::ordered_json({"h"}));
  EXPECT_EQ(json["block_count"], json["blocks"].size());
  size_t slices = 0;
  for (const auto& block : json["blocks"]) slices += block["slices"].size();
  EXPECT_EQ(json["slice_count"], slices);
  EXPECT_EQ(json["shared_columns"][0]["column"], "a.v");
}

TEST_F(Render, TextSaysWhatIsNotReplayed) {
  const auto program = compile_or_die(R"(
CREATE TABLE a (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE PROCEDURE t(p INT, INOUT r INT) LANGUAGE plpgsql AS $$
BEGIN
  SELECT v INTO r FROM a WHERE id = p;
  UPDATE a SET v = 1 WHERE id = p;
END; $$;
CREATE PROCEDURE u(p INT, INOUT r INT) LANGUAGE plpgsql AS $$
BEGIN
  SELECT v INTO r FROM a WHERE id = p;
END; $$;
)");
  const std::string text = render_text(*program, analyze(*program, AnalysisOptions::paper()));
  EXPECT_THAT(
      text,
      HasSubstr(
          "  T1  line 5     SELECT v INTO r FROM a WHERE id = p  -- not replayed: no write needs it\n"));
  EXPECT_THAT(text, HasSubstr("  T1  line 6     UPDATE a SET v = 1 WHERE id = p\n"));
  EXPECT_THAT(text, HasSubstr("Procedure u (reads only: never logged)\n  U1  line 10    SELECT"));
}

// As the paper's Figure 5c: without the edge from α to γ.
TEST_F(Render, DotDrawsTheGlobalGraph) {
  EXPECT_EQ(render_dot(*bank_, graph_), R"(digraph blocks {
  compound=true;
  node [shape=box];
  subgraph cluster_0 {
    style=dashed;
    label="α: family read only";
    "T1";
  }
  subgraph cluster_1 {
    style=dashed;
    label="β: current by name";
    "T2";
    "D1";
  }
  subgraph cluster_2 {
    style=dashed;
    label="γ: saving by name";
    "T3";
    "D2";
  }
  subgraph cluster_3 {
    style=dashed;
    label="δ: stats by nation";
    "D3";
  }
  "T1" -> "T2" [ltail=cluster_0, lhead=cluster_1];
  "T2" -> "T3" [ltail=cluster_1, lhead=cluster_2];
  "T2" -> "D3" [ltail=cluster_1, lhead=cluster_3];
}
)");
}

TEST_F(Render, JsonHoldsTheContractsFields) {
  const nlohmann::ordered_json json = render_json(*bank_, graph_);
  ASSERT_EQ(json["procedures"].size(), 2U);
  const auto& transfer = json["procedures"][0];
  EXPECT_EQ(transfer["name"], "transfer");
  EXPECT_EQ(transfer["operations"].size(), 7U);
  EXPECT_EQ(transfer["operations"][2]["kind"], "update");
  EXPECT_EQ(transfer["operations"][2]["slice"], "T2");
  EXPECT_EQ(transfer["operations"][2]["tables"], nlohmann::ordered_json({"current"}));
  EXPECT_EQ(transfer["slices"][1]["name"], "T2");
  EXPECT_EQ(transfer["slices"][1]["block"], "β");
  EXPECT_EQ(transfer["slices"][1]["operations"], nlohmann::ordered_json({1, 2, 3, 4}));
  EXPECT_EQ(transfer["edges"].size(), 2U);
  ASSERT_EQ(json["blocks"].size(), 4U);
  EXPECT_EQ(json["blocks"][1]["merges"].size(), 1U);
  EXPECT_EQ(json["blocks"][1]["slices"], nlohmann::ordered_json({"T2", "D1"}));
  EXPECT_EQ(json["blocks"][1]["tables"][0]["lane_columns"], nlohmann::ordered_json({"name"}));
  ASSERT_EQ(json["edges"].size(), 4U);
  EXPECT_EQ(json["edges"][0]["from"], "α");
  EXPECT_EQ(json["edges"][0]["to"], "β");
  EXPECT_FALSE(json["edges"][0]["reasons"].empty());
}

TEST_F(Render, AProgramThatOnlyReadsHasNoGlobalGraph) {
  const auto program = compile_or_die(R"(
CREATE TABLE a (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE PROCEDURE t(p INT, INOUT r INT) LANGUAGE plpgsql AS $$
BEGIN
  SELECT v INTO r FROM a WHERE id = p;
END; $$;
)");
  const DependencyGraph graph = analyze(*program, AnalysisOptions::paper());
  EXPECT_THAT(render_text(*program, graph), HasSubstr("nothing is logged"));
  EXPECT_THAT(render_dot(*program, graph), Not(HasSubstr("subgraph")));
  EXPECT_TRUE(render_json(*program, graph)["blocks"].empty());
}

TEST_F(Render, ADrawingHasABoxABlockAndAnArrowADirectEdge) {
  const std::string svg = render_svg(*bank_, graph_, "a < b & c");
  const auto count = [&](std::string_view what) {
    size_t times = 0;
    for (size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) ++times;
    return times;
  };
  EXPECT_THAT(svg, HasSubstr("<title>a &lt; b &amp; c</title>"));
  EXPECT_EQ(count("<rect "), graph_.blocks.size());
  EXPECT_EQ(count("marker-end="), direct_edges(graph_).size());
  EXPECT_LT(direct_edges(graph_).size(), graph_.edges.size());
  EXPECT_THAT(svg, HasSubstr(">β: T2, D1</text>"));
  EXPECT_THAT(svg, HasSubstr(">saving by name</text>"));
  // α, β, γ or δ: three blocks, one after the other.
  EXPECT_EQ(count("arrow longest"), 2u);
}

TEST_F(Render, ADrawingOfProceduresThatWriteNothingIsEmpty) {
  const auto program = compile_or_die(R"(
CREATE TABLE a (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE PROCEDURE u(p INT, INOUT r INT) LANGUAGE plpgsql AS $$
BEGIN SELECT v INTO r FROM a WHERE id = p; END; $$;
)");
  const std::string svg = render_svg(*program, analyze(*program), "nothing");
  EXPECT_THAT(svg, Not(HasSubstr("<rect")));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

}  // namespace
}  // namespace mneme
