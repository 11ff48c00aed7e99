// Cast: a value of one type made a value of another, as PostgreSQL's casts do it. The value is not NULL.
//
// Rounding    numeric to fewer digits and numeric to integer: halves away from zero. double to integer:
//             halves to even. double to numeric: by way of its first 15 digits, as PostgreSQL.
#pragma once

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"
#include "procedures/values/value_text.h"

namespace mneme {

// `too_long`: for what does not fit a bounded string; kRefuse: also for a number that keeps its own digits,
// and would be rounded.
[[nodiscard]] bool cast_value(const Type& from, const Type& to, TooLong too_long, const Value& value,
                              Arena& arena, Value& result, SqlError& error);

// Returns what a kCast does with a text that is too long.
inline TooLong too_long_of(const ir::Expr& cast) {
  return cast.explicit_cast ? TooLong::kCut : cast.whole_cast ? TooLong::kRefuse : TooLong::kCutBlanks;
}

}  // namespace mneme
