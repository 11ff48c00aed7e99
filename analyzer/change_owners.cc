#include "analyzer/change_owners.h"

#include <algorithm>
#include <set>

namespace mneme {
namespace {

// The blocks whose replayed operations touch a table, and each of its columns.
struct Touches {
  std::set<BlockId> table;
  std::vector<std::set<BlockId>> columns;
};

std::vector<Touches> find_touches(const DependencyGraph& graph, const Catalog& catalog) {
  std::vector<Touches> touches;
  for (const TableDefinition& table : catalog.tables()) {
    touches.emplace_back().columns.resize(table.columns.size());
  }
  const auto touch = [&](TableId table, const std::vector<ColumnId>& columns, BlockId block) {
    Touches& of_table = touches[table.value];
    of_table.table.insert(block);
    for (const ColumnId column : columns) of_table.columns[column.value].insert(block);
  };
  for (const Block& block : graph.blocks) {
    for (const BlockMember& member : block.members) {
      const LocalGraph& local = graph.local(member.procedure);
      for (const OperationId id : local.slices[member.slice.value].replayed) {
        const ir::Operation& operation = local.replay.operations[id.value];
        for (const ir::TableAccess& access : operation.access)
          touch(access.table, access.columns_read, block.id);
        touch(operation.access[0].table, operation.columns_written, block.id);
      }
    }
  }
  return touches;
}

Owner owner_of(const DependencyGraph& graph, TableId table, const std::set<BlockId>& blocks) {
  if (blocks.empty()) return Owner::nobody();
  const BlockId block = *blocks.begin();
  const bool is_ordered = blocks.size() == 1 && graph.block(block).lane_table(table) != nullptr;
  return is_ordered ? Owner::of(block) : Owner::barrier();
}

bool is_in_secondary_index(const Catalog& catalog, const TableDefinition& table, ColumnId column) {
  return std::ranges::any_of(table.indexes, [&](IndexId index) {
    return index != table.primary_key && std::ranges::count(catalog.index(index).columns, column) > 0;
  });
}

}  // namespace

ChangeOwners::ChangeOwners(const DependencyGraph& graph, const Catalog& catalog) {
  const std::vector<Touches> touches = find_touches(graph, catalog);
  for (const TableDefinition& table : catalog.tables()) {
    const Touches& of_table = touches[table.id.value];
    TableOwners& owners = tables_.emplace_back();
    owners.existence = owner_of(graph, table.id, of_table.table);
    for (uint32_t c = 0; c < table.columns.size(); ++c) {
      if (owners.existence != Owner::barrier())
        owners.columns.push_back(owners.existence);
      else if (is_in_secondary_index(catalog, table, ColumnId{c}))
        owners.columns.push_back(Owner::barrier());
      else
        owners.columns.push_back(owner_of(graph, table.id, of_table.columns[c]));
    }
  }
}

}  // namespace mneme
