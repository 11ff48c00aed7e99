// Makes a workload's population with several threads.
#pragma once

#include <cstdint>

#include "base/function_ref.h"
#include "workloads/shared/rows.h"
#include "workloads/shared/workload.h"

namespace mneme {

// Called after each part, by whichever thread made it, one at a time.
using PopulateProgress = FunctionRef<void(uint32_t parts_done, uint32_t parts)>;

// Thread t of 0 .. threads-1 gives its rows to sink(t, table, row); which rows come to which thread is left
// to chance.
void populate_all(const Workload& workload, uint32_t threads,
                  FunctionRef<void(uint32_t thread, TableId table, std::span<const Value> row)> sink,
                  PopulateProgress progress);

}  // namespace mneme
