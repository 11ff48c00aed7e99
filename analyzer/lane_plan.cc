#include "analyzer/lane_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace mneme {
namespace {

using ir::OperationKind;

// Whether equal values of the two types are equal as Values. A double has two zeros, an interval of a month
// is one of 30 days, and 1.5 is 1.50.
bool same_bits(const Type& a, const Type& b) {
  if (a.is_array || b.is_array) return false;
  if (a.is_integer()) return b.is_integer();
  if (a.kind != b.kind || a.is_floating() || a.kind == TypeKind::kInterval || a.kind == TypeKind::kDecimal)
    return false;
  return a.kind != TypeKind::kNumeric || a.scale == b.scale;
}

std::set<ColumnId> assigned_columns(const ir::Operation& operation) {
  std::set<ColumnId> columns;
  for (const ir::Assignment& assignment : operation.assignments) columns.insert(assignment.column);
  return columns;
}

bool writes(const AccessSite& site) {
  return site.what->kind != OperationKind::kSelect && site.access == 0;
}

constexpr size_t kMostFinerWays = 3;

bool is_moved_by(const IndexDefinition& index, const ir::Operation& operation) {
  const std::set<ColumnId> assigned = assigned_columns(operation);
  return std::ranges::any_of(index.columns, [&](ColumnId column) { return assigned.contains(column); });
}

// Whether the rows that the access touches lie in other lanes than the way's columns say, or their unique
// keys may go to rows that do.
bool is_wide(const Catalog& catalog, const AccessSite& site, const std::vector<ColumnId>& way) {
  const bool knows_all =
      std::ranges::all_of(way, [&](ColumnId column) { return site.keys.contains(column); });
  if (!knows_all) return true;
  if (!writes(site)) return false;
  const std::set<ColumnId> assigned = assigned_columns(*site.what);
  if (std::ranges::any_of(way, [&](ColumnId column) { return assigned.contains(column); })) return true;
  return std::ranges::any_of(catalog.table(site.table).indexes, [&](IndexId id) {
    const IndexDefinition& index = catalog.index(id);
    const bool gives_up = site.what->kind == OperationKind::kDelete || is_moved_by(index, *site.what);
    return index.unique && gives_up && !std::ranges::all_of(way, [&](ColumnId column) {
             return std::ranges::count(index.columns, column) > 0;
           });
  });
}

class TableLanes {
 public:
  TableLanes(const Catalog& catalog, TableId table, std::vector<const AccessSite*> sites)
      : catalog_(catalog), table_(catalog.table(table)), sites_(std::move(sites)) {}

  LaneTable choose() const {
    LaneTable lanes;
    lanes.table = table_.id;
    lanes.any_lane = !has_unique_index() && std::ranges::all_of(sites_, [](const AccessSite* site) {
      return site->what->kind == OperationKind::kInsert;
    });
    if (lanes.any_lane) return lanes;

    std::set<ColumnId> candidates = known_everywhere();
    for (const AccessSite* site : sites_) {
      for (ColumnId column : assigned_columns(*site->what)) candidates.erase(column);
    }
    for (IndexId index : table_.indexes) keep_unique_keys_together(catalog_.index(index), candidates);
    lanes.columns = way_of(candidates);
    if (lanes.columns.empty()) lanes.lost = losses();
    add_finer(lanes);
    return lanes;
  }

 private:
  // Rows that agree on the primary key are one row: more columns would cut no finer.
  std::vector<ColumnId> way_of(const std::set<ColumnId>& columns) const {
    std::vector<ColumnId> way;
    if (table_.primary_key) {
      for (ColumnId column : catalog_.index(*table_.primary_key).columns) {
        if (columns.contains(column)) way.push_back(column);
      }
    }
    if (way.empty()) way.assign(columns.begin(), columns.end());
    return way;
  }

  // What single accesses fix; of several ways those that the most accesses follow.
  void add_finer(LaneTable& lanes) const {
    std::map<std::vector<ColumnId>, size_t> followers;
    for (const AccessSite* site : sites_) {
      std::set<ColumnId> columns;
      for (const auto& [column, value] : site->keys) columns.insert(column);
      const std::vector<ColumnId> way = way_of(columns);
      if (way.size() > lanes.columns.size()) followers.emplace(way, 0);
    }
    for (auto& [way, count] : followers) {
      count = static_cast<size_t>(std::ranges::count_if(
          sites_, [&](const AccessSite* site) { return !is_wide(catalog_, *site, way); }));
    }
    while (lanes.finer.size() < kMostFinerWays) {
      const auto most =
          std::ranges::max_element(followers, {}, [](const auto& entry) { return entry.second; });
      if (most == followers.end() || most->second == 0) return;
      lanes.finer.push_back(most->first);
      most->second = 0;
    }
  }

  // For each column of the primary key, or without one each that some access fixes.
  std::vector<LostColumn> losses() const {
    std::set<ColumnId> known;
    for (const AccessSite* site : sites_) {
      for (const auto& [column, value] : site->keys) known.insert(column);
    }
    std::vector<ColumnId> wanted(known.begin(), known.end());
    if (table_.primary_key) wanted = catalog_.index(*table_.primary_key).columns;
    std::vector<LostColumn> losses;
    for (const ColumnId column : wanted) losses.push_back(loss_of(column));
    return losses;
  }

