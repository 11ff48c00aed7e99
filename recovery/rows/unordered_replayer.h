// UnorderedReplayer: replays the logical log in parallel in any order, as SiloR does (LLR).
//
// Flow        each thread takes a batch of records, the next or the last that no thread has, and installs its
//             rows; at the end tombstones are swept.
// Invariants  rows are latched while they change, and the last writer wins by LSN (newest_installer.h), so it
//             does not matter which thread replays what, and when.
// Errors      as replay.h says.
// Source      Zheng et al. (SiloR, OSDI'14), section 5; PACMAN (SIGMOD 2017), section 6.2, LLR, which
//             PACMAN's own schemes are compared with. So it is as there: one change after the other, nothing
//             fetched ahead.
#pragma once

#include <memory>
#include <span>

#include "logging/reading/log_reader.h"
#include "recovery/log/replayer.h"

namespace mneme {

// `records`: of a log that holds whole images, in commit order. Of the options, threads, batch_transactions,
// order and progress count.
Result<ReplayStatistics> replay_unordered(Database& database, std::span<const RecordView> records,
                                          const ReplayOptions& options);

std::unique_ptr<Replayer> make_unordered_replayer(const ReplayerSetting& setting);

}  // namespace mneme
