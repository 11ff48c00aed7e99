// The consistency conditions of TPC-B [2.3], over a whole database: balances of branches, tellers and
// accounts against one another and against history, one by one.
#pragma once

#include <optional>
#include <vector>

#include "workloads/rows.h"
#include "workloads/tpcb_schema.h"
#include "workloads/workload.h"

namespace mneme::tpcb {

std::vector<Check> check_books(const RowSource& rows, const Scale& scale, std::optional<int128> conserved);

}  // namespace mneme::tpcb
