// The conditions of a TATP database: the population's subscribers, access infos and special facilities,
// which no call adds or takes away, and rules of call forwarding that belong to them.
#pragma once

#include <optional>
#include <vector>

#include "workloads/shared/rows.h"
#include "workloads/shared/workload.h"

namespace mneme::tatp {

// `population` is asked for what there was at first.
std::vector<Check> check_register(const RowSource& rows, const Workload& population, int64_t subscribers,
                                  std::optional<int128> conserved);

}  // namespace mneme::tatp
