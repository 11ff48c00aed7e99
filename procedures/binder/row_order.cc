#include "procedures/binder/row_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/schema/array_form.h"
#include "engine/schema/text_form.h"
#include "procedures/binder/access_path.h"
#include "procedures/binder/operation_binder.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"

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

// PostgreSQL reads a minus before a number as a part of it.
bool is_negated_number(const syntax::Expr& expr) {
  if (expr.kind != syntax::ExprKind::kUnary || expr.op != ir::Op::kNegate) return false;
  const syntax::Expr& arg = expr.args[0];
  return arg.kind == syntax::ExprKind::kInteger || arg.kind == syntax::ExprKind::kDecimal ||
         is_negated_number(arg);
}

// Whether two expressions are the same, by their form. Constants count as different, which at worst asks for
// an AS.
bool same_expression(const Expr& a, const Expr& b) {
  return a.kind == b.kind && a.kind != ExprKind::kConstant && a.op == b.op && a.function == b.function &&
         a.source == b.source && a.type == b.type && a.variable == b.variable && a.column == b.column &&
         a.aggregate == b.aggregate && std::ranges::equal(a.args, b.args, same_expression);
}

// Columns of the table have one value in each group: they are keys, or its primary key's are.
bool is_one_in_group(const Catalog& catalog, const ir::Operation& operation, const Expr& column) {
  const auto is_key = [&](ColumnId id) {
    return std::ranges::any_of(operation.groups, [&](const Expr& key) {
      return key.kind == ExprKind::kColumn && key.source == column.source && key.column == id;
    });
  };
  if (is_key(column.column)) return true;
  const TableDefinition& table = catalog.table(operation.access[column.source].table);
  return table.primary_key && std::ranges::all_of(catalog.index(*table.primary_key).columns, is_key);
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

// Equal intervals may be written differently, as 1 mon and 30 days are, and so may equal numerics, as 1.5 and
// 1.50.
static bool has_several_texts(const Expr& expr) {
  return expr.type.kind == TypeKind::kInterval || expr.type.kind == TypeKind::kDecimal;
}

void note_sums_by_chance(const Catalog& catalog, ir::Operation& operation) {
  const auto rounds = [](const ir::Aggregate& aggregate) {
    // DISTINCT values come in their own order.
    return aggregate.kind == ir::Aggregate::Kind::kSum && !aggregate.distinct &&
           aggregate.argument->type.is_floating();
  };
  // min(), max() and DISTINCT take the first of equal ones, and a sum may overflow on its way.
  const auto takes_first = [](const ir::Aggregate& aggregate) {
    return aggregate.argument && has_several_texts(*aggregate.argument) &&
           aggregate.kind != ir::Aggregate::Kind::kCount;
  };
  const bool any_rounds = std::ranges::any_of(operation.aggregates, rounds);
  if (!any_rounds && std::ranges::none_of(operation.aggregates, takes_first)) return;
  for (const ir::TableAccess& access : operation.access) {
    const TableDefinition& table = catalog.table(access.table);
    if (table.primary_key || catalog.names_rows(catalog.index(access.path.index))) continue;
    operation.by_chance = fmt::format(
        "its {} as the rows of {} come, and the table has no primary key to order them",
        any_rounds ? "sum() of a double precision rounds" : "aggregate takes the first of equal values",
        table.name);
  }
}

void note_groups_by_chance(const Catalog& catalog, ir::Operation& operation) {
  // Two zeros are one key, and two texts of it.
  const auto has_forms = [](const Expr& key) { return key.type.is_floating() || has_several_texts(key); };
  const auto key = std::ranges::find_if(operation.groups, has_forms);
  if (key == operation.groups.end()) return;
  for (const ir::TableAccess& access : operation.access) {
    const TableDefinition& table = catalog.table(access.table);
    if (table.primary_key) continue;
    operation.by_chance = fmt::format(
        "{} are one group, which shows the first of them, and {} has no primary key to order its rows",
        key->type.kind == TypeKind::kInterval ? "1 mon and 30 days"
        : has_several_texts(*key)             ? "1.5 and 1.50"
                                              : "0 and -0",
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

void OperationBinder::bind_order(const syntax::Operation& from, ExpressionBinder& binder, ir::Operation& to) {
  for (const syntax::OrderItem& item : from.order) {
    if (item.expr.kind == syntax::ExprKind::kInteger) {
      refuse_as(sqlstate::kNotSupported, item.expr.where,
                "ORDER BY a position is not supported; write the column's name");
    }
    if (is_negated_number(item.expr)) {
      refuse_as(sqlstate::kNotSupported, item.expr.where,
                "ORDER BY a constant orders nothing; write a column's name");
    }
    // A bare name means a column of the result before it means one of a table.
    const bool bare = item.expr.kind == syntax::ExprKind::kReference && item.expr.qualifier.empty();
    const auto named = std::ranges::find_if(
        items_, [&](const Item& output) { return bare && output.name == item.expr.text; });
    if (named != items_.end()) {
      const bool ambiguous = std::any_of(named + 1, items_.end(), [&](const Item& other) {
        return other.name == named->name && !same_expression(other.expr, named->expr);
      });
      if (ambiguous) {
        refuse(item.expr.where,
               "ORDER BY {} is ambiguous: two columns of the result have that name; give one another with AS",
               item.expr.text);
      }
    }
    Expr key = named != items_.end() ? named->expr : binder.bind_value(item.expr);
    if (key.kind == ExprKind::kConstant) {
      refuse_as(sqlstate::kNotSupported, item.expr.where,
                "ORDER BY a constant orders nothing; write a column's name");
    }
    if (is_array_form(key.type))
      refuse_as(sqlstate::kNotSupported, item.expr.where, "ORDER BY is supported in queries alone of arrays");
    if (is_json(key.type)) {
      const bool is_binary = is_form(key.type, TextForm::kJsonb);
      refuse_as(is_binary ? sqlstate::kNotSupported : sqlstate::kUndefinedFunction, item.expr.where,
                "{} type {}{}",
                is_binary ? "ORDER BY is supported in queries alone of"
                          : "could not identify an ordering operator for",
                to_string(key.type), is_binary ? "" : "; cast it to jsonb");
    }
    to.order.push_back({std::move(key), item.descending});
  }
}

void OperationBinder::bind_groups(const syntax::Operation& from, ExpressionBinder& binder,
                                  ir::Operation& to) {
  if (from.for_update) {
    refuse_as(sqlstate::kNotSupported, *from.for_update, "FOR UPDATE is not allowed with {}",
              from.distinct ? "DISTINCT clause" : "GROUP BY clause");
  }
  if (from.distinct && (!from.groups.empty() || !to.aggregates.empty())) {
    refuse_as(sqlstate::kNotSupported, from.where,
              "DISTINCT beside GROUP BY or an aggregate is not supported; leave it out, or group by more");
  }
  std::vector<bool> is_key(items_.size(), from.distinct);
  const auto add_item = [&](size_t i) {
    is_key[i] = true;
    to.groups.push_back(items_[i].expr);
  };
  for (size_t i = 0; i < items_.size() && from.distinct; ++i) add_item(i);
  for (const syntax::Expr& key : from.groups) {
    if (key.kind == syntax::ExprKind::kInteger) {
      const size_t number = key.text.size() > 4 ? 0 : std::stoul(key.text);
      if (number < 1 || number > items_.size())
        refuse_as("42P10", key.where, "GROUP BY position {} is not in select list", key.text);
      add_item(number - 1);
      continue;
    }
    // A bare name means a column of a table before it means one of the result.
    const bool is_bare = key.kind == syntax::ExprKind::kReference && key.qualifier.empty();
    const bool is_column = std::ranges::any_of(
        sources_, [&](const RowSource& source) { return source.table->find_column(key.text).has_value(); });
    const auto named = std::ranges::find_if(items_, [&](const Item& item) { return item.name == key.text; });
    if (is_bare && !is_column && named != items_.end()) {
      add_item(static_cast<size_t>(named - items_.begin()));
    } else {
      ExpressionBinder plain(names_, strings_, sources_);
      to.groups.push_back(plain.bind_value(key));
    }
  }
  for (const Expr& key : to.groups) {
    if (is_array_form(key.type))
      refuse_as(sqlstate::kNotSupported, key.where, "groups of arrays are supported in queries alone");
    if (is_form(key.type, TextForm::kJson))
      refuse_as(sqlstate::kUndefinedFunction, key.where,
                "could not identify an equality operator for type json; cast it to jsonb");
    ir::walk(key, [&](const Expr& part) {
      if (part.kind == ExprKind::kAggregate)
        refuse_as(sqlstate::kGrouping, part.where, "aggregate functions are not allowed in GROUP BY");
    });
  }
  if (from.having) to.having = binder.bind_condition(*from.having);
  bind_order(from, binder, to);
  for (const syntax::TableReference& table : from.tables)
    to.access.push_back({catalog_.find_table(table.table.text)->id, {}, {}, {}});
  for (size_t i = 0; i < items_.size(); ++i) {
    if (!is_key[i]) check_grouped(items_[i].expr, to);
  }
  if (to.having) check_grouped(*to.having, to);
  for (const ir::OrderKey& key : to.order) {
    const bool is_item =
        std::ranges::any_of(items_, [&](const Item& item) { return same_expression(item.expr, key.expr); });
    if (from.distinct && !is_item) {
      refuse_as("42P10", key.expr.where,
                "for SELECT DISTINCT, ORDER BY expressions must appear in select list");
    }
    if (!is_item) check_grouped(key.expr, to);
  }
  to.access.clear();
}

void OperationBinder::check_grouped(const Expr& expr, const ir::Operation& to) const {
  if (std::ranges::any_of(to.groups, [&](const Expr& key) { return same_expression(key, expr); })) return;
  if (expr.kind == ExprKind::kColumn && !is_one_in_group(catalog_, to, expr)) {
    refuse_as(sqlstate::kGrouping, expr.where,
              "column \"{}.{}\" must appear in the GROUP BY clause or be used in an aggregate function",
              sources_[expr.source].name, sources_[expr.source].table->column(expr.column).name);
  }
  for (const Expr& arg : expr.args) check_grouped(arg, to);
}

}  // namespace mneme