  LostColumn loss_of(ColumnId column) const {
    LostColumn loss;
    loss.column = table_.column(column).name;
    for (const AccessSite* site : sites_) {
      loss.line = site->what->where.line;
      loss.statement = site->what->text;
      if (assigned_columns(*site->what).contains(column)) {
        loss.reason = fmt::format("line {} assigns it", loss.line);
        return loss;
      }
      if (site->keys.contains(column)) continue;
      if (fixed_columns(catalog_, *site->what, site->access).contains(column)) {
        loss.reason = fmt::format("line {} takes its value from what the slice itself reads", loss.line);
        loss.advice = "a parameter would be known";
      } else {
        loss.reason = fmt::format("line {} does not say which", loss.line);
        loss.advice = fmt::format("WHERE {} = ... would, by an index that begins with it", loss.column);
      }
      return loss;
    }
    loss.line = 0;
    loss.statement.clear();
    loss.reason = "its type has equal values that are not the same bits";
    for (const IndexId id : table_.indexes) {
      const IndexDefinition& index = catalog_.index(id);
      if (!index.unique || std::ranges::count(index.columns, column) > 0) continue;
      loss.reason = fmt::format("unique keys of {}, which do without it, change hands", index.name);
      break;
    }
    return loss;
  }

  bool has_unique_index() const {
    return std::ranges::any_of(table_.indexes,
                               [this](IndexId index) { return catalog_.index(index).unique; });
  }

  std::set<ColumnId> known_everywhere() const {
    std::set<ColumnId> columns;
    for (const auto& [column, value] : sites_.front()->keys) columns.insert(column);
    for (const AccessSite* site : sites_) {
      std::erase_if(columns, [site](ColumnId column) { return !site->keys.contains(column); });
    }
    return columns;
  }

  // Where a unique key may be given up by one row and taken by another, both must be in one lane.
  void keep_unique_keys_together(const IndexDefinition& index, std::set<ColumnId>& candidates) const {
    if (!index.unique) return;
    bool given_up = false;
    bool taken = false;
    for (const AccessSite* site : sites_) {
      const bool moves = is_moved_by(index, *site->what);
      given_up |= moves || site->what->kind == OperationKind::kDelete;
      taken |= moves || site->what->kind == OperationKind::kInsert;
    }
    if (!given_up || !taken) return;
    std::erase_if(candidates,
                  [&](ColumnId column) { return std::ranges::count(index.columns, column) == 0; });
  }

  const Catalog& catalog_;
  const TableDefinition& table_;
  const std::vector<const AccessSite*> sites_;
};

}  // namespace

LocateSite locate_site(const Catalog& catalog, const LaneTable& lanes, const AccessSite& site) {
  LocateSite located{{site.operation, site.access, site.table, {}, {}}, site.at, {}};
  LocatedAccess& access = located.access;
  for (size_t w = 0; w < lanes.ways(); ++w) {
    access.is_wide.push_back(w > 0 && is_wide(catalog, site, lanes.way(w)));
    for (const ColumnId column : lanes.way(w)) {
      if (!site.keys.contains(column) || std::ranges::count(access.columns, column) > 0) continue;
      access.columns.push_back(column);
      located.key.push_back(site.keys.at(column));
    }
  }
  return located;
}

std::map<ColumnId, ir::Expr> fixed_columns(const Catalog& catalog, const ir::Operation& operation,
                                           uint32_t access) {
  const ir::TableAccess& what = operation.access[access];
  const TableDefinition& table = catalog.table(what.table);
  std::map<ColumnId, ir::Expr> fixed;
  if (operation.kind == OperationKind::kInsert) {
    for (uint32_t i = 0; i < operation.values.size(); ++i) fixed.emplace(ColumnId(i), operation.values[i]);
  } else {
    if (!what.path.index.valid()) return fixed;
    const IndexDefinition& index = catalog.index(what.path.index);
    for (size_t i = 0; i < what.path.equalities.size(); ++i) {
      const ir::AccessPath::Equality& equality = what.path.equalities[i];
      if (equality.values.size() == 1 && !equality.array.valid()) {
        fixed.emplace(index.columns[i], equality.values[0]);
      }
    }
  }
  std::erase_if(fixed, [&](const auto& entry) {
    return !same_bits(table.column(entry.first).type, entry.second.type);
  });
  return fixed;
}

std::vector<LaneTable> lane_tables(const Catalog& catalog, std::span<const AccessSite> sites) {
  std::map<TableId, std::vector<const AccessSite*>> by_table;
  for (const AccessSite& site : sites) by_table[site.table].push_back(&site);
  std::vector<LaneTable> lanes;
  for (auto& [table, of_table] : by_table) {
    const bool written = std::ranges::any_of(of_table, [](const AccessSite* site) { return writes(*site); });
    if (written) lanes.push_back(TableLanes(catalog, table, std::move(of_table)).choose());
  }
  return lanes;
}

}  // namespace mneme
