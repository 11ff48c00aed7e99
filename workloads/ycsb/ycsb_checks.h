// The conditions of a YCSB database: the population's records, what streams inserted, without a gap in any
// stream, and in every field a whole value that was written for it.
#pragma once

#include <optional>
#include <vector>

#include "workloads/shared/rows.h"
#include "workloads/shared/workload.h"
#include "workloads/ycsb/ycsb_schema.h"

namespace mneme::ycsb {

std::vector<Check> check_records(const RowSource& rows, const Settings& settings,
                                 std::optional<int128> conserved);

}  // namespace mneme::ycsb
