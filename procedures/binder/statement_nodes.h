// Statement nodes: how binders make the statements that no user wrote. Private to the binder.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "procedures/binder/expression_nodes.h"

namespace mneme::nodes {

inline ir::Statement make_statement(ir::StatementKind kind, ir::SourceLocation where) {
  ir::Statement statement;
  statement.kind = kind;
  statement.where = where;
  return statement;
}

inline ir::Expr make_boolean(bool value, ir::SourceLocation where) {
  ir::Expr expr = make(ir::ExprKind::kConstant, kBoolean, where);
  expr.constant = Value::of_bool(value);
  return expr;
}

inline ir::Expr make_variable(VariableId variable, const Type& type, ir::SourceLocation where) {
  ir::Expr expr = make(ir::ExprKind::kVariable, type, where);
  expr.variable = variable;
  return expr;
}

inline ir::Expr make_not(ir::Expr condition) {
  const ir::SourceLocation where = condition.where;
  return make_unary(ir::Op::kNot, kBoolean, std::move(condition), where);
}

inline ir::Statement make_assign(VariableId variable, ir::Expr value, ir::SourceLocation where) {
  ir::Statement assign = make_statement(ir::StatementKind::kAssign, where);
  assign.variable = variable;
  assign.expr = std::move(value);
  return assign;
}

// IF condition THEN RAISE. A percent sign in the message stands for itself.
inline ir::Statement make_raise_if(ir::Expr condition, const char* sqlstate, std::string_view message,
                                   ir::SourceLocation where) {
  ir::Statement raise = make_statement(ir::StatementKind::kRaise, where);
  raise.sqlstate = sqlstate;
  for (const char c : message) raise.message += c == '%' ? "%%" : std::string(1, c);
  ir::Statement choice = make_statement(ir::StatementKind::kIf, where);
  choice.expr = std::move(condition);
  choice.body.push_back(std::move(raise));
  return choice;
}

}  // namespace mneme::nodes
