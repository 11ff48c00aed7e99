#include "recovery/log/replayed_indexes.h"

#include <algorithm>
#include <optional>

namespace mneme {

namespace {

// Calls visit(access) for each access of the operations that replay performs.
template <typename Visit>
void for_each_access(const DependencyGraph& graph, Visit&& visit) {
  for (const LocalGraph& local : graph.procedures) {
    for (const Slice& slice : local.slices) {
      for (const OperationId operation : slice.replayed) {
        for (const ir::TableAccess& access : local.replay.operations[operation.value].access) {
          if (access.path.index.valid()) visit(access);
        }
      }
    }
  }
}

// By table.
std::vector<bool> written_tables(const DependencyGraph& graph, const Catalog& catalog) {
  std::vector<bool> is_written(catalog.tables().size());
  for (const LocalGraph& local : graph.procedures) {
    for (const ir::Operation& operation : local.replay.operations) {
      if (operation.kind != ir::OperationKind::kSelect) is_written[operation.access[0].table.value] = true;
    }
  }
  return is_written;
}

// Whether an insert must be told that the index has the key already. It need not where the primary key is
// part of this one: then no two rows can have it.
bool refuses_rows(const Catalog& catalog, const IndexDefinition& index) {
  if (!index.unique) return false;
  const std::optional<IndexId> primary = catalog.table(index.table).primary_key;
  if (!primary || *primary == index.id) return true;
  return !std::ranges::all_of(catalog.index(*primary).columns, [&](ColumnId column) {
    return std::ranges::find(index.columns, column) != index.columns.end();
  });
}

}  // namespace

std::vector<IndexId> unread_indexes(const DependencyGraph& graph, const Catalog& catalog) {
  std::vector<bool> is_read(catalog.indexes().size());
  for_each_access(graph, [&](const ir::TableAccess& access) { is_read[access.path.index.value] = true; });
  std::vector<IndexId> unread;
  for (uint32_t i = 0; i < is_read.size(); ++i) {
    if (!is_read[i] && !refuses_rows(catalog, catalog.indexes()[i])) unread.push_back(IndexId{i});
  }
  return unread;
}

std::vector<IndexId> constant_indexes(const DependencyGraph& graph, const Catalog& catalog) {
  std::vector<bool> finds_rows(catalog.indexes().size());
  for_each_access(graph, [&](const ir::TableAccess& access) {
    if (access.path.kind == ir::AccessPath::Kind::kPoint) finds_rows[access.path.index.value] = true;
  });
  const std::vector<bool> is_written = written_tables(graph, catalog);
  std::vector<IndexId> constant;
  for (uint32_t i = 0; i < finds_rows.size(); ++i) {
    if (finds_rows[i] && !is_written[catalog.indexes()[i].table.value]) constant.push_back(IndexId{i});
  }
  return constant;
}

}  // namespace mneme
