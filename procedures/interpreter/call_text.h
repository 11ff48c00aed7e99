// Call text: arguments and whole calls as text, for people, CSV files and PostgreSQL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/memory/arena.h"
#include "base/result.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

// An argument in PostgreSQL's external form: an array as {1,2,NULL}; nothing for a NULL one.
std::optional<std::string> print_argument(const Type& type, const Argument& argument);

// The inverse for an argument that is not NULL. Text, arrays and messages lie in the arena.
bool parse_argument(const Type& type, std::string_view text, Arena& arena, Argument& argument,
                    SqlError& error);
Result<Argument> parse_argument(const Type& type, std::string_view text, Arena& arena);

// Makes an argument's value, of its own type, one of the parameter's type: a numeric with the parameter's
// digits. Returns why it can't be, as a sentence's end, or nothing: PostgreSQL ignores a parameter's
// modifiers, so a value that they would change is refused.
std::string fit_argument(const Type& own, const Type& parameter, Value& value);

// The SQLSTATE of that refusal.
const char* unfit_argument_state(const Type& parameter);

// The argument as an SQL expression of its type: 'it''s'::varchar(10), NULL::int[].
std::string sql_literal(const Type& type, const Argument& argument);

// CALL new_order(...): the call as a statement that PostgreSQL accepts. A hidden time follows as a comment.
std::string print_call(const Program& program, const Call& call);

}  // namespace mneme
