// Check query: a SELECT that must return no row: a condition of a user's own workload.
//
// File        statements, each ended by a semicolon; what a comment on the line before one says is its name:
//                 -- what customers owe is what they bought, less what they paid
//                 SELECT ...;
// Errors      a statement that is no SELECT, or names what the schema lacks: the file and the line.
// Threads     one owner; the database is at rest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/transaction/database.h"
#include "procedures/binder/program.h"
#include "workloads/shared/workload.h"

namespace mneme {

// `file`: as errors name it.
Result<std::vector<CheckQuery>> parse_check_queries(std::string_view text, const std::string& file,
                                                    const Program& program);

// Runs each. The detail of one that does not hold is its first row, and how many there are.
std::vector<Check> run_check_queries(std::span<const CheckQuery> queries, const Program& program,
                                     Database& database);

}  // namespace mneme
