// Query hoister: EXISTS (query) and (query) in an expression of PL/pgSQL become statements before the one
// that has the expression, and variables in their place.
//
// Invariants  EXISTS is a PERFORM whose FOUND is the variable; (query) is a FOR loop that keeps the one row's
//             value, and raises 21000 at a second row. The query runs once, wherever in the expression it
//             stands: where AND, OR or CASE would not have come to it, too, as PostgreSQL is free to do.
//             Analysis, replay and machine code see ordinary operations.
// Names       no name of a user's holds a blank: "query 1" is the first variable.
// Errors      refuse(): a query of another form than a SELECT ... INTO may have stays in the expression,
//             where the expression binder refuses it.
#pragma once

#include <string>
#include <vector>

#include "procedures/binder/names.h"
#include "procedures/binder/operation_binder.h"
#include "procedures/ir/ir.h"
#include "procedures/parser/syntax.h"

namespace mneme {

class QueryHoister {
 public:
  QueryHoister(Names& names, OperationBinder& operations, ir::Procedure& procedure)
      : names_(names), operations_(operations), procedure_(procedure) {}

  // Returns the expression without its queries, whose statements it appends to `out`.
  syntax::Expr hoist(const syntax::Expr& expr, std::vector<ir::Statement>& out);
  static bool has_query(const syntax::Expr& expr);

 private:
  syntax::Expr hoist_exists(const syntax::Expr& expr, syntax::Operation query,
                            std::vector<ir::Statement>& out);
  syntax::Expr hoist_scalar(const syntax::Expr& expr, syntax::Operation query,
                            std::vector<ir::Statement>& out);
  syntax::Name new_name(ir::SourceLocation where);

  Names& names_;
  OperationBinder& operations_;
  ir::Procedure& procedure_;
  uint32_t queries_ = 0;
};

}  // namespace mneme
