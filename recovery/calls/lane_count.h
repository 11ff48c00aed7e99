// lane_counts: into how many lanes a replay cuts each block.
//
// Why         Lanes cost: to know a piece's lanes, the rows that its call will touch must be located, a loop
//             falls into as many pieces as it meets lanes, and the look-ups of a short lane overlap little. A
//             block needs more than one only where one thread could not keep up with it while the others run
//             the other blocks, of this batch and of the next ones: where its share of the work, times the
//             threads, is more than one thread's.
// Estimate    A block's share: the operations that its slices replay, those in loops counted kLoopTurns
//             times, of each procedure as often as a sample of the log's calls names it. A log without calls
//             counts all procedures alike.
// Units       lanes: 1, or a power of two that leaves kLanesAShare lanes for each thread's worth of work, so
//             that long ones and short ones even out.
// Source      PACMAN (SIGMOD 2017), section 4.4, gives cores to blocks by their shares of the work; lanes are
//             ours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recovery/log/replay.h"

namespace mneme {

// One number for each of the graph's blocks, and one for the rows that no procedure touches.
std::vector<uint32_t> lane_counts(const DependencyGraph& graph, std::span<const RecordView> records,
                                  const ReplayOptions& options);

}  // namespace mneme
