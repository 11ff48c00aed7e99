// View text: a view's query, as it was written, with the schema in front of the relations that it reads: what
// pg_dump asks for, and what is understood whatever the search path is.
#pragma once

#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace mneme {

// Puts `prefix` in front of the names behind FROM, JOIN and a comma of FROM that `is_relation` knows, and
// that have no schema. Names of WITH stay.
std::string qualified_query(std::string_view text, std::string_view prefix,
                            FunctionRef<bool(const std::string& name)> is_relation);

// Whether the name stands in the text as a word of its own, in any case.
bool mentions_name(std::string_view text, std::string_view name);

}  // namespace mneme
