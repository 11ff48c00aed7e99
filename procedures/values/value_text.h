// Value text: values as PostgreSQL's output functions print them, and as its input functions read them.
//
// Flow        casts to and from text (cast.h), RAISE's arguments, call_text.h -> these
// Errors      what a type cannot hold is refused in PostgreSQL's words (SqlError).
// Not here    NULL, arrays and whole calls (call_text.h).
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

// A type's name in PostgreSQL's messages, without its modifiers.
std::string_view type_name(const Type& type);

// Appends a value that is not NULL: 't' for true, char(n) padded to its length.
void print_value(const Type& type, const Value& value, fmt::memory_buffer& out);

// Reads text as PostgreSQL's input function of the type does, and then as an assignment to the type: what
// does not fit is refused. The value's text lies in the arena.
[[nodiscard]] bool parse_value(const Type& type, std::string_view text, Arena& arena, Value& value,
                               SqlError& error);

// Returns whether the text is valid UTF-8 without zero bytes, as PostgreSQL wants text in a UTF8 database.
[[nodiscard]] bool check_text(std::string_view text, Arena& arena, SqlError& error);

// The treatment of text of more characters than its type allows.
enum class TooLong : uint8_t {
  kCut,        // it is cut, as explicit casts do
  kCutBlanks,  // blanks at its end are cut, anything else is refused, as assignments do
  kRefuse,     // it is refused: a parameter's, whose length PostgreSQL ignores
};

// Makes a value of a string type from valid text that outlives it. Lengths count characters. Whether the
// bytes have room in a column is looked at where they are stored (fail_no_room()).
[[nodiscard]] bool fit_string(const Type& type, TooLong too_long, std::string_view text, Arena& arena,
                              Value& value, SqlError& error);
// Makes a value of a numeric type from a number at the type's scale.
// A timestamp with the digits that its type keeps.
Value fit_timestamp(const Type& type, int64_t microseconds);
[[nodiscard]] bool fit_numeric(const Type& type, int128 number, Arena& arena, Value& value, SqlError& error);

inline bool fits_integer(TypeKind kind, int64_t number) {
  if (kind == TypeKind::kInt) return number == static_cast<int32_t>(number);
  if (kind == TypeKind::kSmallInt) return number == static_cast<int16_t>(number);
  return true;
}

}  // namespace mneme
