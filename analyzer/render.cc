#include "analyzer/render.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "analyzer/digraph.h"

namespace mneme {
namespace {

std::string_view kind_name(ir::OperationKind kind) {
  switch (kind) {
    case ir::OperationKind::kSelect:
      return "select";
    case ir::OperationKind::kInsert:
      return "insert";
    case ir::OperationKind::kUpdate:
      return "update";
    case ir::OperationKind::kDelete:
      return "delete";
  }
  CHECK(false);
}

bool is_replayed(const Slice& slice, OperationId operation) {
  return std::ranges::binary_search(slice.replayed, operation);
}

std::vector<std::string> names_of(const TableDefinition& table, const std::vector<ColumnId>& columns) {
  std::vector<std::string> names;
  for (const ColumnId column : columns) names.push_back(table.column(column).name);
  return names;
}

enum class Wide : bool { kAlways, kWithoutHint };

// Returns the accesses that concern all lanes if the table's rows are put into lanes in this way, always, or
// for a call whose record has no hint: "interest (line 5)".
std::vector<std::string> wide_accesses(const Program& program, const DependencyGraph& graph,
                                       const Block& block, TableId table, size_t way, Wide wide) {
  std::vector<std::string> accesses;
  for (const BlockMember& member : block.members) {
    const ir::Procedure& procedure = program.procedure(member.procedure);
    for (const LocatedAccess& access : graph.local(member.procedure).slices[member.slice.value].located) {
      if (access.table != table || !access.is_wide[way]) continue;
      if (access.is_wide_hinted[way] != (wide == Wide::kAlways)) continue;
      const uint32_t line = procedure.operations[access.operation.value].where.line;
      std::string text = fmt::format("{} (line {})", procedure.name, line);
      if (!std::ranges::count(accesses, text)) accesses.push_back(std::move(text));
    }
  }
  return accesses;
}

// "district by d_w_id, d_id", "history in any lane", "stats in one lane (id: line 3 assigns it)", "account in
// one lane (...), or by id with interest (line 5) in all lanes", "... or by id with visit (line 3) by its
// hint".
std::string lanes_of(const Program& program, const DependencyGraph& graph, const Block& block,
                     const LaneTable& lanes) {
  const TableDefinition& table = program.catalog.table(lanes.table);
  if (lanes.any_lane) return fmt::format("{} in any lane", table.name);
  std::string text = lanes.columns.empty() ? fmt::format("{} in one lane", table.name)
                                           : fmt::format("{} by {}", table.name,
                                                         fmt::join(names_of(table, lanes.columns), ", "));
  if (!lanes.lost.empty()) text += fmt::format(" ({})", fmt::join(lost_texts(lanes), "; "));
  for (size_t way = 1; way < lanes.ways(); ++way) {
    const auto wide = wide_accesses(program, graph, block, lanes.table, way, Wide::kAlways);
    const auto hinted = wide_accesses(program, graph, block, lanes.table, way, Wide::kWithoutHint);
    text += fmt::format(", or by {} with ", fmt::join(names_of(table, lanes.way(way)), ", "));
    if (!wide.empty()) text += fmt::format("{} in all lanes", fmt::join(wide, " and "));
    if (!hinted.empty())
      text += fmt::format("{}{} by its hint", wide.empty() ? "" : " and ", fmt::join(hinted, " and "));
  }
  return text;
}

// Returns the block's tables by their ids, each with its lanes: "district by d_w_id; item read only".
std::string tables_of(const Program& program, const DependencyGraph& graph, const Block& block) {
  std::string text;
  for (TableId table : block.tables) {
    if (!text.empty()) text += "; ";
    text += render_lanes(program, graph, block, table);
  }
  return text;
}

std::string name_of(const Catalog& catalog, const SharedColumn& shared) {
  const TableDefinition& table = catalog.table(shared.table);
  return table.name + "." + table.column(shared.column).name;
}

std::vector<std::string> block_names(const DependencyGraph& graph, const SharedColumn& shared) {
  std::vector<std::string> names;
  for (const BlockId block : shared.blocks) names.push_back(graph.block(block).name);
  return names;
}

std::string members_of(const DependencyGraph& graph, const Block& block) {
  std::string text;
  for (const BlockMember& member : block.members) {
    if (!text.empty()) text += ", ";
    text += graph.local(member.procedure).slices[member.slice.value].label;
  }
  return text;
}

// The edges that a path of other edges implies.
class ImpliedEdges {
 public:
  explicit ImpliedEdges(const DependencyGraph& graph) : graph_(graph.blocks.size()) {
    for (const BlockEdge& edge : graph.edges) graph_.add_edge(edge.from.value, edge.to.value);
    reaches_ = graph_.reachability();
  }

