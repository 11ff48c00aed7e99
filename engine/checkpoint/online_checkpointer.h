// Online checkpointer: takes checkpoints of a database while transactions run on it, and stops none of them.
//
// Flow        keep older images (version_keeper.h) -> draw the LSN C from the log -> walk the tables' slots
//             and write what is older than C; between, and at the end, what was kept instead -> sync the file
//             -> wait until C is durable -> make it current, in one atomic replacement of the manifest, from
//             which segments wholly below C go as well -> remove those, and the checkpoint before; an
//             archive, if there is one, has got them by then
// Invariants  the file holds exactly what transactions below C made: rows inserted above C are left out, rows
//             changed or deleted above C are there as they were. Until the manifest names it, the one before
//             is as good as ever: a crash at any step leaves it current, and files that open_for_work()
//             removes.
// C           is a skip record's place, reserved by a thread of the log's that runs no transactions, so every
//             kind of log orders it among the commits.
// Installed   A transaction below C had its rows locked, the inserted ones too, when it reserved its LSN, and
//             so before C was drawn: the walk sees each of them locked, and waits, or as it has been
//             installed. That holds for every log, also where a record is made durable before its writes are
//             installed (CommitLog::leaves_holes). There, the walk is also what waits until all below C is
//             durable.
// Threads     take(): one at a time; it uses `threads`. hurry, give_up: any.
// Waiting     for rows while a commit has them locked, for the log, and before it begins for transactions
//             that have been running since the checkpoint before: give_up() ends that as well. No transaction
//             waits for it.
// Errors      the disk is full or fails, no memory for older images, the log has failed, give_up(): a
//             sentence; no file is left, the checkpoint before stays current, and another may be taken.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/strong_id.h"
#include "engine/checkpoint/checkpoint_file.h"
#include "engine/checkpoint/slot_ranges.h"
#include "engine/transaction/database.h"
#include "logging/commit/commit_log.h"
#include "logging/directory/manifest.h"

namespace mneme {

enum class CheckpointStep : uint8_t {
  kKeeping,    // workers keep older images
  kReserved,   // C is drawn
  kCapturing,  // some rows are written
  kCaptured,   // all rows are
  kWritten,    // the file is complete
  kDurable,    // so is the log up to C
  kArchived,   // what it replaces is in the archive, if there is one
  kCurrent,    // the manifest names the file
  kRemoved,    // what it replaces is gone
};
inline constexpr uint32_t kCheckpointSteps = 9;

struct OnlineCheckpointOptions {
  uint32_t threads = 1;
  // The share of the time that each thread works: less makes a checkpoint take longer, and slows transactions
  // less.
  double share = 1;
  // Kept images wait in so much memory at most before threads work without rests.
  size_t most_waiting_bytes = size_t{16} << 20;
  // A directory that gets what a checkpoint replaces (log_archive.h); empty: it is removed.
  std::string archive;
  // Makes durable which schema and procedures the rows are of, and notes it in the manifest that will name
  // the checkpoint; none: they are what the checkpoint before says.
  std::function<Result<void>(Manifest&)> keep_catalog;
  // Called when a step is done, by a thread of take()'s.
  std::function<void(CheckpointStep)> observe;
};

struct TakenCheckpoint {
  Lsn lsn;
  uint64_t begin_ns = 0;  // monotonic_ns()
  double seconds = 0;
  double capture_seconds = 0;  // walking and writing
  uint64_t bytes = 0;
  uint64_t rows = 0;
  uint64_t kept_images = 0;
  uint64_t kept_bytes = 0;       // of those
  uint64_t peak_kept_bytes = 0;  // of memory that they took at a time
  uint64_t removed_segments = 0;
};

class OnlineCheckpointer {
 public:
  // The log is the database's, and `thread` an appender of it that is no worker. All outlive this.
  OnlineCheckpointer(Database& database, CommitLog& log, ManifestFile& manifest, WorkerId thread,
                     OnlineCheckpointOptions options);

  Result<TakenCheckpoint> take();
  // The checkpoint that is being taken, and later ones, without rests.
  void hurry() { hurry_.store(true, std::memory_order_relaxed); }
  // The checkpoint that is being taken, and later ones, end with an error, soon.
  void give_up() { given_up_.store(true, std::memory_order_relaxed); }

 private:
  void observe(CheckpointStep step) const {
    if (options_.observe) options_.observe(step);
  }
  static Error given_up();
  Result<void> wait_for_former();
  Result<Lsn> reserve();
  Result<std::unique_ptr<CheckpointFile>> capture(const Manifest& manifest, TakenCheckpoint& taken);
  Result<void> write_rows(Lsn boundary, CheckpointFile& file);
  Result<void> capture_ranges(Lsn boundary, SlotRanges& ranges, CheckpointRows& rows);
  Result<void> capture_range(Lsn boundary, const SlotRange& range, std::byte* image, CheckpointRows& rows,
                             class Pacer& pacer);
  Result<void> write_kept_meanwhile(CheckpointRows& rows);
  Result<void> write_kept(CheckpointRows& rows);
  // The manifests given are the one that names the former checkpoint, with the new one's catalog.
  Result<void> make_current(const WrittenCheckpoint& written, const Manifest& noted, TakenCheckpoint& taken);

  Database& database_;
  CommitLog& log_;
  ManifestFile& manifest_;
  const WorkerId thread_;
  const OnlineCheckpointOptions options_;
  // Guards the draining of kept versions, which one thread does at a time.
  std::mutex drain_mutex_;
  // Set by any thread, looked at now and then; relaxed: nothing is handed over with them.
  std::atomic<bool> hurry_{false};
  std::atomic<bool> given_up_{false};
};

}  // namespace mneme
