// ParallelReplayer: replays the logged calls piece by piece, on all threads (CLR-P).
//
// Flow        load a batch -> for each block: locate, fill its lanes -> lanes run the pieces, each a slice of
//             a call (or one iteration of the slice's loop) -> outputs to later blocks through the batch's
//             recording
// Ad hoc      each changed row of a transaction that was logged by its rows alone is a piece, too, in the
//             blocks that own the changed columns (change_placement.h). It only writes, and needs nothing
//             from other pieces. Where the graph does not order such a change, all earlier pieces end first,
//             and the change is installed before any later piece begins.
// Memory      batches in flight hold the windows of the log that their records lie in (record_stream.h), and
//             no more of it.
// Invariants  the tables end as a serial replay in commit order leaves them: pieces that conflict are of one
//             block and share a lane, or are ordered by the graph (dependency_graph.h, lane_scheduler.h).
// Again       a ParallelReplayer may replay one stretch after the other: what it takes to set up is set up
//             once.
// Threads     replay() is called by one; it uses `threads` of them, each with an interpreter and an access of
//             its own.
// Source      PACMAN (SIGMOD 2017), sections 4 and 4.5.
#pragma once

#include <memory>
#include <vector>

#include "recovery/log/record_stream.h"
#include "recovery/log/replay.h"

namespace mneme {

class ParallelReplayer {
 public:
  // Database, program, graph and the options' machine code outlive this; the program's tables are the
  // database's.
  ParallelReplayer(Database& database, const Program& program, const DependencyGraph& graph,
                   ReplayOptions options);
  ~ParallelReplayer();
  ParallelReplayer(const ParallelReplayer&) = delete;
  ParallelReplayer& operator=(const ParallelReplayer&) = delete;

  // Replays the records that follow those replayed before, of a log that holds calls, in commit order,
  // without skips. Returns the statistics of these records. Must not be called after an error.
  Result<ReplayStatistics> replay(RecordStream& records);

 private:
  class Replay;
  const std::unique_ptr<Replay> replay_;
};

// `records`: of a log that holds calls, in commit order, without skips.
Result<ReplayStatistics> replay_in_parallel(Database& database, const Program& program,
                                            const DependencyGraph& graph, RecordStream& records,
                                            const ReplayOptions& options);
inline Result<ReplayStatistics> replay_in_parallel(Database& database, const Program& program,
                                                   const DependencyGraph& graph,
                                                   std::span<const RecordView> records,
                                                   const ReplayOptions& options) {
  RecordStream stream(records);
  return replay_in_parallel(database, program, graph, stream, options);
}

// How many batches such a replay has in flight at once.
uint32_t batches_in_flight(ReplayLevel level, uint32_t threads);

}  // namespace mneme
