// Render: the dependency graph for people and programs: what `mneme slice` prints.
//
// An edge between blocks that a path of other edges implies is left out of the drawing, as in the paper's
// Figure 5c; the text says of it that it is implied, and the JSON has them all.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/dependency_graph.h"
#include "procedures/binder/program.h"

namespace mneme {

// Each procedure's operations with their slices, its local graph, then the blocks with their lanes and edges.
// Each edge has its reasons, and so has whatever is together.
std::string render_text(const Program& program, const DependencyGraph& graph);

// The global graph as Figures 5c and 21 draw it, for Graphviz: slices in boxes, a dashed box around each
// block.
std::string render_dot(const Program& program, const DependencyGraph& graph);

// {"procedures": [{"name", "operations", "slices", "edges"}], "blocks", "edges", "insert_only_tables",
// "shared_columns"}.
nlohmann::ordered_json render_json(const Program& program, const DependencyGraph& graph);

}  // namespace mneme
