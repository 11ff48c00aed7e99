// Syntax nodes: makes parts of the syntax tree's expressions. Private to the parser.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "procedures/parser/syntax.h"

namespace mneme {

inline syntax::Expr make_syntax(syntax::ExprKind kind, syntax::SourceLocation where) {
  syntax::Expr expr;
  expr.kind = kind;
  expr.where = where;
  return expr;
}

inline syntax::Expr make_syntax_unary(ir::Op op, syntax::Expr arg, syntax::SourceLocation where) {
  syntax::Expr expr = make_syntax(syntax::ExprKind::kUnary, where);
  expr.op = op;
  expr.args.push_back(std::move(arg));
  return expr;
}

inline syntax::Expr make_syntax_binary(ir::Op op, syntax::Expr left, syntax::Expr right) {
  syntax::Expr expr = make_syntax(syntax::ExprKind::kBinary, left.where);
  expr.op = op;
  expr.args.push_back(std::move(left));
  expr.args.push_back(std::move(right));
  return expr;
}

inline syntax::Expr make_syntax_call(std::string name, std::vector<syntax::Expr> args,
                                     syntax::SourceLocation where) {
  syntax::Expr expr = make_syntax(syntax::ExprKind::kCall, where);
  expr.text = std::move(name);
  expr.args = std::move(args);
  return expr;
}

}  // namespace mneme
