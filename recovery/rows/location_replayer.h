// LocationReplayer: replays the physical log in parallel in any order (PLR).
//
// Flow        each thread takes the first batch of records that no thread has taken (in reverse order, the
//             last one), and puts its rows into their slots (location_installer.h). The indexes are built
//             afterwards (index_builder.h).
// Memory      a record holds the location of its row. So replay needs no look-up, and prefetches the row's
//             memory while it writes earlier rows.
// Errors      as replay.h says.
// Source      PACMAN (SIGMOD 2017), section 6.2, PLR, and appendix A.2, the reverse order.
#pragma once

#include <memory>
#include <span>

#include "logging/reading/log_reader.h"
#include "recovery/log/replayer.h"

namespace mneme {

// `records` are those of a log that holds locations, in commit order. The tables are empty, or hold the rows
// of the checkpoint at LSN `checkpoint` in their slots (checkpoint_loader.h). Uses the options threads,
// batch_transactions, order and progress, and ignores the others.
Result<ReplayStatistics> replay_by_location(Database& database, std::span<const RecordView> records,
                                            Lsn checkpoint, const ReplayOptions& options);

std::unique_ptr<Replayer> make_location_replayer(const ReplayerSetting& setting);

}  // namespace mneme