  bool contains(const BlockEdge& edge) const {
    return std::ranges::any_of(graph_.successors(edge.from.value), [&](size_t between) {
      return between != edge.to.value && reaches_[between][edge.to.value];
    });
  }

 private:
  Digraph graph_;
  std::vector<std::vector<bool>> reaches_;
};

class TextWriter {
 public:
  TextWriter(const Program& program, const DependencyGraph& graph) : program_(program), graph_(graph) {}

  std::string write() {
    for (const LocalGraph& local : graph_.procedures) write_procedure(local);
    if (graph_.blocks.empty()) {
      line("No procedure writes: nothing is logged, and there is no global graph.");
    } else {
      line("Global graph");
      for (const Block& block : graph_.blocks) write_block(block);
      const ImpliedEdges implied(graph_);
      for (const BlockEdge& edge : graph_.edges) write_edge(edge, implied.contains(edge));
      write_elided();
    }
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void write_procedure(const LocalGraph& local) {
    const ir::Procedure& procedure = program_.procedure(local.procedure);
    line("Procedure {}{}", procedure.name, procedure.writes ? "" : " (reads only: never logged)");
    if (procedure.is_logged_by_rows())
      line("  logged by the rows that it changes, as an ad-hoc transaction: {}", procedure.by_chance);
    size_t width = 0;
    for (const Slice& slice : local.slices) width = std::max(width, slice.label.size());
    for (const ir::Operation& operation : procedure.operations) {
      const Slice& slice = slice_of(local, operation.id);
      const bool skipped = procedure.writes && !is_replayed(slice, operation.id);
      line("  {:{}}  line {:<5} {}{}", slice.label, width, operation.where.line, operation.text,
           skipped ? "  -- not replayed: no write needs it" : "");
    }
    for (const SliceEdge& edge : local.edges) {
      line("  {} -> {}", local.slices[edge.from.value].label, local.slices[edge.to.value].label);
      for (const std::string& reason : edge.reasons) line("      {}", reason);
    }
    for (const Slice& slice : local.slices) {
      if (slice.merges.empty()) continue;
      line("  {} is one slice:", slice.label);
      for (const std::string& reason : slice.merges) line("      {}", reason);
    }
    for (const Slice& slice : local.slices) {
      if (slice.iterations_independent) line("  {}: its loop's iterations run apart", slice.label);
    }
    line("");
  }

  void write_block(const Block& block) {
    line("  {}: {}  ({})", block.name, members_of(graph_, block), tables_of(program_, graph_, block));
    for (const std::string& reason : block.merges) line("      {}", reason);
  }

  void write_edge(const BlockEdge& edge, bool implied) {
    line("  {} -> {}{}", graph_.block(edge.from).name, graph_.block(edge.to).name,
         implied ? "  (other edges imply it)" : "");
    for (const std::string& reason : edge.reasons) line("      {}", reason);
  }

  // Writes the conflicts that the analysis left out of the graph, because they impose no order.
  void write_elided() {
    for (const TableId table : graph_.insert_only) {
      line("  {} is only inserted into: its rows are in no order", program_.catalog.table(table).name);
    }
    for (const SharedColumn& shared : graph_.shared_columns) {
      line("  {} is only added to: {} do so at the same time", name_of(program_.catalog, shared),
           fmt::join(block_names(graph_, shared), " and "));
    }
  }

  const Program& program_;
  const DependencyGraph& graph_;
  std::string text_;
};

// Returns the text as a double-quoted string of the DOT language.
std::string dot_string(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

nlohmann::ordered_json json_of(const Program& program, const DependencyGraph& graph,
                               const LocalGraph& local) {
  using Json = nlohmann::ordered_json;
  const ir::Procedure& procedure = program.procedure(local.procedure);
  Json operations = Json::array();
  for (const ir::Operation& operation : procedure.operations) {
    const Slice& slice = slice_of(local, operation.id);
    Json tables = Json::array();
    for (const ir::TableAccess& access : operation.access) {
      tables.push_back(program.catalog.table(access.table).name);
    }
    operations.push_back({{"id", operation.id.value},
                          {"kind", kind_name(operation.kind)},
                          {"line", operation.where.line},
                          {"text", operation.text},
                          {"tables", std::move(tables)},
                          {"slice", slice.label},
                          {"replayed", is_replayed(slice, operation.id)}});
  }
  Json slices = Json::array();
  for (const Slice& slice : local.slices) {
    Json ids = Json::array();
    for (OperationId operation : slice.operations) ids.push_back(operation.value);
    slices.push_back({{"name", slice.label},
                      {"block", slice.block.valid() ? Json(graph.block(slice.block).name) : Json(nullptr)},
                      {"operations", std::move(ids)},
                      {"merges", slice.merges},
                      {"replayed", slice.is_replayed()},
                      {"iterations_independent", slice.iterations_independent},
                      {"parts", slice.parts.size()}});
  }
  Json edges = Json::array();
  for (const SliceEdge& edge : local.edges) {
    edges.push_back({{"from", local.slices[edge.from.value].label},
                     {"to", local.slices[edge.to.value].label},
                     {"reasons", edge.reasons}});
  }
  return {{"name", procedure.name},
          {"logged", procedure.writes},
          {"logged_by_rows", procedure.is_logged_by_rows() ? Json(procedure.by_chance) : Json()},
          {"operations", std::move(operations)},
          {"slices", std::move(slices)},
          {"edges", std::move(edges)}};
}

nlohmann::ordered_json json_of(const Program& program, const DependencyGraph& graph, const Block& block) {
  using Json = nlohmann::ordered_json;
  Json members = Json::array();
  for (const BlockMember& member : block.members) {
    members.push_back(graph.local(member.procedure).slices[member.slice.value].label);
  }
  Json tables = Json::array();
  for (TableId id : block.tables) {
    const TableDefinition& table = program.catalog.table(id);
    const LaneTable* lanes = block.lane_table(id);
    Json finer = Json::array();
    for (size_t way = 1; lanes != nullptr && way < lanes->ways(); ++way) {
      finer.push_back({{"lane_columns", names_of(table, lanes->way(way))},
                       {"in_all_lanes", wide_accesses(program, graph, block, id, way, Wide::kAlways)},
                       {"by_hint", wide_accesses(program, graph, block, id, way, Wide::kWithoutHint)}});
    }
    tables.push_back(
        {{"name", table.name},
         {"written", lanes != nullptr},
         {"lane_columns", lanes == nullptr ? std::vector<std::string>() : names_of(table, lanes->columns)},
         {"lost", lanes == nullptr ? std::vector<std::string>() : lost_texts(*lanes)},
         {"finer", std::move(finer)},
         {"any_lane", lanes != nullptr && lanes->any_lane}});
  }
  return {{"name", block.name},
          {"slices", std::move(members)},
          {"merges", block.merges},
          {"tables", std::move(tables)}};
}

}  // namespace

const Slice& slice_of(const LocalGraph& local, OperationId operation) {
  for (const Slice& slice : local.slices) {
    if (std::ranges::binary_search(slice.operations, operation)) return slice;
  }
  CHECK(false);
}

std::vector<std::string> lost_texts(const LaneTable& lanes) {
  std::vector<std::string> texts;
  for (const LostColumn& loss : lanes.lost) texts.push_back(loss.text());
  return texts;
}

std::vector<BlockEdge> direct_edges(const DependencyGraph& graph) {
  const ImpliedEdges implied(graph);
  std::vector<BlockEdge> direct;
  for (const BlockEdge& edge : graph.edges) {
    if (!implied.contains(edge)) direct.push_back(edge);
  }
  return direct;
}

std::string render_lanes(const Program& program, const DependencyGraph& graph, const Block& block,
                         TableId table) {
  const LaneTable* lanes = block.lane_table(table);
  return lanes == nullptr ? program.catalog.table(table).name + " read only"
                          : lanes_of(program, graph, block, *lanes);
}

std::string render_text(const Program& program, const DependencyGraph& graph) {
  return TextWriter(program, graph).write();
}

std::string render_dot(const Program& program, const DependencyGraph& graph) {
  std::string dot = "digraph blocks {\n  compound=true;\n  node [shape=box];\n";
  auto out = std::back_inserter(dot);
  for (const Block& block : graph.blocks) {
    fmt::format_to(out, "  subgraph cluster_{} {{\n    style=dashed;\n    label={};\n", block.id.value,
                   dot_string(fmt::format("{}: {}", block.name, tables_of(program, graph, block))));
    for (const BlockMember& member : block.members) {
      fmt::format_to(out, "    {};\n",
                     dot_string(graph.local(member.procedure).slices[member.slice.value].label));
    }
    dot += "  }\n";
  }
  auto first_label = [&](BlockId id) {
    const BlockMember& member = graph.block(id).members.front();
    return dot_string(graph.local(member.procedure).slices[member.slice.value].label);
  };
  for (const BlockEdge& edge : direct_edges(graph)) {
    fmt::format_to(out, "  {} -> {} [ltail=cluster_{}, lhead=cluster_{}];\n", first_label(edge.from),
                   first_label(edge.to), edge.from.value, edge.to.value);
  }
  dot += "}\n";
  return dot;
}

nlohmann::ordered_json render_json(const Program& program, const DependencyGraph& graph) {
  using Json = nlohmann::ordered_json;
  Json procedures = Json::array();
  for (const LocalGraph& local : graph.procedures) procedures.push_back(json_of(program, graph, local));
  Json blocks = Json::array();
  size_t slices = 0;
  for (const Block& block : graph.blocks) {
    blocks.push_back(json_of(program, graph, block));
    slices += block.members.size();
  }
  const size_t block_count = blocks.size();
  Json edges = Json::array();
  for (const BlockEdge& edge : graph.edges) {
    edges.push_back({{"from", graph.block(edge.from).name},
                     {"to", graph.block(edge.to).name},
                     {"reasons", edge.reasons}});
  }
  Json insert_only = Json::array();
  for (const TableId table : graph.insert_only) insert_only.push_back(program.catalog.table(table).name);
  Json shared_columns = Json::array();
  for (const SharedColumn& shared : graph.shared_columns) {
    shared_columns.push_back(
        {{"column", name_of(program.catalog, shared)}, {"blocks", block_names(graph, shared)}});
  }
  return {{"procedures", std::move(procedures)},
          {"blocks", std::move(blocks)},
          {"edges", std::move(edges)},
          {"insert_only_tables", std::move(insert_only)},
          {"shared_columns", std::move(shared_columns)},
          {"block_count", block_count},
          {"slice_count", slices}};
}

}  // namespace mneme
