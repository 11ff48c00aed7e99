// Log reader: what a data directory's log holds, and where it ends.
//
// Flow        read_manifest() -> read_log(): segments are loaded and checked in parallel -> records in commit
//             order
// Invariants  Where a flusher wrote it, it ends before the first missing or bad record in commit order.
//             `durable_seen`, the highest durable LSN that any intact block header of the log carries, also
//             past a bad record, distinguishes two cases: a bad or missing record at or above it is a torn
//             tail, the end of the log; one below it is damage. No later block covers the very last flushes
//             before a crash: there a block is damage that no crash can have left (block_format.h); with a
//             sector of zeros in its place it looks like a torn tail. In persistent memory (nvm_log.h) it
//             ends behind the last record, and has holes where a crash left some: as many and as long as the
//             last incarnation's workers can leave, none where that was closed in order, and those that the
//             manifest notes of former ones. Another is damage. A log may begin anywhere at or below the
//             checkpoint's LSN, since segments below are removed. Of a striped one some remain: what lies
//             before a gap below the checkpoint is passed over. A gap above it is damage, or the end. A log
//             of loggers and epochs (epoch_log.h) ends with the last epoch that all had persisted, the
//             pepoch: what is missing or bad up to there is damage, what there is past it is dropped. A log
//             of streams (distributed_log.h) ends before the first record that is missing in the commit
//             order, over all streams; its blocks carry the durable LSN of that order. Blocks of an older
//             incarnation past that incarnation's end are left out, as if they weren't there.
// Memory      a log of one stream that is longer than `most_kept_bytes` is not kept. Its bytes are released
//             once they are checked, while each thread has one segment in memory, and its records are read
//             again as they are needed (log_windows.h). Others are kept whole.
// Threads     read_log() uses threads of its own.
// Errors      damage names file and byte offset, kDamaged. Nothing in the directory is ever changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "base/result.h"
#include "logging/directory/manifest.h"
#include "logging/record/log_contents.h"
#include "logging/record/lsn.h"

namespace mneme {

struct LogReadOptions {
  uint32_t threads = 1;
  bool with_skips = false;  // whether `records` holds skip records, too
  Lsn from{};               // records below are left out of `records`
  // A log whose segments' files are longer is not kept: LogContents::windows. Without skips only.
  uint64_t most_kept_bytes = std::numeric_limits<uint64_t>::max();
  uint64_t window_bytes = uint64_t{4} << 20;  // of its windows, about
  // How long to wait for the last requests of a process that was just killed.
  std::chrono::milliseconds patience{20'000};
  // Called with how many of how many segments have been loaded, first of all 0. Any of the threads calls it,
  // never two at once.
  std::function<void(uint64_t done, uint64_t segments)> progress = {};
};

// Reads the log that `manifest`, the directory's, lists.
Result<LogContents> read_log(const std::string& directory, const Manifest& manifest,
                             const LogReadOptions& options);

}  // namespace mneme
