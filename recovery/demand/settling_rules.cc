#include "recovery/demand/settling_rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/table_use.h"
#include "base/check.h"

namespace mneme {

namespace {

bool has_all(const std::vector<ColumnId>& columns, std::span<const ColumnId> wanted) {
  return std::ranges::all_of(wanted,
                             [&](ColumnId column) { return std::ranges::count(columns, column) > 0; });
}

bool is_indexed(const Catalog& catalog, const TableDefinition& table, ColumnId column) {
  return std::ranges::any_of(table.indexes, [&](IndexId index) {
    return std::ranges::count(catalog.index(index).columns, column) > 0;
  });
}

}  // namespace

SettlingRules::SettlingRules(const DependencyGraph& graph, const Schema& schema,
                             const PieceDispatch& dispatch, std::vector<LanePlacement> placements)
    : schema_(schema), dispatch_(dispatch), placements_(std::move(placements)) {
  const Catalog& catalog = schema.catalog();
  tables_.resize(catalog.tables().size());
  for (const TableDefinition& table : catalog.tables()) {
    for (uint32_t b = 0; b < dispatch.blocks().size(); ++b) {
      const std::optional<RowLanes> lanes = dispatch.row_lanes(b, placements_[b], table.id);
      if (!lanes) continue;
      const bool holds_keys = std::ranges::all_of(table.indexes, [&](IndexId index) {
        return !catalog.index(index).unique || has_all(catalog.index(index).columns, lanes->columns());
      });
      ImageParts moving;
      for (const ColumnId column : lanes->columns()) {
        if (!is_indexed(catalog, table, column)) moving |= schema.layout(table.id).parts(column);
      }
      tables_[table.id.value].writers.push_back({b, *lanes, lanes->table->any_lane, holds_keys, moving});
    }
  }
  add_readers(graph, schema);
}

void SettlingRules::add_readers(const DependencyGraph& graph, const Schema& schema) {
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
          std::vector<Reader>& readers = tables_[use.table.value].readers;
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

void SettlingRules::of_rows(TableId table, std::span<const ColumnId> columns, std::span<const Value> values,
                            std::vector<Need>& needs) const {
  std::vector<Value> key;
  for (const Writer& writer : tables_[table.value].writers) {
    if (writer.only_inserts) {
      needs.push_back({writer.block, std::nullopt});
      continue;
    }
    key.clear();
    for (const ColumnId column : writer.lanes.columns()) {
      const auto known = std::ranges::find(columns, column);
      if (known == columns.end()) break;
      key.push_back(values[static_cast<size_t>(known - columns.begin())]);
    }
    const bool is_known = key.size() == writer.lanes.columns().size();
    needs.push_back(
        {writer.block, is_known ? std::optional(dispatch_.lane_of(writer.lanes, key)) : std::nullopt});
  }
}

void SettlingRules::lane_values(TableId table, const Writer& writer, const std::byte* image,
                                std::vector<Value>& key) const {
  key.clear();
  for (const ColumnId column : writer.lanes.columns())
    key.push_back(schema_.layout(table).get(image, column));
}

void SettlingRules::of_insert(TableId table, const std::byte* image, std::vector<Need>& needs) const {
  std::vector<Value> key;
  for (const Writer& writer : tables_[table.value].writers) {
    if (writer.only_inserts) continue;
    if (!writer.holds_keys) {
      needs.push_back({writer.block, std::nullopt});
      continue;
    }
    lane_values(table, writer, image, key);
    needs.push_back({writer.block, dispatch_.lane_of(writer.lanes, key)});
  }
  of_coming_and_going(table, needs);
}

void SettlingRules::of_change(TableId table, ImageParts parts, std::span<const ColumnId> changes,
                              std::vector<Need>& needs) const {
  for (const Writer& writer : tables_[table.value].writers) {
    if (!(writer.moving & parts).is_empty()) needs.push_back({writer.block, std::nullopt});
  }
  for (const Reader& reader : tables_[table.value].readers) {
    const auto reads = [&](ColumnId column) { return std::ranges::count(reader.columns, column) > 0; };
    const bool is_read =
        changes.empty() ? !(reader.parts & parts).is_empty() : std::ranges::any_of(changes, reads);
    if (is_read) needs.push_back({reader.block, std::nullopt});
  }
}

void SettlingRules::of_coming_and_going(TableId table, std::vector<Need>& needs) const {
  for (const Reader& reader : tables_[table.value].readers) needs.push_back({reader.block, std::nullopt});
}

}  // namespace mneme
