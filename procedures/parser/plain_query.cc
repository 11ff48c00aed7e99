#include "procedures/parser/plain_query.h"

#include <algorithm>

namespace mneme {

namespace {

bool add_table(const syntax::FromItem& item, syntax::Operation& to) {
  const bool is_public = item.schema.empty() || item.schema == "public";
  if (item.kind != syntax::FromItem::Kind::kTable || !is_public || !item.column_aliases.empty()) return false;
  to.tables.push_back({item.name, item.alias});
  return to.tables.size() <= 2;
}

bool add_from_item(const syntax::FromItem& item, syntax::Operation& to) {
  if (item.kind != syntax::FromItem::Kind::kJoins) return add_table(item, to);
  if (item.joins.size() > 1 || !add_table(item.first[0], to)) return false;
  for (const syntax::FromItem::Join& join : item.joins) {
    if (join.kind != syntax::JoinKind::kInner || !join.on || !add_table(join.item, to)) return false;
    to.conditions.push_back(*join.on);
  }
  return true;
}

}  // namespace

std::optional<syntax::Operation> plain_select(const syntax::Operation& operation, bool with_groups) {
  const syntax::Query& query = *operation.query;
  if (!query.with.empty() || !query.more.empty() || !query.first.select) return std::nullopt;
  const syntax::SelectCore& core = *query.first.select;
  const bool nulls_placed = std::ranges::any_of(
      query.order, [](const syntax::OrderItem& item) { return item.nulls_first.has_value(); });
  if (query.with_ties) return std::nullopt;
  // Those that do not wait lock the rows that they return, and no other: query_runner.h does that.
  const bool waits = std::ranges::all_of(
      query.locks, [](const syntax::LockClause& lock) { return lock.wait == ir::LockWait::kWaits; });
  if (!waits) return std::nullopt;
  const bool has_groups = core.distinct || core.has_group || core.having;
  if ((has_groups && !with_groups) || nulls_placed || core.items.empty()) return std::nullopt;
  if (!core.distinct_on.empty() || core.grouping_sets.size() > 1) return std::nullopt;
  syntax::Operation plain;
  plain.kind = operation.kind;
  plain.where = operation.where;
  plain.text = operation.text;
  for (const syntax::FromItem& item : core.from) {
    if (!add_from_item(item, plain)) return std::nullopt;
  }
  if (core.condition) plain.conditions.push_back(*core.condition);
  plain.items = core.items;
  plain.distinct = core.distinct;
  if (core.has_group) plain.groups = core.grouping_sets[0];
  plain.having = core.having;
  plain.order = query.order;
  plain.limit = query.limit;
  plain.offset = query.offset;
  plain.for_update = query.for_update;
  return plain;
}

}  // namespace mneme
