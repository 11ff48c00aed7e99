// Online checkpointer: takes checkpoints of a database while transactions run on it, and stops none of them.
//
// Flow        keep older images (version_keeper.h) -> draw the LSN C from the log -> walk the tables' slots
//             and write rows older than C; between ranges, and at the end, write the kept images of rows
//             changed since -> sync the file -> wait until C is durable -> put what will be removed into the
//             archive, if there is one -> replace the manifest atomically, so that it names the file and no
//             segment wholly below C -> remove the previous checkpoint and those segments, or keep their
//             files for the log to take again (reused_segment.h)
// Invariants  the file holds exactly what transactions below C made: rows inserted above C are left out, rows
//             changed or deleted above C are there as they were. Until the manifest names the file, the
//             previous checkpoint stays current. A crash then leaves files that open_for_work() removes.
// C           the LSN of a skip record. An appender that runs no transactions reserves it, so every kind of
//             log orders it among the commits.
// Installed   a transaction below C locked its rows, inserted ones included, before it reserved its LSN, and
//             so before C was drawn. The walk finds each such row installed, or locked, and then waits.
//             That holds for every log, also where a record becomes durable before its writes are installed
//             (CommitLog::leaves_holes). In such a log the walk thereby waits until all below C is durable.
// Threads     take(): one at a time; it uses `threads`. hurry, give_up: any.
// Waiting     take() waits for rows that a commit has locked, and for the log. Before it begins, it waits for
//             transactions that have run since the previous checkpoint; give_up() ends that wait, too. No
//             transaction waits for a checkpoint.
// Errors      a full or failing disk, no memory for older images, a failed log, give_up(). The error is a
//             sentence for the user. The file is removed, the previous checkpoint stays current, and the
//             caller may take another. If replacing the manifest fails, the file is kept, as the manifest may
//             name it.
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
  // The share of the time that each thread works. A lower one slows transactions less, but a checkpoint takes
  // longer.
  double share = 1;
  // Threads stop resting while kept images that wait to be written take more memory than this.
  size_t most_waiting_bytes = size_t{16} << 20;
  // A directory that keeps the files which a checkpoint replaces (log_archive.h); empty: none does.
  std::string archive;
  // Makes the rows' schema and procedures durable, and enters them in the manifest that will name the
  // checkpoint. If empty, those of the previous checkpoint stay valid.
  std::function<Result<void>(Manifest&)> keep_catalog;
  // Called when a step is done, by a thread of take()'s.
  std::function<void(CheckpointStep)> observe;
};

struct TakenCheckpoint {
  Lsn lsn;
  uint64_t begin_ns = 0;  // monotonic_ns()
  double seconds = 0;
  double capture_seconds = 0;  // from the beginning until all rows are written, waiting included
  uint64_t bytes = 0;
  uint64_t rows = 0;
  uint64_t kept_images = 0;
  uint64_t kept_bytes = 0;       // of those
  uint64_t peak_kept_bytes = 0;  // the most memory that they took at any time
  uint64_t removed_segments = 0;
};

class OnlineCheckpointer {
 public:
  // `log` is the database's log. `thread` is one of its appenders, but no worker. All outlive this.
  OnlineCheckpointer(Database& database, CommitLog& log, ManifestFile& manifest, WorkerId thread,
                     OnlineCheckpointOptions options);

  Result<TakenCheckpoint> take();
  // Makes the threads of this checkpoint, and of later ones, work without rests.
  void hurry() { hurry_.store(true, std::memory_order_relaxed); }
  // Makes this checkpoint, and later ones, end with an error soon.
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
  Result<void> capture_ranges(Lsn boundary, SlotRanges& ranges, CheckpointRows& rows, uint32_t thread);
  Result<void> capture_range(Lsn boundary, const SlotRange& range, std::byte* image, CheckpointRows& rows,
                             class Pacer& pacer, uint32_t thread);
  Result<void> write_kept_meanwhile(CheckpointRows& rows);
  Result<void> write_kept(CheckpointRows& rows);
  // `manifest`, `noted`: the manifest that still names the previous checkpoint, with the new one's catalog.
  Result<void> make_current(const WrittenCheckpoint& written, const Manifest& noted, TakenCheckpoint& taken);

  Database& database_;
  CommitLog& log_;
  ManifestFile& manifest_;
  const WorkerId thread_;
  const OnlineCheckpointOptions options_;
  // Guards the draining of kept versions, which one thread does at a time.
  std::mutex drain_mutex_;
  // Set by any thread, polled by take()'s threads. Relaxed, as they publish no other data.
  std::atomic<bool> hurry_{false};
  std::atomic<bool> given_up_{false};
};

}  // namespace mneme
