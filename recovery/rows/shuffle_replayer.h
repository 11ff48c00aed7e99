// ShuffleReplayer: replays the logical log in parallel without latches (LLR-P).
//
// Flow        1. shuffle: the threads take stretches of the log. Each thread adds a stretch's changes to
//             buckets, by table and key (change_buckets.h).
//             2. install: the threads take partitions. A partition of a table is the table's buckets of one
//             number, from all stretches. The thread puts the changes of each key into the key's row
//             (key_groups.h, key_installer.h). Then it adds the rows that it made to the indexes, all
//             together (index_filler.h).
//             Threads wait for one another twice: between the two steps, and at the end.
// Partitions  a hash of the key chooses the partition (key_partitions.h). There are as many, up to a bound,
//             as make a partition's buckets fit a core's cache. A row without a primary key can only be
//             inserted, so any partition may take it.
// Order       stretches follow the log's order, and so do the changes in a bucket. So a partition's thread
//             sees a key's changes in commit order. All changes of a row fall into one partition, so no latch
//             is needed. In forward order the thread writes each image of the row. In reverse order it writes
//             the newest image and skips the older ones unread (key_installer.h).
// Streams     the paper on distributed logging (Source) replays a log that is partitioned by transaction in
//             the same two steps: scan records into buckets; sort each bucket and apply it. Two things differ
//             here. Buckets are by table and key, because a logical record names no page. And buckets need no
//             sort: log_reader.h has already put the streams' records into commit order. That costs one store
//             for each record, because the commit sequence has no gaps. So one mechanism serves logs of one
//             stream and of many.
// Memory      rows that were there before replay are looked up in groups of 64, node by node (prefetcher.h),
//             so that the cache misses overlap. A row that the log itself inserted needs no look-up.
// Errors      as replay.h says.
// Source      PACMAN (SIGMOD 2017), sections 4.5 and 6.2, LLR-P, and appendix A.2, the reverse order. The two
//             steps of distributed logging: "Scalable Logging through Emerging Non-Volatile Memory"
//             (VLDB'14), section 3.2.
#pragma once

#include <memory>
#include <span>

#include "logging/reading/log_reader.h"
#include "recovery/log/replayer.h"

namespace mneme {

// `records` are those of a log that holds images of rows, in commit order. Of the options it uses threads,
// batch_transactions (a stretch is a whole number of batches), order and progress.
Result<ReplayStatistics> replay_shuffled(Database& database, std::span<const RecordView> records,
                                         const ReplayOptions& options);

std::unique_ptr<Replayer> make_shuffle_replayer(const ReplayerSetting& setting);

}  // namespace mneme
