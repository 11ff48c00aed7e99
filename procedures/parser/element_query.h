// Element query: what is asked of the elements of an array, or of a json, one by one, as a query of them.
#pragma once

#include <functional>
#include <span>

#include "procedures/parser/syntax.h"

namespace mneme {

// x op ANY (array), or `is_all`, x op ALL (array), where `compare` makes x op element: three-valued, and NULL
// of an array that is NULL.
syntax::Expr compare_elements(syntax::Expr array, bool is_all,
                              const std::function<syntax::Expr(syntax::Expr element)>& compare);

// Makes a call of json_to_record(), json_to_recordset() or one of jsonb in FROM, with the columns behind AS,
// a query of the json's elements. Throws SourceError.
void select_records(syntax::FromItem& item, std::span<const syntax::Name> names,
                    std::span<const syntax::TypeName> types);

}  // namespace mneme
