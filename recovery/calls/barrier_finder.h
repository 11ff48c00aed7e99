// BarrierFinder: which records of a log CLR-P replays alone: ad-hoc transactions that the graph did not allow
// for.
//
// Flow        find_barriers(), on all threads, before replay -> batches are cut at them
//             (parallel_replayer.h), and decoded side by side afterwards
// Time        a record is gone through change by change; only of tables whose changes can be a barrier at all
//             are columns looked at.
// Errors      none: bytes that are no rows stop whoever decodes them.
// Source      PACMAN (SIGMOD 2017), section 4.5; what stands alone: analyzer/change_owners.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "logging/reading/log_reader.h"
#include "recovery/rows/change_placement.h"

namespace mneme {

// Their numbers, rising.
std::vector<size_t> find_barriers(const ChangePlacement& placement, const ChangeCodec& codec,
                                  std::span<const RecordView> records, uint32_t threads);

}  // namespace mneme
