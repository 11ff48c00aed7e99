// The consistency conditions of TPC-B [2.3], over a whole database: balances of branches, tellers and
// accounts against one another and against history, one by one.
#pragma once

#include <optional>
#include <vector>

#include "workloads/shared/rows.h"
#include "workloads/shared/workload.h"
#include "workloads/tpcb/tpcb_schema.h"

namespace mneme::tpcb {

std::vector<Check> check_books(const RowSource& rows, const Scale& scale, std::optional<int128> conserved);

}  // namespace mneme::tpcb
