// The names that PL/pgSQL has for errors' conditions, as in EXCEPTION WHEN division_by_zero.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mneme {

// Returns the SQLSTATEs of a condition, in lower case; none where there is no condition of that name.
std::vector<std::string> sqlstates_of_condition(std::string_view name);
// Returns whether a text may be an SQLSTATE.
bool is_sqlstate(std::string_view text);

}  // namespace mneme
