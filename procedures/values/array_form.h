// Array form's readers: a text, or an array of other elements, into the form in which a column holds an array
// (engine/schema/array_form.h).
//
// Errors      as PostgreSQL's: 22P02 for a text that spells no array, else what its element's type says.
//             Arrays of several dimensions are not supported (0A000).
#pragma once

#include <compare>
#include <string_view>

#include "base/memory/arena.h"
#include "engine/schema/array_form.h"
#include "engine/schema/value.h"
#include "procedures/ir/sql_error.h"
#include "procedures/values/comparison.h"
#include "procedures/values/value_text.h"

namespace mneme {

// Reads a text that spells an array. `read` lies in the arena.
[[nodiscard]] bool read_array_form(const Type& form, std::string_view text, Arena& arena, Value& read,
                                   SqlError& error);
// Casts each element of `from`'s to `to`'s.
[[nodiscard]] bool cast_array_form(const Type& from, const Type& to, TooLong too_long, std::string_view text,
                                   Arena& arena, Value& result, SqlError& error);

// The order of two arrays: element by element, NULL last; then the shorter one comes first.
std::strong_ordering compare_arrays(const Type& form, std::string_view a, std::string_view b);
// Two values, neither of them NULL, in the order that their type has.
inline std::strong_ordering compare_of_type(const Type& type, const Value& a, const Value& b) {
  return is_array_form(type) ? compare_arrays(type, a.as_text(), b.as_text())
                             : compare_values(type.kind, a, b);
}

}  // namespace mneme
