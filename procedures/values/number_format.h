// Number format: to_char() of a number, by a template such as 'FM999,990.00'.
//
// Signs       decimal points, separators and the currency's sign are those of the locale C.
// Errors      a template that contradicts itself (42601); a number that has no Roman one (22003).
// Source      PostgreSQL 15, section 9.8 (data type formatting functions).
#pragma once

#include <string>
#include <string_view>

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

// `type`: the number's, int, decimal, real or double precision.
[[nodiscard]] bool format_number(std::string_view format, const Type& type, const Value& number, Arena& arena,
                                 std::string& text, SqlError& error);

}  // namespace mneme
