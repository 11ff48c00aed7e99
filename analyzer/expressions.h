// Expressions: questions that the analysis asks of single expressions.
#pragma once

#include <set>

#include "procedures/ir/ir.h"

namespace mneme {

void add_variables(const ir::Expr& expr, std::set<VariableId>& variables);

// Whether it needs a row: a column of one, or an aggregate over some.
bool uses_columns(const ir::Expr& expr);

// Whether the expression has a value whatever its variables hold: it may then be evaluated where it is not
// known whether the procedure would.
bool cannot_fail(const ir::Expr& expr);

// Whether it is the constant true: the condition of LOOP, and of an EXIT without WHEN.
bool is_true(const ir::Expr& expr);

// Whether both are written alike, and so have equal values where their variables have.
bool same_expression(const ir::Expr& a, const ir::Expr& b);

}  // namespace mneme
