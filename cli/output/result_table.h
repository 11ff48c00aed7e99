// A statement's result as psql prints it: an aligned table and a count of rows, or the statement's tag; and
// as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/output/output.h"
#include "procedures/session/sql_session.h"

namespace mneme {

// The table, with NULL as nothing, "(1 row)" and an empty line; without columns the tag.
std::string result_text(const StatementResult& result);

// The table with a title over it, unless that is empty, these lines below it, and an empty line.
std::string table_text(const StatementResult& result, std::string_view title,
                       const std::vector<std::string>& footers);

// {"tag","columns":[{"name","type"}],"rows":[[...]]}, or {"sqlstate","message"}. Values are text, or null.
Json result_json(const StatementResult& result);

}  // namespace mneme
