// Element query: what is asked of an array's elements, one by one, as a query of them.
#pragma once

#include <functional>

#include "procedures/parser/syntax.h"

namespace mneme {

// x op ANY (array), or `is_all`, x op ALL (array), where `compare` makes x op element: three-valued, and NULL
// of an array that is NULL.
syntax::Expr compare_elements(syntax::Expr array, bool is_all,
                              const std::function<syntax::Expr(syntax::Expr element)>& compare);

}  // namespace mneme
