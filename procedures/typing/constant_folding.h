// Constant folding: what PostgreSQL computes when it plans a statement, computed here when the statement is
// bound.
//
// Rule        a part whose arguments are constants becomes its value. A strict operator, cast or function
//             with a constant NULL is NULL, whatever its other arguments would raise. AND, OR, CASE and
//             coalesce() drop what constants decide, from the left. A part that raises makes the statement
//             raise before it reads a row, even if the part is in a branch that is not taken.
// Invariants  variables are no constants, though PostgreSQL takes them for such in its first plans of a
//             statement.
// Source      PostgreSQL 15, eval_const_expressions() in optimizer/util/clauses.c; canonicalize_qual() in
//             prepqual.c.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "procedures/ir/ir.h"

namespace mneme {

class ConstantFolder {
 public:
  // `strings` keeps text constants.
  explicit ConstantFolder(std::deque<std::string>& strings) : strings_(strings) {}

  // Folds a part of a statement. The first part that raises is kept for raised().
  void fold(ir::Expr& expr);
  // Folds an expression that PostgreSQL plans alone: where a part of it raises, all of it does.
  void fold_alone(ir::Expr& expr);
  // Drops what is always true from conditions that must all hold. If one never holds, then none that is left
  // raises.
  void fold_conjunction(std::vector<ir::Expr>& parts);

  // Returns the part that raised since the last call, if one did, as a condition whose evaluation raises.
  std::optional<ir::Expr> take_raising();

 private:
  bool fold_part(ir::Expr& expr);
  bool fold_logic(ir::Expr& expr);
  bool fold_case(ir::Expr& expr);
  bool fold_coalesce(ir::Expr& expr);
  bool fold_in_list(ir::Expr& expr);
  bool fold_generic(ir::Expr& expr);
  bool evaluate_constant(ir::Expr& expr);

  std::deque<std::string>& strings_;
  std::optional<ir::Expr> raising_;
};

// A statement of a procedure that raises what `condition`, of take_raising(), does.
ir::Statement make_raising(ir::Expr condition);

// Whether the expression's evaluation may raise, as far as its form shows.
bool can_raise(const ir::Expr& expr);

bool has_column(const ir::Expr& expr);

}  // namespace mneme
