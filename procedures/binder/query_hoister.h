// Query hoister: EXISTS (query), (query) and calls of functions in an expression of PL/pgSQL become
// statements before the one that has the expression, and variables in their place.
//
// Invariants  EXISTS is a PERFORM whose FOUND is the variable; (query) is a FOR loop that keeps the one row's
//             value, and raises 21000 at a second row. The query runs once, wherever in the expression it
//             stands: where AND, OR or CASE would not have come to it, too, as PostgreSQL is free to do.
//             Analysis, replay and machine code see ordinary operations.
// Names       no name of a user's holds a blank: "query 1" is the first variable.
// Any form    what is left then and still can't be bound, for a query of another form than SELECT ... INTO
//             has or a function that queries have alone, is a query as a whole (AnyExpressions).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "procedures/binder/names.h"
#include "procedures/binder/operation_binder.h"
#include "procedures/ir/ir.h"
#include "procedures/parser/syntax.h"

namespace mneme {

// Expressions that queries of any form have alone.
class AnyExpressions {
 public:
  virtual ~AnyExpressions() = default;
  // Whether a procedure's expression can't be this one, and a query may.
  virtual bool needs_query(const syntax::Expr& expr) = 0;
  // Appends the query, and returns what stands in the expression's place; the expression itself, where it is
  // no query either.
  virtual syntax::Expr query_of(const syntax::Expr& expr, std::vector<ir::Statement>& out) = 0;
};

class QueryHoister {
 public:
  // Appends the body of a function that is called, and returns what stands in the call's place.
  using Inline =
      std::function<syntax::Expr(const syntax::Expr&, const syntax::Procedure&, std::vector<ir::Statement>&)>;

  QueryHoister(Names& names, OperationBinder& operations, ir::Procedure& procedure, AnyExpressions& others,
               Inline inline_call)
      : names_(names),
        operations_(operations),
        procedure_(procedure),
        others_(others),
        inline_call_(std::move(inline_call)) {}

  // Returns the expression without its queries, whose statements it appends to `out`.
  syntax::Expr hoist(const syntax::Expr& expr, std::vector<ir::Statement>& out);
  // Whether it has a query, or the call of a function that is more than an expression, or is to be a query.
  bool needs_statements(const syntax::Expr& expr);
  bool has_statement_call(const syntax::Expr& expr);

 private:
  static bool has_query(const syntax::Expr& expr);
  // The function, where it is more than an expression; else nullptr.
  const syntax::Procedure* statement_function(const syntax::Expr& expr, uint32_t depth);
  bool has_statement_call(const syntax::Expr& expr, uint32_t depth);
  // `is_conditional`: whether it is evaluated in some cases alone.
  syntax::Expr hoist_part(const syntax::Expr& expr, bool is_conditional, std::vector<ir::Statement>& out);
  syntax::Expr hoist_exists(const syntax::Expr& expr, syntax::Operation query,
                            std::vector<ir::Statement>& out);
  syntax::Expr hoist_scalar(const syntax::Expr& expr, syntax::Operation query,
                            std::vector<ir::Statement>& out);
  syntax::Name new_name(ir::SourceLocation where);

  Names& names_;
  OperationBinder& operations_;
  ir::Procedure& procedure_;
  AnyExpressions& others_;
  Inline inline_call_;
  uint32_t queries_ = 0;
};

}  // namespace mneme
