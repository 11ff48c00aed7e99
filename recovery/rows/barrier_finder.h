// BarrierFinder: finds the records of a log that CLR-P replays alone: ad-hoc transactions that the graph did
// not allow for.
//
// Flow        find_barriers(), on all threads, before replay -> batches are cut at them
//             (parallel_replayer.h), and decoded side by side afterwards
// Time        a record is read change by change; columns are read only for tables whose changes can be a
//             barrier at all.
// Errors      none: the thread that decodes bytes that are no rows reports them.
// Source      PACMAN (SIGMOD 2017), section 4.5; what stands alone: analyzer/change_owners.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "logging/reading/log_reader.h"
#include "recovery/rows/change_placement.h"

namespace mneme {

// Returns the records' numbers, in ascending order.
std::vector<size_t> find_barriers(const ChangePlacement& placement, const ChangeCodec& codec,
                                  std::span<const RecordView> records, uint32_t threads);

}  // namespace mneme
