// Walks over the IR's expressions: every reader that asks "which variables, which columns" goes through here,
// so that a new place for an expression is added once.
#pragma once

#include <utility>

#include "procedures/ir/ir.h"

namespace mneme::ir {

// Calls visit(e) for `expr` and all expressions inside it, outer ones first.
template <typename ExprType, typename Visit>
void walk(ExprType& expr, Visit&& visit) {
  visit(expr);
  for (auto& arg : expr.args) walk(arg, visit);
}

// Calls visit(e) for each whole expression of the access: path and filter.
template <typename AccessType, typename Visit>
void for_each_expression_of_access(AccessType& access, Visit&& visit) {
  for (auto& equality : access.path.equalities) {
    for (auto& value : equality.values) visit(value);
  }
  if (access.path.lower) visit(access.path.lower->value);
  if (access.path.upper) visit(access.path.upper->value);
  if (access.filter) visit(*access.filter);
}

// Calls visit(e) for each whole expression of the operation but those of its accesses.
template <typename OperationType, typename Visit>
void for_each_expression_beside_access(OperationType& operation, Visit&& visit) {
  for (auto& aggregate : operation.aggregates) {
    if (aggregate.argument) visit(*aggregate.argument);
  }
  for (auto& key : operation.groups) visit(key);
  if (operation.having) visit(*operation.having);
  for (auto& key : operation.order) visit(key.expr);
  if (operation.limit) visit(*operation.limit);
  if (operation.offset) visit(*operation.offset);
  for (auto& assignment : operation.assignments) visit(assignment.value);
  for (auto& value : operation.values) visit(value);
  for (auto& output : operation.outputs) visit(output.expr);
}

template <typename OperationType, typename Visit>
void for_each_expression(OperationType& operation, Visit&& visit) {
  for (auto& access : operation.access) for_each_expression_of_access(access, visit);
  for_each_expression_beside_access(operation, visit);
}

}  // namespace mneme::ir
