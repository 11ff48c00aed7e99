// Numeric powers: exp(), ln(), log() and power() of numeric, with the digits that PostgreSQL gives them.
//
// Invariants  a result is the exact value, rounded once, halves away from zero, to as many digits behind the
//             point as PostgreSQL chooses: at least 16 significant ones by an estimate, and as many as the
//             arguments have behind theirs. A result of more than 38 digits is an error.
// Source      PostgreSQL 15, numeric.c: numeric_exp(), estimate_ln_dweight(), log_var(), power_var().
#pragma once

#include "base/memory/arena.h"
#include "engine/schema/value.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

[[nodiscard]] bool exp_of_numeric(const Value& value, Arena& arena, Value& result, SqlError& error);
[[nodiscard]] bool ln_of_numeric(const Value& value, Arena& arena, Value& result, SqlError& error);
// The logarithm of `value` to the base.
[[nodiscard]] bool log_of_numeric(const Value& base, const Value& value, Arena& arena, Value& result,
                                  SqlError& error);
[[nodiscard]] bool power_of_numeric(const Value& base, const Value& exponent, Arena& arena, Value& result,
                                    SqlError& error);

}  // namespace mneme
