// Expression nodes: how the expression binder makes parts of an ir::Expr. Private to the binder's
// expression_binder.cc and list_binder.cc.
#pragma once

#include <utility>

#include "procedures/ir/ir.h"

namespace mneme::nodes {

inline constexpr Type kBoolean{.kind = TypeKind::kBoolean};
inline constexpr Type kInt{.kind = TypeKind::kInt};

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

}  // namespace mneme::nodes
