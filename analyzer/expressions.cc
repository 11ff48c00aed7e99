#include "analyzer/expressions.h"

#include <algorithm>

namespace mneme {
namespace {

bool same_constant(const Value& a, const Value& b, const Type& type) {
  if (a.is_null() || b.is_null()) return a.is_null() == b.is_null();
  if (type.is_string()) return a.as_text() == b.as_text();
  return a.as_numeric() == b.as_numeric();  // all other kinds are their bits
}

}  // namespace

void add_variables(const ir::Expr& expr, std::set<VariableId>& variables) {
  if (expr.variable.valid()) variables.insert(expr.variable);
  for (const ir::Expr& arg : expr.args) add_variables(arg, variables);
}

bool uses_columns(const ir::Expr& expr) {
  return expr.kind == ir::ExprKind::kColumn || expr.kind == ir::ExprKind::kAggregate ||
         std::ranges::any_of(expr.args, uses_columns);
}

bool cannot_fail(const ir::Expr& expr) {
  switch (expr.kind) {
    case ir::ExprKind::kConstant:
    case ir::ExprKind::kVariable:
      return true;
    case ir::ExprKind::kArrayElement:  // NULL out of bounds
      return cannot_fail(expr.args[0]);
    case ir::ExprKind::kCast: {
      const Type& from = expr.args[0].type;
      // Only a cast to a wider integer never overflows; the kinds are declared in order of width.
      const bool widens = from.is_integer() && expr.type.is_integer() && from.kind <= expr.type.kind;
      return (widens || from == expr.type) && cannot_fail(expr.args[0]);
    }
    default:
      return false;
  }
}

bool is_true(const ir::Expr& expr) {
  return expr.kind == ir::ExprKind::kConstant && expr.type.kind == TypeKind::kBoolean &&
         !expr.constant.is_null() && expr.constant.as_bool();
}

bool same_expression(const ir::Expr& a, const ir::Expr& b) {
  return a.kind == b.kind && a.op == b.op && a.function == b.function && a.source == b.source &&
         a.type == b.type && a.variable == b.variable && a.column == b.column && a.aggregate == b.aggregate &&
         same_constant(a.constant, b.constant, a.type) && std::ranges::equal(a.args, b.args, same_expression);
}

}  // namespace mneme
