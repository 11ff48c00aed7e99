#include "analyzer/table_use.h"

#include <algorithm>
#include <set>

#include "procedures/ir/ir_walk.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Operation;
using ir::OperationKind;

namespace {

void add_columns(const Expr& whole, size_t access, std::set<ColumnId>& columns) {
  ir::walk(whole, [&](const Expr& part) {
    if (part.kind == ExprKind::kColumn && part.source == access) columns.insert(part.column);
  });
}

bool names_column(const Expr& whole, ColumnId column) {
  std::set<ColumnId> columns;
  add_columns(whole, 0, columns);
  return columns.contains(column);
}

// Returns the columns that expressions and paths name, apart from the value that `without` assigns.
std::set<ColumnId> named_columns(const Catalog& catalog, const Operation& operation, size_t access,
                                 const ir::Assignment* without) {
  std::set<ColumnId> columns;
  ir::for_each_expression(operation, [&](const Expr& expr) {
    if (without == nullptr || &expr != &without->value) add_columns(expr, access, columns);
  });
  const ir::AccessPath& path = operation.access[access].path;
  if (path.index.valid()) {
    const std::vector<ColumnId>& key = catalog.index(path.index).columns;
    columns.insert(key.begin(), key.end());
  }
  return columns;
}

// Returns whether the type's values are whole multiples of one unit, in at most 8 bytes. Sums of such values,
// truncated to the column's width, have the same bits in any order.
bool counts_units(const Type& type) {
  return type.is_integer() || (type.kind == TypeKind::kNumeric && type.precision <= kNarrowNumericPrecision);
}

bool same_unit(const Type& column, const Type& value) {
  if (value.is_array) return false;
  if (column.is_integer()) return value.is_integer();
  return value.kind == TypeKind::kNumeric && value.scale == column.scale;
}

bool is_column(const Expr& expr, ColumnId column) {
  return expr.kind == ExprKind::kColumn && expr.source == 0 && expr.column == column;
}

bool is_added(const Catalog& catalog, const TableDefinition& table, const Operation& operation,
              const ir::Assignment& assignment) {
  return increment_of(table, assignment) && !is_indexed(catalog, table, assignment.column) &&
         !named_columns(catalog, operation, 0, &assignment).contains(assignment.column);
}

}  // namespace

std::optional<Increment> increment_of(const TableDefinition& table, const ir::Assignment& assignment) {
  const Column& column = table.column(assignment.column);
  // A NULL stays NULL when a value is added to it, so additions to a nullable column are no plain sums.
  if (column.nullable || !counts_units(column.type)) return std::nullopt;
  const Expr* sum = &assignment.value;
  while (sum->kind == ExprKind::kCast && same_unit(column.type, sum->type)) sum = &sum->args[0];
  if (sum->kind != ExprKind::kBinary || !same_unit(column.type, sum->type)) return std::nullopt;
  const Expr& left = sum->args[0];
  const Expr& right = sum->args[1];
  std::optional<Increment> increment;
  const auto own = [&](const Expr& expr) {
    const Expr* inner = &expr;
    while (inner->kind == ExprKind::kCast && same_unit(column.type, inner->type)) inner = &inner->args[0];
    return is_column(*inner, assignment.column);
  };
  if (sum->op == ir::Op::kAdd && own(left))
    increment = {&right, false};
  else if (sum->op == ir::Op::kAdd && own(right))
    increment = {&left, false};
  else if (sum->op == ir::Op::kSubtract && own(left))
    increment = {&right, true};
  if (!increment || !same_unit(column.type, increment->by->type)) return std::nullopt;
  if (names_column(*increment->by, assignment.column)) return std::nullopt;
  return increment;
}

std::vector<ColumnId> columns_read(const Catalog& catalog, const Operation& operation, size_t access) {
  const std::set<ColumnId> columns = named_columns(catalog, operation, access, nullptr);
  return {columns.begin(), columns.end()};
}

std::vector<TableUse> table_uses(const Catalog& catalog, const Operation& operation) {
  std::vector<TableUse> uses;
  for (size_t access = 0; access < operation.access.size(); ++access) {
    TableUse& use = uses.emplace_back();
    use.table = operation.access[access].table;
    use.reads = columns_read(catalog, operation, access);
  }
  if (operation.kind == OperationKind::kSelect) return uses;

  TableUse& use = uses.front();
  const TableDefinition& table = catalog.table(use.table);
  use.kind = operation.kind;
  use.moves_rows = operation.kind != OperationKind::kUpdate;
  for (const ir::Assignment& assignment : operation.assignments) {
    use.moves_rows |= is_indexed(catalog, table, assignment.column);
    if (is_added(catalog, table, operation, assignment)) {
      use.adds.push_back(assignment.column);
      std::erase(use.reads, assignment.column);
    } else {
      use.sets.push_back(assignment.column);
    }
  }
  if (operation.kind != OperationKind::kUpdate) use.sets = operation.columns_written;
  std::ranges::sort(use.sets);
  std::ranges::sort(use.adds);
  return uses;
}

}  // namespace mneme
