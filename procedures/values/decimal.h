// Decimal: exact numbers that have their own digits after the point, as PostgreSQL's numeric has: what a
// query divides, averages, and brings together from numbers of different digits.
//
// Invariants  a number has at most 38 digits, and at most 38 after the point; a result of more is an error,
//             never a rounded answer. The digits after the point are those that PostgreSQL shows.
// Source      PostgreSQL 15, numeric.c: select_div_scale() for quotients.
#pragma once

#include <compare>

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

inline constexpr Type kDecimalType{.kind = TypeKind::kDecimal};

std::strong_ordering compare_decimals(const Value& a, const Value& b);

// a op b for +, -, *, / and %.
[[nodiscard]] bool apply_decimal(ir::Op op, const Value& a, const Value& b, Arena& arena, Value& result,
                                 SqlError& error);

// round() and trunc() to so many digits, which may be negative; floor() and ceil(), to none.
[[nodiscard]] bool round_decimal(ir::Function function, const Value& value, int64_t digits, Arena& arena,
                                 Value& result, SqlError& error);

// Returns the same number without zeros at its end, so that equal numbers have equal bits.
Value without_trailing_zeros(const Value& value);

}  // namespace mneme
