// ExpectedGrowth: by how many bytes a workload's calls make its database grow, so that memory can be touched
// for them before they run.
//
// Method      a sample of the workload's own calls. What each inserts and deletes is read off its procedure's
//             IR: a loop runs as often as constants, arguments and lengths of array arguments say. Deletes
//             count against inserts of the same table, whose slots they free.
// Errors      it is an estimate, rather too high: of two branches both count, a loop that runs over rows or
//             until a condition holds counts as ten rounds, and rows rolled back count as inserted.
#pragma once

#include "engine/transaction/database.h"
#include "procedures/binder/program.h"
#include "workloads/shared/workload.h"

namespace mneme {

// Bytes of rows and index entries that a call inserts on average. 0: the workload's calls insert nothing.
double expected_growth_per_call(const Workload& workload, const Program& program, const Database& database);

}  // namespace mneme
