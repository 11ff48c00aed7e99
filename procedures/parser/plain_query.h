// Plain query: a session's SELECT that is of the procedures' form: one or two tables, no more clauses than
// they have. It is then bound and run as theirs are, which is faster.
#pragma once

#include <optional>

#include "procedures/parser/syntax.h"

namespace mneme {

// The SELECT as an operation; nothing where it has another form. `operation` has the query.
std::optional<syntax::Operation> plain_select(const syntax::Operation& operation, bool with_groups = false);

}  // namespace mneme
