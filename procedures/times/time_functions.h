// Time functions: PostgreSQL's extract(), date_trunc(), + interval, differences and age(), on timestamps,
// dates and times of day. No operand is NULL.
//
// Errors      a result outside of the years 1 to 9999.
// Source      PostgreSQL 15, timestamp_part_common(), extract_date(), timestamp_trunc(),
//             timestamp_pl_interval(), timestamp_mi() and timestamp_age() in utils/adt.
#pragma once

#include <cstdint>
#include <span>

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"
#include "procedures/times/interval.h"

namespace mneme {

// extract(time, unit), whose numeric result has extracted_scale()'s digits; date_trunc(time, unit);
// add_interval(timestamp, months, days, microseconds, times); move_time(timestamp, interval); and of two
// timestamps time_difference() and age(). A unit is a TimeUnit's number. `source`: the time's type.
[[nodiscard]] bool apply_time_function(ir::Function function, const Type& source,
                                       std::span<const Value> arguments, Arena& arena, Value& result,
                                       SqlError& error);

// The digits after the point of what extract() gives, of an interval too.
uint8_t extracted_scale(TimeUnit unit, const Type& source);

// Say whether extract() of this type, which may be interval, and date_trunc() know the unit.
bool is_extracted(TimeUnit unit, const Type& source);
bool is_truncated(TimeUnit unit);

}  // namespace mneme
