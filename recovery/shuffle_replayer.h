// ShuffleReplayer: LLR-P, the logical log replayed in parallel without latches.
//
// Flow        batches of records; each thread decodes a stretch of a batch into buckets, one a partition (shuffle), and
//             then installs the changes of its own partition from all threads' buckets of the batch before.
//             One rendezvous of all threads a batch.
// Partitions  as many as threads, by a hash of table and primary key. Neighbouring keys of an ordered index, as of an
//             order's lines, share a partition, and so a node. A row without a primary key can only be inserted:
//             anywhere.
// Order       forward: a partition's changes are installed in commit order: stretches are in the log's order, and so is
//             each bucket (row_installer.h). Reverse: the last batch first, and each bucket from its end; what is older than
//             what a row holds is passed over, unread (newest_installer.h). Either way all changes of a row fall into
//             one partition, so no latch is needed.
// Memory      what a thread installs next, up to 64 changes, is looked up at once, node by node (prefetcher.h), so that
//             the misses overlap; recovery of rows waits for memory more than for anything else.
// Errors      as replay.h says. Only the forward order tells rows that are missing, or there already.
// Source      PACMAN (SIGMOD 2017), sections 4.5 and 6.2, LLR-P, and appendix A.2, the reverse order.
#pragma once

#include <span>

#include "logging/log_reader.h"
#include "recovery/replay.h"

namespace mneme {

// `records`: of a log that holds images, in commit order. Of the options, threads, batch_transactions, order and progress
// count.
Result<ReplayStatistics> replay_shuffled(Database& database, std::span<const RecordView> records,
                                         const ReplayOptions& options);

}  // namespace mneme
