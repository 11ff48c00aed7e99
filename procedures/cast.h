// Cast: a value of one type made a value of another, as PostgreSQL's casts do it. The value is not NULL.
//
// Rounding    numeric to fewer digits and numeric to integer: halves away from zero. double to integer: halves to even.
//             double to numeric: by way of its first 15 digits, as PostgreSQL.
#pragma once

#include "base/arena.h"
#include "engine/type.h"
#include "engine/value.h"
#include "procedures/sql_error.h"

namespace mneme {

// `cut`: an explicit cast to a bounded string cuts what is too long; an assignment's refuses it.
[[nodiscard]] bool cast_value(const Type& from, const Type& to, bool cut, const Value& value, Arena& arena,
                              Value& result, SqlError& error);

}  // namespace mneme
