// Standby: a database in memory that follows a log: the checkpoint and what the directory holds, then round
// after round of records, each replayed by what was set up once.
//
// Flow        recover_locked() -> Standby -> advance(records) ... -> take_checkpoint() now and then
//             sessions on working() read between two rounds, of a state that the primary had
// Scheme      the one by which the directory would be opened for work (recovery_schemes.h). Its replayer,
//             with what it prepared, is kept from round to round. A scheme that builds indexes last builds
//             none here: nothing uses them before the directory is opened for work.
// Invariants  after advance() the database holds the checkpoint and every record so far, as serial replay
//             would leave it: rounds are replayed one after the other, each to its end. a change of the
//             schema ends what was set up, as at recovery (schema_change.h). a checkpoint is of exactly the
//             records so far. Nothing runs meanwhile.
// Threads     one owner; advance() and take_checkpoint() use `threads` of their own. Sessions: any, as
//             LiveSession says.
// Waiting     advance(): until no session's transaction is open. Others wait meanwhile.
// Errors      replay's: the database is then in no state to go on with; the directory is as good as before.
// Source      PACMAN (SIGMOD 2017), section 4: CLR-P, here without an end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "logging/directory/manifest.h"
#include "recovery/database/data_directory.h"
#include "recovery/database/recover.h"
#include "recovery/log/replayer.h"

namespace mneme {

struct StandbyOptions {
  ReplayOptions replay;  // threads, batch_transactions, level, lanes_per_block
  Execution execution = Execution::kInterpreted;
  DurableLogOptions log;  // `workers` sessions may read; the log that a promoted standby goes on with
  // A round waits so long for transactions that are open, and then asks again and again for their end.
  std::chrono::milliseconds patience{1000};
  std::function<void()> ends_readers = [] {};
};

struct StandbyCheckpoint {
  Lsn lsn;
  uint64_t bytes = 0;
  uint64_t rows = 0;
  double seconds = 0;
  uint64_t removed_segments = 0;
};

class Standby {
 public:
  // `recovered`: by recover_locked() with RecoverOptions::indexes false, and the default scheme. `folders`:
  // of machine code.
  Standby(RecoveredDatabase recovered, StandbyOptions options, NativeFolders folders);

  // Records that come next in commit order, without skips, up to `end`, where the next one will stand. Their
  // bytes may go when it returns. `progress` as ReplayOptions::progress.
  Result<ReplayStatistics> advance(std::span<const RecordView> records, Lsn end,
                                   const Replayer::Progress& progress = {});

  // All below it is in the database.
  Lsn end() const { return end_; }
  const Database& database() const { return working_->database(); }
  const Program& program() const { return working_->program(); }
  // The directory is a database (standby_base.h), with this log. Sessions may write from now on. The last
  // call.
  Result<void> become_primary(DirectoryLock lock, std::unique_ptr<ManifestFile> manifest,
                              const LogContents& log);
  // For sessions that read; it may outlive the standby.
  const std::shared_ptr<WorkingDatabase>& working() const { return working_; }
  const RecoveryScheme& scheme() const { return scheme_; }
  Execution executed() const { return report_.code.execution; }
  // Sentences for the user, so far.
  const std::vector<std::string>& notices() const { return report_.notices; }

  // Makes what there is the directory's checkpoint, and removes the segments that lie wholly below. The log
  // that the directory holds is durable up to end().
  Result<StandbyCheckpoint> take_checkpoint(ManifestFile& manifest);

 private:
  Result<ReplayStatistics> replay_stretch(std::span<const RecordView> records,
                                          const Replayer::Progress& progress);
  Result<void> change_schema(const RecordView& record);
  void come_to_rest();
  void stop_readers(SchemaLatch::Change& readers) const;

  const StandbyOptions options_;
  const NativeFolders folders_;
  const RecoveryScheme& scheme_;
  const ReplayOrder order_;
  // The LSN of the checkpoint that was loaded, or of the tables' last change: what versions below it were is
  // not known.
  Lsn loaded_;
  Lsn end_;
  const std::shared_ptr<WorkingDatabase> working_;
  RecoveryReport report_;               // what replayers prepared since, with all notices so far
  std::unique_ptr<Replayer> replayer_;  // of this program; made when its first record comes
};

}  // namespace mneme
