// Value text: values as PostgreSQL's output functions print them, and as its input functions read them.
//
// Used by casts to and from text, RAISE's arguments, `mneme inspect`, CSV calls and the comparison with
// PostgreSQL.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/result.h"
#include "engine/type.h"
#include "engine/value.h"
#include "procedures/call.h"
#include "procedures/program.h"
#include "procedures/sql_error.h"

namespace mneme {

// Appends a value that is not NULL: 't' for true, char(n) padded to its length.
void print_value(const Type& type, const Value& value, fmt::memory_buffer& out);

// Reads text as PostgreSQL's input function of the type does, and then as an assignment to the type: what
// does not fit is refused. The value's text lies in the arena.
[[nodiscard]] bool parse_value(const Type& type, std::string_view text, Arena& arena, Value& value,
                               SqlError& error);

// An argument in PostgreSQL's external form: an array as {1,2,NULL}; nothing for a NULL one.
std::optional<std::string> print_argument(const Type& type, const Argument& argument);
Result<Argument> parse_argument(const Type& type, std::string_view text, Arena& arena);

// The argument as an SQL expression of its type: 'it''s'::varchar(10), NULL::int[].
std::string sql_literal(const Type& type, const Argument& argument);

// CALL new_order(...): the call as a statement that PostgreSQL accepts; hidden arguments follow as a comment.
std::string print_call(const Program& program, const Call& call);

}  // namespace mneme
