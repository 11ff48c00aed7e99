// The twelve consistency conditions of TPC-C (clause 3.3.2), over a whole database.
//
// Clause 3.3.2.11 as printed (orders less new orders: 2,100 a district) speaks of the population; here the
// deliveries since, which the customers count, are added, so that it holds at any time.
#pragma once

#include <vector>

#include "workloads/shared/rows.h"
#include "workloads/shared/workload.h"
#include "workloads/tpcc/tpcc_schema.h"

namespace mneme::tpcc {

std::vector<Check> check_conditions(const RowSource& rows, const Scale& scale);

}  // namespace mneme::tpcc
