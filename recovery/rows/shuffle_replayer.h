// ShuffleReplayer: replays the logical log in parallel without latches (LLR-P).
//
// Flow        shuffle: threads take stretches of the log and throw each change into a bucket, by table and
//             key (change_buckets.h) -> install: threads take partitions, a table's buckets of one number
//             from all stretches, and put the changes of each key into its row (key_groups.h,
//             key_installer.h) -> the rows that were made go into the indexes together (index_filler.h). Two
//             rendezvous in all: between the two, and at the end.
// Partitions  by a hash of the key (key_partitions.h), as many as make the buckets of one small enough for a
//             core's cache. A row without a primary key can only be inserted: anywhere.
// Order       stretches are in the log's order, and so is each bucket: a partition sees a key's changes in
//             commit order. All changes of a row fall into one partition, so no latch is needed. Forward:
//             each of its images is written. Reverse: the newest, and older ones are skipped, unread
//             (key_installer.h).
// Streams     these are the two steps that distributed logging asks for, of a log that is partitioned by
//             transaction: scan into buckets, sort, apply. Two things differ. Buckets are by table and key,
//             as a logical record names no page. And they need no sort: log_reader.h has put the streams'
//             records at their places by then, for the price of one store a record, since the commit sequence
//             has no gaps; so stretches are in commit order, and one mechanism serves a log of one stream and
//             of many.
// Memory      rows that were there already are looked up 64 at a time, node by node (prefetcher.h), so that
//             the misses overlap; a row that the log itself inserted is looked for nowhere.
// Errors      as replay.h says.
// Source      PACMAN (SIGMOD 2017), sections 4.5 and 6.2, LLR-P, and appendix A.2, the reverse order. The two
//             steps: "Scalable Logging through Emerging Non-Volatile Memory" (VLDB'14), section 3.2.
#pragma once

#include <memory>
#include <span>

#include "logging/reading/log_reader.h"
#include "recovery/log/replayer.h"

namespace mneme {

// `records`: of a log that holds images, in commit order. Of the options, threads, batch_transactions (a
// stretch is some whole batches), order and progress count.
Result<ReplayStatistics> replay_shuffled(Database& database, std::span<const RecordView> records,
                                         const ReplayOptions& options);

std::unique_ptr<Replayer> make_shuffle_replayer(const ReplayerSetting& setting);

}  // namespace mneme
