// A statement's result as psql prints it: an aligned table and a count of rows, or the statement's tag; and
// as JSON.
#pragma once

#include <string>

#include "cli/output/output.h"
#include "procedures/session/sql_session.h"

namespace mneme {

// The table, with NULL as nothing, "(1 row)" and an empty line; without columns the tag.
std::string result_text(const StatementResult& result);

// {"tag","columns":[{"name","type"}],"rows":[[...]]}, or {"sqlstate","message"}. Values are text, or null.
Json result_json(const StatementResult& result);

}  // namespace mneme
