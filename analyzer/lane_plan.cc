#include "analyzer/lane_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/expressions.h"
#include "procedures/interpreter/call_hints.h"

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

bool can_be_told(const Type& type) {
  return !type.is_array && (type.is_string() || type.is_integer() || type.kind == TypeKind::kBoolean ||
                            type.kind == TypeKind::kTimestamp || type.kind == TypeKind::kDate ||
                            type.kind == TypeKind::kTime || type.kind == TypeKind::kEnum);
}

// Without the number that it stands under.
std::optional<ToldKey> key_of(const Catalog& catalog, const ir::Operation& operation) {
  if (operation.access.empty() || operation.any_query) return std::nullopt;
  const TableDefinition& table = catalog.table(operation.access[0].table);
  if (!table.primary_key) return std::nullopt;
  const std::map<ColumnId, ir::Expr> fixed = fixed_columns(catalog, operation, 0);
  ToldKey key;
  for (const ColumnId column : catalog.index(*table.primary_key).columns) {
    const auto found = fixed.find(column);
    if (found == fixed.end() || !can_be_told(table.column(column).type) || uses_columns(found->second) ||
        !cannot_fail(found->second))
      continue;
    key.columns.push_back(column);
    key.values.push_back(found->second);
  }
  if (key.columns.empty() || key.columns.size() > kMostHintColumns) return std::nullopt;
  return key;
}

constexpr size_t kMostFinerWays = 3;
constexpr size_t kMostWaysByHint = 2;

enum class Hints : bool { kNone, kUsed };

bool knows(const AccessSite& site, ColumnId column, Hints hints) {
  return site.keys.contains(column) ||
         (hints == Hints::kUsed && std::ranges::count(site.hint_columns, column) > 0);
}

bool is_moved_by(const IndexDefinition& index, const ir::Operation& operation) {
  const std::set<ColumnId> assigned = assigned_columns(operation);
  return std::ranges::any_of(index.columns, [&](ColumnId column) { return assigned.contains(column); });
}

// Whether the rows that the access touches lie in other lanes than the way's columns say, or their unique
// keys may go to rows that do.
bool is_wide(const Catalog& catalog, const AccessSite& site, const std::vector<ColumnId>& way, Hints hints) {
  // A hint has whole keys: it does not mix with what is known without.
  const bool follows =
      std::ranges::all_of(way, [&](ColumnId column) { return knows(site, column, Hints::kNone); }) ||
      (hints == Hints::kUsed && std::ranges::all_of(way, [&](ColumnId column) {
         return std::ranges::count(site.hint_columns, column) > 0;
       }));
  if (!follows) return true;
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
    add_finer(lanes, Hints::kNone, kMostFinerWays);
    if (lanes.columns.empty()) {
      const size_t plain = lanes.finer.size();
      add_finer(lanes, Hints::kUsed, plain + kMostWaysByHint);
      lanes.by_hint = lanes.finer.size() - plain;
    }
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

  // What single accesses fix; of several ways those that the most accesses follow. With hints, those alone
  // that some access follows by one, and that are not among them yet.
  void add_finer(LaneTable& lanes, Hints hints, size_t most_ways) const {
    std::map<std::vector<ColumnId>, size_t> followers;
    for (const AccessSite* site : sites_) {
      std::set<ColumnId> columns;
      for (const auto& [column, value] : site->keys) columns.insert(column);
      if (hints == Hints::kUsed) columns.insert(site->hint_columns.begin(), site->hint_columns.end());
      const std::vector<ColumnId> way = way_of(columns);
      if (way.size() > lanes.columns.size() && std::ranges::count(lanes.finer, way) == 0)
        followers.emplace(way, 0);
    }
    const auto count_by = [&](const std::vector<ColumnId>& way, Hints with) {
      return static_cast<size_t>(std::ranges::count_if(
          sites_, [&](const AccessSite* site) { return !is_wide(catalog_, *site, way, with); }));
    };
    for (auto& [way, count] : followers) {
      count = count_by(way, hints);
      if (hints == Hints::kUsed && count == count_by(way, Hints::kNone)) count = 0;
    }
    while (lanes.finer.size() < most_ways) {
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
        const bool is_told = std::ranges::count(site->hint_columns, column) > 0;
        loss.advice =
            is_told ? "a hint says it, and a parameter would be known" : "a parameter would be known";
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
    access.is_wide.push_back(w > 0 && is_wide(catalog, site, lanes.way(w), Hints::kNone));
    // Where every access says some columns, the run notes no keys.
    const bool may_hint = w > 0 && lanes.columns.empty();
    access.is_wide_hinted.push_back(may_hint ? is_wide(catalog, site, lanes.way(w), Hints::kUsed)
                                             : access.is_wide.back());
    if (access.is_wide_hinted != access.is_wide) {
      access.hint = site.hint;
      access.hint_columns = site.hint_columns;
      located.told = site.told;
    }
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

std::optional<ToldKey> told_key(const Catalog& catalog, const ir::Procedure& procedure,
                                OperationId operation) {
  const ir::Operation& what = procedure.operations[operation.value];
  std::optional<ToldKey> key = key_of(catalog, what);
  if (!key) return key;
  key->hint = operation;
  for (const ir::Operation& other : procedure.operations) {
    if (other.id >= operation) break;
    if (other.access.empty() || other.access[0].table != what.access[0].table) continue;
    const std::optional<ToldKey> its = key_of(catalog, other);
    if (!its || its->columns != key->columns ||
        !std::ranges::equal(its->values, key->values, same_expression))
      continue;
    key->hint = other.id;
    break;
  }
  return key;
}

ir::Statement tell_statement(const ir::Statement& statement, OperationId hint,
                             const std::vector<ir::Expr>& values, ir::MarkedBody& body) {
  ir::Statement tell;
  tell.kind = ir::StatementKind::kOperation;
  tell.where = statement.where;
  tell.operation = hint;
  body.mark(tell, {.mode = ir::OperationMode::kTell, .lane_key = values});
  return tell;
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
