// Render: returns the dependency graph as text, as drawings and as JSON. `mneme slice` prints them.
//
// A path of other edges may imply an edge between two blocks. The drawings leave out such an edge, as Figure
// 5c of the PACMAN paper (SIGMOD 2017) does; the text marks it as implied; the JSON lists all edges alike.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "procedures/binder/program.h"

namespace mneme {

// Returns the operations of each procedure with their slices, and its local graph; then the blocks with their
// lanes, and their edges. The text gives the reasons for each edge, and the reasons why operations are in one
// slice or slices in one block.
std::string render_text(const Program& program, const DependencyGraph& graph);

// Returns the global graph for Graphviz, drawn as in Figures 5c and 21 of the paper: slices in boxes, and a
// dashed box around each block.
std::string render_dot(const Program& program, const DependencyGraph& graph);

// Returns the global graph as a drawing (SVG) that needs no script or other file: a box for each block, with
// its slices and how its tables' rows are spread over lanes, below all that it waits for. The longest path is
// marked.
std::string render_svg(const Program& program, const DependencyGraph& graph, std::string_view title);

// Returns the edges that no path of other edges implies.
std::vector<BlockEdge> direct_edges(const DependencyGraph& graph);

// Returns by what columns of the table the block's rows are spread over lanes: "district by d_w_id, d_id".
std::string render_lanes(const Program& program, const DependencyGraph& graph, const Block& block,
                         TableId table);

// Returns the texts of the table's lost columns.
std::vector<std::string> lost_texts(const LaneTable& lanes);

// Returns the slice that the operation belongs to.
const Slice& slice_of(const LocalGraph& local, OperationId operation);

// Returns {"procedures": [{"name", "logged", "logged_by_rows", "operations", "slices", "edges"}], "blocks",
// "edges", "insert_only_tables", "shared_columns", "block_count", "slice_count"}.
nlohmann::ordered_json render_json(const Program& program, const DependencyGraph& graph);

}  // namespace mneme
