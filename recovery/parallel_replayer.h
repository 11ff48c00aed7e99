// ParallelReplayer: CLR-P, replays the logged calls piece by piece, on all threads.
//
// Flow        load a batch -> for each block: locate, fill its lanes -> lanes run the pieces, each a slice of a call
//             (or one iteration of the slice's loop) -> outputs to later blocks through the batch's recording
// Invariants  the tables end as a serial replay in commit order leaves them: pieces that conflict are of one block and
//             share a lane, or are ordered by the graph (dependency_graph.h, lane_scheduler.h).
// Threads     replay() is called by one; it uses `threads` of them, each with an interpreter and an access of its own.
// Source      PACMAN (SIGMOD 2017), section 4.
#pragma once

#include "recovery/replay.h"

namespace mneme {

Result<ReplayStatistics> replay_in_parallel(Database& database, const Program& program,
                                            const DependencyGraph& graph, CommandSource& source,
                                            const ReplayOptions& options);

}  // namespace mneme
