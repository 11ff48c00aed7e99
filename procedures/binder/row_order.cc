#include "procedures/binder/row_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "procedures/binder/access_path.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;

namespace {

Expr column_expr(const Catalog& catalog, const ir::Operation& operation, PathColumn column) {
  Expr expr;
  expr.kind = ExprKind::kColumn;
  expr.source = column.source;
  expr.column = column.column;
  expr.type = catalog.table(operation.access[column.source].table).column(column.column).type;
  expr.where = operation.where;
  return expr;
}

// ORDER BY's plain columns, up to the first key that is not one.
struct UserOrder {
  std::vector<PathColumn> columns;
  bool only_columns = true;
  bool one_direction = true;
};

// Drops keys that have one value or were named before: they order nothing.
UserOrder simplify(const Catalog& catalog, ir::Operation& operation) {
  UserOrder result;
  std::vector<ir::OrderKey> kept;
  for (ir::OrderKey& key : operation.order) {
    if (key.expr.kind == ExprKind::kColumn) {
      const PathColumn column{key.expr.source, key.expr.column};
      const bool repeated = std::ranges::find(result.columns, column) != result.columns.end();
      if (repeated || is_constant(catalog, operation.access, column)) continue;
      result.columns.push_back(column);
    } else {
      result.only_columns = false;
    }
    kept.push_back(std::move(key));
    result.one_direction &= kept.back().descending == kept.front().descending;
  }
  operation.order = std::move(kept);
  return result;
}

}  // namespace

void set_row_order(const Catalog& catalog, ir::Operation& operation) {
  const bool user_descends_last = !operation.order.empty() && operation.order.back().descending;
  UserOrder order = simplify(catalog, operation);
  if (!identifies_rows(catalog, operation.access, order.columns)) {
    const bool descending = operation.order.empty() ? user_descends_last : operation.order.back().descending;
    for (uint8_t source = 0; source < static_cast<uint8_t>(operation.access.size()); ++source) {
      const TableDefinition& table = catalog.table(operation.access[source].table);
      if (!table.primary_key) {
        operation.by_chance = fmt::format(
            "which rows of {} it takes, or in which order, depends on chance, as the table has no primary "
            "key",
            table.name);
        break;
      }
      for (const ColumnId id : catalog.index(*table.primary_key).columns) {
        const PathColumn column{source, id};
        const bool repeated = std::ranges::find(order.columns, column) != order.columns.end();
        if (repeated || is_fixed(catalog, operation.access, column)) continue;
        order.columns.push_back(column);
        operation.order.push_back({column_expr(catalog, operation, column), descending});
        order.one_direction &= descending == operation.order.front().descending;
      }
    }
  }
  const auto path = path_order(catalog, operation.access);
  operation.order_is_path_order = order.only_columns && order.one_direction &&
                                  order.columns.size() <= path.size() &&
                                  std::equal(order.columns.begin(), order.columns.end(), path.begin());
  operation.order_is_path_order |= operation.order.empty();
  operation.path_backward =
      operation.order_is_path_order && !operation.order.empty() && operation.order.front().descending;
}

void note_sums_by_chance(const Catalog& catalog, ir::Operation& operation) {
  const auto rounds = [](const ir::Aggregate& aggregate) {
    // DISTINCT values come in their own order.
    return aggregate.kind == ir::Aggregate::Kind::kSum && !aggregate.distinct &&
           aggregate.argument->type.is_floating();
  };
  if (std::ranges::none_of(operation.aggregates, rounds)) return;
  for (const ir::TableAccess& access : operation.access) {
    const TableDefinition& table = catalog.table(access.table);
    if (table.primary_key || catalog.names_rows(catalog.index(access.path.index))) continue;
    operation.by_chance = fmt::format(
        "its sum() of a double precision rounds as the rows of {} come, and the table has no primary key to "
        "order them",
        table.name);
  }
}

void stop_at_first_row_for_extreme(const Catalog& catalog, ir::Operation& operation) {
  if (operation.aggregates.size() != 1 || operation.access.size() != 1) return;
  const ir::Aggregate& aggregate = operation.aggregates[0];
  const bool is_min = aggregate.kind == ir::Aggregate::Kind::kMin;
  if (!is_min && aggregate.kind != ir::Aggregate::Kind::kMax) return;
  if (aggregate.argument->kind != ExprKind::kColumn) return;
  const ColumnId column = aggregate.argument->column;
  // NULLs come last: read backwards, a NULL would come before the greatest value.
  if (!is_min && catalog.table(operation.access[0].table).column(column).nullable) return;
  const auto path = path_order(catalog, operation.access);
  if (path.empty() || path.front() != PathColumn{0, column}) return;
  operation.first_row_decides = true;
  operation.path_backward = !is_min;
}

}  // namespace mneme
