// Standby: a database in memory that follows a log: the checkpoint and what the directory holds, then round
// after round of records, each replayed by what was set up once.
//
// Flow        recover_locked() -> Standby -> advance(records) ... -> take_checkpoint() now and then
// Schemes     the one by which the directory would be opened for work (recovery_scheme.h). Calls: CLR-P, with
//             the graph, the machine code and the replayer kept from round to round. Rows by key: LLR-P. Rows
//             by location: PLR, whose indexes nobody builds: they are not looked at before the directory is
//             opened for work.
// Invariants  after advance() the database holds the checkpoint and every record so far, as serial replay
//             would leave it: rounds are replayed one after the other, each to its end. a change of the
//             schema ends what was set up, as at recovery (schema_change.h). a checkpoint is of exactly the
//             records so far. Nothing runs meanwhile.
// Lanes       are counted by a sample of the records; again when a round is far larger than the sample
//             (lane_count.h).
// Threads     one owner; advance() and take_checkpoint() use `threads` of their own.
// Errors      replay's: the database is then in no state to go on with; the directory is as good as before.
// Source      PACMAN (SIGMOD 2017), section 4: CLR-P, here without an end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "logging/directory/manifest.h"
#include "recovery/calls/parallel_replayer.h"
#include "recovery/calls/slice_units.h"
#include "recovery/database/recover.h"

namespace mneme {

struct StandbyOptions {
  ReplayOptions replay;  // threads, batch_transactions, level, lanes_per_block
  Execution execution = Execution::kInterpreted;
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
  using Progress = std::function<void(uint64_t done, std::optional<Lsn> last)>;

  // `recovered`: by recover_locked() with RecoverOptions::indexes false, and the default scheme. `folders`:
  // of machine code.
  Standby(RecoveredDatabase recovered, StandbyOptions options, NativeFolders folders);

  // Records that come next in commit order, without skips, up to `end`, where the next one will stand. Their
  // bytes may go when it returns. `progress` as ReplayOptions::progress.
  Result<ReplayStatistics> advance(std::span<const RecordView> records, Lsn end,
                                   const Progress& progress = {});

  // All below it is in the database.
  Lsn end() const { return end_; }
  const Database& database() const { return *database_; }
  const Program& program() const { return *program_; }
  RecoveryScheme scheme() const { return scheme_; }
  Execution executed() const { return code_.execution(); }
  // Sentences for the user, so far.
  const std::vector<std::string>& notices() const { return notices_; }

  // Makes what there is the directory's checkpoint, and removes the segments that lie wholly below. The log
  // that the directory holds is durable up to end().
  Result<StandbyCheckpoint> take_checkpoint(ManifestFile& manifest);

 private:
  Result<ReplayStatistics> replay_stretch(std::span<const RecordView> records, const Progress& progress);
  Result<ReplayStatistics> replay_calls(std::span<const RecordView> records, const ReplayOptions& options);
  Result<void> change_schema(const RecordView& record);
  void analyze_for(bool has_rows);
  void come_to_rest();

  const StandbyOptions options_;
  const NativeFolders folders_;
  const RecoveryScheme scheme_;
  const ReplayOrder order_;
  // the LSN of the checkpoint that was loaded, or of the tables' last change: what versions below it were is
  // not known
  Lsn loaded_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Database> database_;
  Lsn end_;
  std::vector<std::string> notices_;

  // Of replay of calls, by this program; each needs those before it. Made when the first call comes.
  bool allows_rows_ = false;  // the analysis
  std::unique_ptr<DependencyGraph> graph_;
  std::unique_ptr<SliceUnits> units_;
  CompiledUnits code_;
  size_t sampled_ = 0;  // records that the lanes were counted by
  Progress progress_;   // of the round
  std::unique_ptr<ParallelReplayer> replayer_;
};

}  // namespace mneme
