// What the shell's commands that describe the database ask of pg_catalog, and what they print: psql's tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "procedures/session/sql_session.h"

namespace mneme {

// Runs a query.
using Ask = FunctionRef<StatementResult(const std::string& query)>;

// A text to print; or the failure of one of the queries.
struct Description {
  std::string text;
  std::optional<StatementResult> failure;
  bool found = true;  // false: there is nothing of this name, and `text` says so
};

// The relations of these kinds (pg_class.relkind, as "rvS"), whose names match the pattern. Empty: all.
Description list_relations(std::string_view kinds, std::string_view pattern, Ask ask);
Description list_procedures(std::string_view pattern, Ask ask);
// Each relation whose name matches the pattern, with its columns, indexes and constraints.
Description describe_relations(std::string_view pattern, Ask ask);

}  // namespace mneme
