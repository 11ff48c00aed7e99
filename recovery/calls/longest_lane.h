// Longest lane: tells how long blocks ran in one lane, and which statements keep their rows there, and warns
// where a replay was no faster than such a lane.
//
// Source      PACMAN (SIGMOD 2017), section 4.3: a block's work falls apart by keys, where they are known.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "engine/schema/catalog.h"
#include "recovery/log/recovery_report.h"

namespace mneme {

// What the blocks that ran in one lane did there, in the graph's order.
std::vector<KernelTime> kernel_times(const DependencyGraph& graph, const ReplayStatistics& statistics);

// `lane_seconds`: by block, how long it ran in its one lane. Returns the tables of blocks that ran so which
// no column cuts that all statements fix: an entry for each column that could cut them.
std::vector<SerialTable> serial_tables(const DependencyGraph& graph, const Catalog& catalog,
                                       std::span<const double> lane_seconds);

// `lane_seconds`: as above. Returns a sentence if that was nearly all of the
// replay's time, and tables of the block can't be cut because of statements that the analysis knows.
std::optional<std::string> longest_lane_notice(const DependencyGraph& graph, const Catalog& catalog,
                                               std::span<const double> lane_seconds, double replay_seconds);

}  // namespace mneme
