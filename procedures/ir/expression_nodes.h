// Expression nodes: makes parts of expressions, and the statements that no user wrote.
//
// Threads     values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "procedures/ir/ir.h"

namespace mneme::nodes {

inline constexpr Type kBoolean{.kind = TypeKind::kBoolean};
inline constexpr Type kInt{.kind = TypeKind::kInt};
inline constexpr Type kDouble{.kind = TypeKind::kDouble};

inline ir::Expr make(ir::ExprKind kind, const Type& type, ir::SourceLocation where) {
  ir::Expr expr;
  expr.kind = kind;
  expr.type = type;
  expr.where = where;
  return expr;
}

inline ir::Expr make_unary(ir::Op op, const Type& type, ir::Expr arg, ir::SourceLocation where) {
  ir::Expr expr = make(ir::ExprKind::kUnary, type, where);
  expr.op = op;
  expr.args.push_back(std::move(arg));
  return expr;
}

inline ir::Expr make_binary(ir::Op op, const Type& type, ir::Expr left, ir::Expr right,
                            ir::SourceLocation where) {
  ir::Expr expr = make(ir::ExprKind::kBinary, type, where);
  expr.op = op;
  expr.args.push_back(std::move(left));
  expr.args.push_back(std::move(right));
  return expr;
}

inline ir::Expr make_call(ir::Function function, const Type& type, std::vector<ir::Expr> args,
                          ir::SourceLocation where) {
  ir::Expr call = make(ir::ExprKind::kFunction, type, where);
  call.function = function;
  call.args = std::move(args);
  return call;
}

// ---- statements that no user wrote ----

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
