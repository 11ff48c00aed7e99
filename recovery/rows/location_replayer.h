// LocationReplayer: replays the physical log in parallel in any order (PLR).
//
// Flow        each thread takes a batch of records, the next or the last that no thread has, and puts their
//             rows into their slots (location_installer.h). The indexes are built afterwards
//             (index_builder.h).
// Memory      where a row lies stands in the record, so its memory is asked for while those before it are
//             written: no look-up, and no wait for one.
// Errors      as replay.h says.
// Source      PACMAN (SIGMOD 2017), section 6.2, PLR, and appendix A.2, the reverse order.
#pragma once

#include <memory>
#include <span>

#include "logging/reading/log_reader.h"
#include "recovery/log/replayer.h"

namespace mneme {

// `records`: of a log that holds locations, in commit order. The tables hold the rows of the checkpoint at
// `checkpoint` in their slots (checkpoint_loader.h), or nothing. Of the options, threads, batch_transactions,
// order and progress count.
Result<ReplayStatistics> replay_by_location(Database& database, std::span<const RecordView> records,
                                            Lsn checkpoint, const ReplayOptions& options);

std::unique_ptr<Replayer> make_location_replayer(const ReplayerSetting& setting);

}  // namespace mneme
