// Text functions: PostgreSQL's string functions over UTF-8 text under COLLATE "C". No argument is NULL.
//
// Lengths and positions count characters. Only ASCII letters have an upper and a lower case.
// Results are new text in the arena, or parts of the arguments.
// Errors      a result of more than kMaxTextBytes is refused: the arena is memory of one transaction.
#pragma once

#include <span>
#include <string_view>

#include "base/memory/arena.h"
#include "engine/schema/value.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

inline constexpr size_t kMaxTextBytes = 16 * 1024 * 1024;

// length, lower, upper, substring, left, right, trim, ltrim, rtrim, lpad, rpad, replace, position, repeat,
// reverse, octet_length, bit_length, matches, like.
[[nodiscard]] bool apply_text_function(ir::Function function, std::span<const Value> arguments, Arena& arena,
                                       Value& result, SqlError& error);

// chr()
[[nodiscard]] bool character_of_code(int64_t code, Arena& arena, Value& result, SqlError& error);

[[nodiscard]] bool concatenate(std::span<const std::string_view> parts, Arena& arena, Value& result,
                               SqlError& error);

}  // namespace mneme
