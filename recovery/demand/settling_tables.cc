#include "recovery/demand/settling_tables.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/table_use.h"

namespace mneme {

namespace {

bool has_all(const std::vector<ColumnId>& columns, std::span<const ColumnId> wanted) {
  return std::ranges::all_of(wanted,
                             [&](ColumnId column) { return std::ranges::count(columns, column) > 0; });
}

void add_readers(const DependencyGraph& graph, const Schema& schema, std::vector<SettlingTable>& tables) {
  std::set<std::pair<TableId, ColumnId>> written;
  for (const LocalGraph& local : graph.procedures) {
    for (const ir::Operation& operation : local.replay.operations) {
      for (const ColumnId column : operation.columns_written)
        written.emplace(operation.access[0].table, column);
    }
  }
  for (const Block& block : graph.blocks) {
    for (const BlockMember& member : block.members) {
      const LocalGraph& local = graph.local(member.procedure);
      for (const OperationId operation : local.slices[member.slice.value].replayed) {
        for (const TableUse& use : table_uses(schema.catalog(), local.replay.operations[operation.value])) {
          if (block.lane_table(use.table) != nullptr) continue;
          std::vector<SettlingTable::Reader>& readers = tables[use.table.value].readers;
          if (readers.empty() || readers.back().block != block.id.value)
            readers.push_back({block.id.value, {}, {}});
          for (const ColumnId column : use.reads) {
            if (is_indexed(schema.catalog(), schema.catalog().table(use.table), column)) continue;
            readers.back().columns.push_back(column);
            if (written.contains({use.table, column}))
              readers.back().parts |= schema.layout(use.table).parts(column);
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<SettlingTable> settling_tables(const DependencyGraph& graph, const Schema& schema,
                                           const PieceDispatch& dispatch,
                                           std::span<const LanePlacement> placements) {
  const Catalog& catalog = schema.catalog();
  std::vector<SettlingTable> tables(catalog.tables().size());
  for (const TableDefinition& table : catalog.tables()) {
    for (uint32_t b = 0; b < dispatch.blocks().size(); ++b) {
      const std::optional<RowLanes> lanes = dispatch.row_lanes(b, placements[b], table.id);
      if (!lanes) continue;
      const std::span<const ColumnId> columns = lanes->columns();
      const bool holds_keys = std::ranges::all_of(table.indexes, [&](IndexId index) {
        return !catalog.index(index).unique || has_all(catalog.index(index).columns, columns);
      });
      ImageParts moving;
      for (const ColumnId column : columns) {
        if (!is_indexed(catalog, table, column)) moving |= schema.layout(table.id).parts(column);
      }
      tables[table.id.value].writers.push_back(
          {b, LaneRing(lanes->lanes), columns, lanes->table->any_lane, holds_keys, moving});
    }
  }
  add_readers(graph, schema, tables);
  return tables;
}

}  // namespace mneme
