// Arithmetic: PostgreSQL's operators and functions on numbers. No operand is NULL.
//
// Errors      each integer type overflows at its own width; numeric at 38 digits; double precision on
//             infinity and on underflow to zero: an error each, never a wrapped or rounded answer.
#pragma once

#include <cmath>
#include <span>

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

// a op b for +, -, *, / and %. Both have the kind of `type`, the result's; numerics have its scale, except
// under *, whose result has the sum of both scales.
[[nodiscard]] bool apply_arithmetic(ir::Op op, const Type& type, const Value& a, const Value& b, Arena& arena,
                                    Value& result, SqlError& error);

[[nodiscard]] bool negate(const Type& type, const Value& a, Arena& arena, Value& result, SqlError& error);

// abs, sign, floor, ceil, round, trunc, mod, sqrt, power. `source`: the first argument's type; `type`: the
// result's.
[[nodiscard]] bool apply_number_function(ir::Function function, const Type& source, const Type& type,
                                         std::span<const Value> arguments, Arena& arena, Value& result,
                                         SqlError& error);

// A double as a real: nothing where it is too large, or too close to zero.
[[nodiscard]] bool round_to_real(double number, Arena& arena, Value& result, SqlError& error);

[[nodiscard]] bool out_of_range(const Type& type, Arena& arena, SqlError& error);

// Whether a real holds the number.
inline bool is_real(double number) {
  return std::isnan(number) || double{static_cast<float>(number)} == number;
}

}  // namespace mneme
