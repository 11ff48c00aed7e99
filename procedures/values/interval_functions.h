// Interval functions: PostgreSQL's arithmetic and functions on intervals. No operand is NULL.
//
// Errors      a part that overflows.
// Source      PostgreSQL 15, interval_pl(), interval_mul(), interval_div(), interval_justify_interval(),
//             interval_part_common(), interval_trunc() and make_interval() in utils/adt/timestamp.c.
#pragma once

#include <span>

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"
#include "procedures/values/interval.h"

namespace mneme {

// a op b for + and -.
[[nodiscard]] bool apply_interval(ir::Op op, const Value& a, const Value& b, Arena& arena, Value& result,
                                  SqlError& error);
[[nodiscard]] bool negate_interval(const Value& a, Arena& arena, Value& result, SqlError& error);

// What a factor leaves of a month goes to the days, and what it leaves of a day to the time.
[[nodiscard]] bool multiply_interval(const Value& interval, double factor, Arena& arena, Value& result,
                                     SqlError& error);
[[nodiscard]] bool divide_interval(const Value& interval, double divisor, Arena& arena, Value& result,
                                   SqlError& error);

// extract(interval, unit), whose numeric result has extracted_scale()'s digits; date_trunc(interval, unit);
// interval * double and interval / double; justify_days() and its like; make_interval() of seven numbers.
[[nodiscard]] bool apply_interval_function(ir::Function function, std::span<const Value> arguments,
                                           Arena& arena, Value& result, SqlError& error);

// The interval with as many digits of a second as the type keeps, halves away from zero.
Value fit_interval(const Type& type, const Interval& interval);

}  // namespace mneme
