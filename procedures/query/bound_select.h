// Bound select: a session's SELECT that the procedures' subset does not take, bound to a program, and run.
//
// Flow        syntax::Query -> bind_select() -> query_runner.h
// Parameters  as command_binder.h has them: one whose type is not given takes that of the place where the
//             statement first names it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "procedures/binder/command_binder.h"
#include "procedures/query/provided_tables.h"
#include "procedures/query/query_plan.h"

namespace mneme {

struct BoundSelect {
  ir::Procedure procedure;  // its variables; it has no body
  std::deque<std::string> strings;
  query::BoundQueries queries;
  std::vector<ResultColumn> columns;
};

// Throws SourceError. `targets`: what the columns are assigned to, the first ones at least: a column of a
// SELECT is converted as an assignment is, and a literal without a type takes the target's. `parameters`:
// kNull where no type is given; all are known afterwards. `given`: the query is a part of a statement that
// changes rows in WITH, and may read these; parameters that it doesn't name may then stay unknown.
std::unique_ptr<BoundSelect> bind_select(const Program& program, const syntax::Query& query,
                                         std::vector<Type>& parameters, const SessionValues* session,
                                         const query::ProvidedTables* provider,
                                         const std::vector<std::optional<Type>>* targets = nullptr,
                                         const std::vector<query::GivenTable>* given = nullptr);

}  // namespace mneme
