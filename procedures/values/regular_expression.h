// Regular expression: text ~ pattern, in time that grows with the text alone.
//
// Patterns    as RE2 reads them, which is what PostgreSQL reads but for back references, look-around and
//             collating elements: those are refused.
#pragma once

#include <string_view>

#include "base/memory/arena.h"
#include "engine/schema/value.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

// Whether the pattern is found anywhere in the text.
[[nodiscard]] bool matches(std::string_view text, std::string_view pattern, bool any_case, Arena& arena,
                           Value& result, SqlError& error);

}  // namespace mneme
